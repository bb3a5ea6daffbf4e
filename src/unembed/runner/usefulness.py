"""What the vectors are good for, before and after each defense: utility tasks, played one after the other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from unembed.corpora.corpus import Corpus
from unembed.defenses.base import digest_id
from unembed.defenses.chain import Transform
from unembed.encoders.base import Vectors
from unembed.encoders.digests import file_digest
from unembed.errors import CannotMeasureError
from unembed.games.base import Scores
from unembed.metrics.estimate import Estimate, undefined
from unembed.registry import source_digest
from unembed.results.identity import digest_of
from unembed.results.schema import UtilityScore
from unembed.runner.cell import cause_of
from unembed.runner.defended import by_variant, owners_passage
from unembed.runner.encoder_recipe import can_be_asked, encoder_of_run
from unembed.runner.plan import Cell
from unembed.runner.prepare import Sides
from unembed.runner.spec import AuditSpec, UtilitySpec
from unembed.runner.workspace import load_vectors
from unembed.seeds import seed_for
from unembed.strict import Strict
from unembed.utility import UTILITY
from unembed.utility.base import Encode, ReadsFiles, TaskFacts, UtilityMaterial

#: Sets of texts whose plain vectors are held at a time: no task has more of its own.
_SETS_AT_ONCE = 4


class UtilityResult(Strict):
    """The file of all scores of a run, and what they were made of."""

    key: str
    scores: list[UtilityScore]


def utility_key(spec: AuditSpec, sides: Sides, encoder: str, cells: Sequence[Cell]) -> str:
    """One name for all that the scores depend on."""
    tasks = [task.model_dump(mode="json") for task in spec.utility]
    sources = [source_digest(UTILITY.get(task.name), task.name) for task in spec.utility]
    chains = [[step.model_dump(mode="json") for step in one.transforms] for one in by_variant(cells).values()]
    read = [_files_of(task) for task in spec.utility]
    return digest_of([tasks, sources, chains, read, encoder, sides.target.fingerprint, spec.data.together, spec.seed])


def _files_of(asked: UtilitySpec) -> list[str | None]:
    """Digests of a task's own data sets; one that is missing may be there the next time."""
    task = UTILITY.get(asked.name)
    if not issubclass(task, ReadsFiles):
        return []
    try:
        files = task(**asked.params).files()
    except Exception:  # parameters that no task can be made of are told of where it is scored
        return []
    return [file_digest(file) if file.is_file() else None for file in files]


def score_variants(spec: AuditSpec, sides: Sides, cells: Sequence[Cell], work: Path) -> list[UtilityScore]:
    """The tasks of an audit on its targets' vectors, plain and behind every defense that is attacked."""
    plain, target = load_vectors(work / "target"), sides.target
    ways = {name: owners_passage(one, work) for name, one in by_variant(cells).items()}
    # What a cleaner makes of a task's own texts would have to be encoded anew, so such a variant has none.
    chains = {name: way.chain for name, way in ways.items() if way.chain is not None and not way.chain.cleaners()}
    return play_utility(
        target,
        plain,
        {name: way.side("target", target) for name, way in ways.items()},
        spec.utility,
        seed=spec.seed,
        groups=target.column(spec.data.together) if spec.data.together else None,
        threads=spec.threads,
        encode=(lambda texts: encoder_of_run(work).encode(texts)) if can_be_asked(work) else None,
        transforms={name: chain.transform for name, chain in chains.items()},
    )


@dataclass(frozen=True)
class _Played:
    """The scores of one task on one variant, or why there are none."""

    scores: Scores | None
    error: str | None
    seconds: float


def play_utility(
    corpus: Corpus,
    plain: Vectors,
    variants: Mapping[str, Vectors],
    tasks: Sequence[UtilitySpec],
    *,
    seed: int,
    groups: Sequence[object] | None = None,
    threads: int = 1,
    encode: Encode | None = None,
    transforms: Mapping[str, Transform] = MappingProxyType({}),
) -> list[UtilityScore]:
    """Every task on the plain vectors and on each variant; what fails is recorded with its cause and the rest goes on.

    Args:
        corpus: The texts, with the columns that the tasks look at.
        plain: The vectors as the encoder made them, one per text.
        variants: The same vectors behind each defense, by the name that findings use for it.
        tasks: What to score, with parameters.
        seed: Of the run. All variants are scored on the same texts.
        groups: Texts that belong together.
        threads: Of products of matrices; another number may change the last bit of a score.
        encode: The encoder, for tasks with texts of their own; None: it can't be asked.
        transforms: What makes each variant of plain vectors. Such a task is not scored on a variant without.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=threads):
        return [
            score
            for task in tasks
            for score in _of_task(
                UtilityMaterial(corpus, plain, plain, groups), task, variants, _challenges(encode, transforms), seed
            )
        ]


def _challenges(encode: Encode | None, transforms: Mapping[str, Transform]) -> dict[str | None, Encode]:
    """How further texts become plain vectors, and those of each variant: encoded once for all of them."""
    if encode is None:
        return {}
    once = lru_cache(maxsize=_SETS_AT_ONCE)(encode)

    def behind(transform: Transform) -> Encode:
        return lambda texts: transform(once(tuple(texts)), [digest_id(text) for text in texts])

    return {
        None: lambda texts: once(tuple(texts)),
        **{name: behind(transform) for name, transform in transforms.items()},
    }


def _of_task(
    material: UtilityMaterial,
    asked: UtilitySpec,
    variants: Mapping[str, Vectors],
    challenges: Mapping[str | None, Encode],
    seed: int,
) -> list[UtilityScore]:
    facts = UTILITY.get(asked.name).facts
    seed = seed_for(seed, "utility", facts.name)
    material = replace(material, seed=seed)
    plain = _play(asked, material, material.plain, challenges.get(None))
    played: list[tuple[str | None, _Played]] = [(None, plain)]
    played += [(name, _play(asked, material, vectors, challenges.get(name))) for name, vectors in variants.items()]
    found = []
    for name, one in played:
        estimate = undefined() if one.scores is None else _value(facts, name, one.scores)
        found.append(
            UtilityScore(
                task=asked.name,
                title=facts.title,
                params=asked.params,
                variant=name,
                metric=facts.metric,
                metric_meaning=facts.metric_meaning,
                estimate=estimate,
                loss=None if name is None else _loss(facts, plain.scores, one.scores, estimate),
                secondary={} if one.scores is None else one.scores.secondary,
                seed=seed,
                seconds=one.seconds,
                notes=_notes(facts, one.scores, len(material.corpus)),
                error=one.error,
            )
        )
    return found


def _play(asked: UtilitySpec, material: UtilityMaterial, vectors: Vectors, challenge: Encode | None) -> _Played:
    started = time.perf_counter()
    try:
        scores = UTILITY.get(asked.name)(**asked.params).score(material.of(vectors, challenge))
        if scores.point != scores.point:
            raise CannotMeasureError("the metric has no value on these texts")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # foreign code must not end the run
        return _Played(None, cause_of(error), time.perf_counter() - started)
    return _Played(scores, None, time.perf_counter() - started)


def _value(facts: TaskFacts, variant: str | None, scores: Scores) -> Estimate:
    """The score; that of plain vectors has no interval where it holds by definition."""
    found = scores.estimate()
    if variant is not None or facts.plain_score is None:
        return found
    return replace(found, low=found.value, high=found.value, method="by definition")


def _loss(facts: TaskFacts, plain: Scores | None, variant: Scores | None, estimate: Estimate) -> Estimate:
    if plain is None or variant is None:
        return undefined()
    if facts.plain_score is None:
        return plain.excess_over(variant)
    whole = facts.plain_score
    return replace(estimate, value=whole - estimate.value, low=whole - estimate.high, high=whole - estimate.low)


def _notes(facts: TaskFacts, scores: Scores | None, texts: int) -> list[str]:
    """How many texts a score rests on, where that is not all of the collection's."""
    if scores is None:
        return []
    if "encoder" in facts.requires:
        return [f"scored on {len(scores.parts):,} texts of its own"]
    return [] if len(scores.parts) == texts else [f"scored on {len(scores.parts):,} of {texts:,} texts"]
