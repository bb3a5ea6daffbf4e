"""The same questions asked of other encoders: the same texts, adversary, targets and attack, other vectors.

References come after the cells and stand beside their findings. They have an estimate and a floor and no judgement:
verdict and policy never look at them, and one that fails is listed as not tested. Each has a file of its own, so that
a run that was stopped goes on, and the same command again computes none twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unembed.artifacts import Artifacts
from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError
from unembed.games import GAMES
from unembed.games.base import Material
from unembed.games.rounds import play_round
from unembed.games.threat import Capability
from unembed.results.identity import digest_of
from unembed.results.schema import Reference, Skipped
from unembed.runner.apart import safe_encoder
from unembed.runner.cell import CellResult, adversary_of, cause_of, made_for
from unembed.runner.encoder_recipe import artifacts_in
from unembed.runner.folder import RunFolder
from unembed.runner.plan import Cell
from unembed.runner.prepare import Progress, Sides, behind_cache, identify
from unembed.runner.reference_encoders import ReferenceEncoder, ready_reference, reference_vectors
from unembed.runner.spec import AuditSpec
from unembed.runner.torch_threads import set_torch_threads
from unembed.runner.workers import run_all
from unembed.runner.workspace import load_corpus, load_vectors, save_corpus, save_vectors
from unembed.sealed import seal
from unembed.seeds import generator, seed_for
from unembed.strict import Strict
from unembed.writing import write_atomically

#: Of more texts a sample is taken, on either side: a scale need not be as fine as the measurement.
MOST_TEXTS = 2000
#: Goes up when references are played in another way: old files are then not taken for new ones.
_VERSION = 3
#: Parts of a cell's identity that change nothing here: references are attacked once, in one thread, on the processor.
_OF_THE_CELL_ALONE = {"encoder", "calibrate", "repeats", "threads", "device"}


class ReferenceResult(Strict):
    """The file of one reference: its figures, or why there are none."""

    key: str
    reference: Reference | None = None
    error: str | None = None


@dataclass(frozen=True)
class ReferenceTask:
    """One reference beside one cell: plain data and paths."""

    key: str
    cell: Cell
    name: str
    sides: str
    vectors: str
    result: str

    def skipped(self, reason: str) -> Skipped:
        """This reference as one that is not there."""
        asked = self.cell.identity
        about = f"{asked.game.called}{f' ({asked.subject})' if asked.subject else ''}"
        return Skipped(what=f"reference {self.name} for {about}", adversary=asked.adversary, reason=reason)


@dataclass(frozen=True)
class References:
    """What is asked beside the cells: by known corpus its references; and those left out."""

    cells: list[Cell]
    of: dict[str, list[ReferenceEncoder]]
    skipped: list[Skipped]


def takes_references(cell: Cell) -> bool:
    """Whether a cell's question is asked of other encoders: at full strength, undefended, where it costs seconds."""
    identity = cell.identity
    facts = ATTACKS.get(identity.attack.name).facts
    return (
        GAMES.get(identity.game.name).facts.with_references
        and identity.pairs is None
        and not identity.transforms
        and facts.cost == "seconds"
        and not facts.requires & {Capability.QUERIES, Capability.WEIGHTS, Capability.TEXTS}
    )


def open_references(spec: AuditSpec, sides: Sides, cells: list[Cell], key: str, artifacts: Artifacts) -> References:
    """The references of an audit; one that can't be opened fails it before anything is measured.

    ``key`` identifies the encoder under audit, which is not a reference to itself.
    """
    asked = [cell for cell in cells if takes_references(cell)]
    found: dict[str, list[ReferenceEncoder]] = {}
    skipped: dict[str, Skipped] = {}
    opened: dict[str, ReferenceEncoder] = {}
    for known in dict.fromkeys(cell.identity.known for cell in asked):
        own = found[known] = []
        for name in dict.fromkeys(spec.references):
            reference = opened.get(name) or ready_reference(name)
            if reference is None:
                texts = _sample(sides.known[known], spec.seed).texts
                encoder = behind_cache(spec, safe_encoder(name, {}, texts, artifacts, spec.run.cell_timeout))
                identity = {"name": name, "key": identify(encoder, _sample(sides.target, spec.seed).texts)}
                reference = ReferenceEncoder(name, identity, encoder)
                if not callable(getattr(encoder, "fit", None)):
                    opened[name] = reference
            if reference.identity.get("key") == key:
                skipped[name] = Skipped(what=f"reference {name}", reason="it is the encoder under audit")
            else:
                own.append(reference)
    return References(asked, found, list(skipped.values()))


def play_references(
    spec: AuditSpec,
    folder: RunFolder,
    references: References,
    sides: Sides,
    work: Path,
    progress: Progress,
    deadline: float | None = None,
) -> tuple[dict[str, list[Reference]], list[Skipped]]:
    """Play what is missing; by the key of a cell the references beside it, and those that have no figures."""
    place = work / "references"
    tasks = [
        _task(folder, cell, reference, place)
        for cell in references.cells
        for reference in references.of[cell.identity.known]
    ]
    missing = [t for t in tasks if not _finished(folder, t)]
    if missing:
        progress("references", 0, len(missing))
        wanted = {t.vectors for t in missing}
        for known, own in references.of.items():
            for reference in own:
                if str(_vectors_folder(place, known, reference)) in wanted:
                    _encode(spec, sides, known, reference, place)
        _play_all(spec, folder, missing, progress, deadline)
    found: dict[str, list[Reference]] = {}
    skipped = list(references.skipped)
    for task in tasks:
        result = folder.read_sealed(Path(task.result), ReferenceResult)
        if result is not None and result.reference is not None:
            found.setdefault(task.cell.key, []).append(result.reference)
        else:
            skipped.append(task.skipped((result and result.error) or "it left no result that can be read"))
    return found, skipped


def with_references(results: list[CellResult], found: dict[str, list[Reference]]) -> list[CellResult]:
    """The results with references beside their findings; the files of the cells stay as they are."""
    return [
        r.model_copy(
            update={"findings": [f.model_copy(update={"references": found.get(f.cell, [])}) for f in r.findings]}
        )
        for r in results
    ]


def _sample(corpus: Corpus, seed: int) -> Corpus:
    """All texts, or a sample of very many."""
    if len(corpus) <= MOST_TEXTS:
        return corpus
    return corpus.select(np.sort(generator(seed, "reference texts").permutation(len(corpus))[:MOST_TEXTS]))


def _task(folder: RunFolder, cell: Cell, reference: ReferenceEncoder, place: Path) -> ReferenceTask:
    asked = cell.identity.model_dump(mode="json", exclude=_OF_THE_CELL_ALONE)
    key = digest_of([_VERSION, MOST_TEXTS, asked, reference.identity])
    vectors = _vectors_folder(place, cell.identity.known, reference)
    result = folder.references / f"{key}.json"
    return ReferenceTask(key, cell, reference.name, str(place.resolve()), str(vectors), str(result.resolve()))


def _vectors_folder(place: Path, known: str, reference: ReferenceEncoder) -> Path:
    return place.resolve() / digest_of([known, reference.identity])


def _finished(folder: RunFolder, task: ReferenceTask) -> bool:
    result = folder.read_sealed(Path(task.result), ReferenceResult)
    return result is not None and result.key == task.key and result.reference is not None


def _encode(spec: AuditSpec, sides: Sides, known: str, reference: ReferenceEncoder, place: Path) -> None:
    """Texts and vectors of both sides into the work folder."""
    target, held = _sample(sides.target, spec.seed), _sample(sides.known[known], spec.seed)
    save_corpus(target, place / "target.parquet")
    save_corpus(held, place / f"{known}.parquet")
    seed, artifacts = seed_for(spec.seed, "reference", known), artifacts_in(place.parent.parent)
    vectors = reference_vectors(reference, held.texts, target.texts, seed, artifacts)
    folder = _vectors_folder(place, known, reference)
    save_vectors(vectors[0], folder / "known")
    save_vectors(vectors[1], folder / "target")


def _play_all(
    spec: AuditSpec, folder: RunFolder, tasks: list[ReferenceTask], progress: Progress, deadline: float | None
) -> None:
    for task in tasks:
        Path(task.result).unlink(missing_ok=True)
    for done, (task, lost) in enumerate(run_all(spec, play_reference, tasks, deadline), start=1):
        if lost is not None and not Path(task.result).exists():
            _write(task, ReferenceResult(key=task.key, error=lost))
        progress("references", done, len(tasks))
    folder.event("references played", count=len(tasks))


def play_reference(task: ReferenceTask) -> None:
    """Play one and write its file; a failure is recorded there, never raised.

    One thread: the rounds are short, and a second one costs more than it gives.
    """
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1):
            set_torch_threads(1)
            result = ReferenceResult(key=task.key, reference=_measure(task))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # as for cells: foreign code must not end the run
        result = ReferenceResult(key=task.key, error=cause_of(error))
    _write(task, result)


def _write(task: ReferenceTask, result: ReferenceResult) -> None:
    write_atomically(Path(task.result), seal(result))


def _measure(task: ReferenceTask) -> Reference:
    identity, sides = task.cell.identity, Path(task.sides)
    seed = seed_for(task.cell.seed, "reference", task.name)
    game, attack = made_for(identity, seed, "cpu")
    if "quick" in attack.get_params():
        attack.set_params(quick=True)
    target, vectors = load_corpus(sides / "target.parquet"), Path(task.vectors)
    material = Material(
        target=target,
        known=load_corpus(sides / f"{identity.known}.parquet"),
        target_vectors=load_vectors(vectors / "target"),
        known_vectors=load_vectors(vectors / "known"),
        encode=_no_queries,
        adversary=adversary_of(identity),
        seed=task.cell.deal_seed,
        groups=target.column(identity.group) if identity.group else None,
    )
    deal = game.deal(material)
    played = play_round(game, attack, deal, seed)
    if np.isnan(played.scores.point):
        raise CannotMeasureError("the metric has no value on these targets")
    return Reference(
        encoder=task.name,
        estimate=played.scores.estimate(),
        floor=played.floor.estimate(),
        pairs=deal.pairs,
    )


def _no_queries(texts: Any) -> Any:
    raise CannotMeasureError("not applicable: the attack queries the encoder as it goes")
