"""Running one cell, in whatever process: load both sides from the work folder, deal, play, write the finding."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unembed.attacks import ATTACKS
from unembed.attacks.base import SomeAttack
from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Encoder, Vectors
from unembed.encoders.cache import inside
from unembed.errors import UnembedError, place_of
from unembed.games import GAMES
from unembed.games.base import Deal, IntArray, Knowledge, Lineup, Material, SomeGame
from unembed.games.calibration import Detection
from unembed.games.claims import claim_of
from unembed.games.facts import GameFacts
from unembed.games.play import Play, play, status_of
from unembed.games.threat import Adversary, Capability
from unembed.results.identity import CellIdentity
from unembed.results.schema import PAIRS, CellRecord, Cost, Detects, Finding, Floor, Sample, Slice, Trust
from unembed.runner.defended import Passage
from unembed.runner.encoder_recipe import artifacts_in, encoder_of_run
from unembed.runner.lineup import make_lineup
from unembed.runner.masking import UNSEEN, mask
from unembed.runner.plan import Cell, made_as_planned
from unembed.runner.recovered import Ways, ways_of
from unembed.runner.torch_threads import set_torch_threads
from unembed.runner.workspace import load_corpus, load_seen, load_training, load_vectors
from unembed.sealed import seal
from unembed.seeds import generator, seed_for
from unembed.strict import Strict
from unembed.writing import write_atomically


class CellResult(Strict):
    """The file of one cell."""

    record: CellRecord
    findings: list[Finding]

    def answers(self, cell: Cell) -> bool:
        """Whether it is the result of this very cell."""
        record, done = self.record, self.record.status == "done"
        private = _facts(cell.identity).private_params
        return (
            record.key == cell.key
            and record.identity.without(private) == cell.identity.without(private)
            and bool(self.findings) == done
            and all(finding.cell == cell.key for finding in self.findings)
        )


@dataclass(frozen=True)
class Task:
    """A cell with all a worker needs: plain data and paths, nothing large."""

    cell: Cell
    work: str
    result: str
    encoder: str
    threads: int
    device: str
    samples: bool
    masked_slices: bool


def run_cell(task: Task) -> str:
    """Run one cell and write its file; a failure is recorded in the file, never raised. Returns the key."""
    from threadpoolctl import threadpool_limits

    started = time.perf_counter()
    try:
        with threadpool_limits(limits=task.threads):
            set_torch_threads(task.threads)
            findings = [_measure(task)]
        seconds = time.perf_counter() - started
        record = CellRecord(key=task.cell.key, identity=_shown_identity(task), status="done", seconds=seconds)
        result = CellResult(record=record, findings=findings)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plug-in that calls sys.exit fails like any other
        result = failed_cell(
            task,
            cause_of(error),
            # A foreign message may quote the user's texts; the places of the traceback can't.
            trace=None if isinstance(error, UnembedError) else "".join(traceback.format_tb(error.__traceback__)),
            seconds=time.perf_counter() - started,
        )
    write_cell(task, result)
    return task.cell.key


def cause_of(error: BaseException) -> str:
    """An error in one line without text of the corpus."""
    return str(error) if isinstance(error, UnembedError) else f"{type(error).__name__} in {place_of(error)}"


def failed_cell(task: Task, cause: str, *, trace: str | None = None, seconds: float = 0.0) -> CellResult:
    """A cell without a finding, and why."""
    record = CellRecord(
        key=task.cell.key,
        identity=_shown_identity(task),
        status="failed",
        error=cause,
        traceback=trace,
        seconds=seconds,
    )
    return CellResult(record=record, findings=[])


def write_cell(task: Task, result: CellResult) -> None:
    """Write the file of a cell."""
    write_atomically(Path(task.result), seal(result))


def _shown_identity(task: Task) -> CellIdentity:
    """The identity as the result file shows it: proposed keywords and people's names are masked."""
    identity = task.cell.identity
    return identity.masked(_facts(identity).private_params, mask) if task.masked_slices else identity


def _facts(identity: CellIdentity) -> GameFacts:
    facts: GameFacts = GAMES.get(identity.game.name).facts
    return facts


def _measure(task: Task) -> Finding:
    cell = task.cell
    game, attack = made_for(cell.identity, cell.seed, task.device)
    ways = _ways(cell.identity, Path(task.work))
    deal = _dealt(game, task, ways)
    deal = replace(deal, doubt=deal.doubt or ways.doubt)
    played = play(game, attack, deal, cell.seed, calibrate=cell.identity.calibrate, repeats=cell.identity.repeats)
    device = str(getattr(attack, "device_", "cpu"))
    chosen = getattr(attack, "chosen_", None)
    notes = [*ways.notes, *deal.notes, *([f"chosen on held-back pairs: {chosen}"] if chosen else [])]
    return _finding(task, game, played, deal, device, notes)


def made_for(identity: CellIdentity, seed: int, device: str) -> tuple[SomeGame, SomeAttack]:
    """Game and attack of a cell, ready to play."""
    game, attack = made_as_planned(GAMES, identity.game), made_as_planned(ATTACKS, identity.attack)
    attack.set_params(seed=seed_for(seed, "attack"))
    if "device" in attack.get_params():
        attack.set_params(device=device)
    return game, attack


def _dealt(game: SomeGame, task: Task, ways: Ways) -> Deal[Knowledge, object]:
    """The deal; where the adversary learns from other vectors than the store holds, with its rows as stored, too.

    The same game deals the same rows whatever the vectors are.
    """
    deal = game.deal(_material(task, ways))
    if ways.single is None or not hasattr(deal.knowledge, "as_stored"):
        return deal
    again = game.deal(_material(task, replace(ways, held=ways.single, pairs=ways.single)))
    both: Knowledge = replace(deal.knowledge, as_stored=again.knowledge.vectors)  # type: ignore[type-var]
    return replace(deal, knowledge=both)


def _ways(identity: CellIdentity, work: Path) -> Ways:
    """What is done to both sides' vectors; a game about the secret map itself leaves it to its attacks to undo it.

    One that compares encoders takes the vectors as each of them would store them.
    """
    adversary, facts = adversary_of(identity), _facts(identity)
    able = Capability.QUERIES in adversary.capabilities and not (facts.needs_map or facts.needs_lineup)
    return ways_of(identity, work, inside=adversary.inside, bring_back=able)


def _material(task: Task, ways: Ways) -> Material:
    """Both sides as this cell's adversary meets them."""
    identity, work = task.cell.identity, Path(task.work)
    known = load_corpus(work / f"{identity.known}.parquet", identity.known_fingerprint)
    target = load_corpus(work / "target.parquet", identity.target_fingerprint)
    encode = _answers(work, identity.adversary)
    rows = None
    if identity.pairs is not None:
        rows = np.sort(generator(identity.seed, "pairs").permutation(len(known))[: identity.pairs])
        known = known.select(rows)
    stored, held = ways.stored, ways.held
    adversary = adversary_of(identity)
    plain = ways.plain if _facts(identity).needs_map else None
    material = Material(
        target=target,
        known=known,
        target_vectors=stored.side("target", target),
        known_vectors=ways.pairs.side(identity.known, known, rows),
        encode=held.behind(encode),
        adversary=adversary,
        seed=task.cell.deal_seed,
        groups=target.column(identity.group) if identity.group else None,
        known_groups=known.columns.get(identity.group) if identity.group else None,
        encode_target=stored.behind(encode),
        encoder=_weights(task, work),
        lineup=_lineup(task, work, known, stored, held),
        seen=load_seen(work / "target"),
        training=load_training(work),
        keep=artifacts_in(work.parent),
        plain_target_vectors=None if plain is None else plain.side("target", target),
        plain_known_vectors=None if plain is None else plain.side(identity.known, known, rows),
    )
    return material.reading() if Capability.TEXTS in adversary.capabilities else material


def adversary_of(identity: CellIdentity) -> Adversary:
    """The adversary of a cell with what it holds there."""
    held = frozenset(Capability(c) for c in identity.capabilities)
    return Adversary(identity.adversary, identity.adversary, "", held)


def _lineup(task: Task, work: Path, known: Corpus, stored: Passage, held: Passage) -> Lineup | None:
    """The other encoders, for the game that asks which one it was; the adversary fits on the texts it knows."""
    identity = task.cell.identity
    if not _facts(identity).needs_lineup:
        return None
    given = identity.game.params.get("candidates")
    candidates = [str(name) for name in given] if isinstance(given, list) else []
    dimension = int(load_vectors(work / "target").shape[1])
    found = make_lineup(work, task.encoder, identity.encoder, dimension, candidates, known.texts)
    if not identity.transforms:
        return found
    others = {title: held.behind(encode) for title, encode in found.others.items()}
    return replace(found, others=others, stored={t: stored.behind(e) for t, e in found.others.items()})


def _weights(task: Task, work: Path) -> Encoder | None:
    """The model itself, for attacks through the weights."""
    if Capability.WEIGHTS not in ATTACKS.get(task.cell.identity.attack.name).facts.requires:
        return None
    return inside(encoder_of_run(work))


def _answers(work: Path, adversary: str) -> Callable[[Sequence[str]], Vectors]:
    """Query access: answers come from the table of texts encoded beforehand, or from the encoder itself."""

    def encode(texts: Sequence[str]) -> Vectors:
        asked: Corpus = load_corpus(work / f"queries-{adversary}.parquet")
        where = {text: row for row, text in enumerate(asked.texts)}
        if any(t not in where for t in texts):
            return encoder_of_run(work).encode(texts)
        return load_vectors(work / f"queries-{adversary}")[np.array([where[t] for t in texts], dtype=np.int64)]

    return encode


def _detects(found: Detection | None) -> Detects | None:
    if found is None:
        return None
    tried = {f"{size:g}": list(counts) for size, counts in sorted(found.tried.items())}
    return Detects(size=found.size, kinds=list(found.kinds), blind=list(found.blind), tried=tried)


def _finding(
    task: Task, game: SomeGame, played: Play, deal: Deal[Knowledge, object], device: str, notes: list[str]
) -> Finding:
    identity = task.cell.identity
    facts = ATTACKS.get(identity.attack.name).facts
    status, level, reason = status_of(played, yardstick=facts.reads_texts)
    target_ids = load_corpus(Path(task.work) / "target.parquet").ids
    finding = Finding(
        id=f"{game.facts.name}-{task.cell.key[:8]}",
        cell=task.cell.key,
        game=game.facts.name,
        attack=identity.attack.name,
        adversary=identity.adversary,
        encoder=task.encoder,
        defense=identity.defense,
        adaptive=identity.adaptive,
        curve=identity.pairs is not None,
        subject=identity.subject,
        metric=game.facts.metric,
        estimate=played.estimate,
        floors=[Floor(kind=k, estimate=e) for k, e in played.floors.items()],
        floor=played.floor,
        excess=played.excess,
        luck=played.luck,
        headroom=played.headroom,
        secondary=played.scores.secondary,
        secondary_floors=played.floor_secondary,
        slices=_slices(task, played),
        samples=_samples(task, played, target_ids, deal.rows),
        status=status,  # type: ignore[arg-type]
        level=level,  # type: ignore[arg-type]
        about="encoder" if deal.about_encoder else "collection",
        reason=reason,
        section=game.facts.section,
        contrary=list(played.contrary),
        doubt=deal.doubt,
        trust=Trust(trusted=played.check.passed, reason=played.check.reason),
        detects=_detects(played.detection),
        cost=Cost(
            capabilities=sorted(c.value for c in facts.requires),
            pairs=deal.pairs,
            learns_from=game.facts.learns_from or PAIRS,
            queries=played.queries,
            targets=int(deal.vectors.shape[0]),
            fit_seconds=played.fit_seconds,
            run_seconds=played.run_seconds,
            device=device,
        ),
        seed=task.cell.seed,
        notes=notes,
    )
    return finding.model_copy(update={"claim": claim_of(game, finding)})


def _slices(task: Task, played: Play) -> list[Slice]:
    """Words and names of classes come from the collection, so they are masked like samples."""
    slices = []
    private = _facts(task.cell.identity).private_slices
    numbers: Counter[str] = Counter()
    for part in played.scores.slices:
        numbers[part.kind] += 1
        # A further figure of the same parts says so after a comma: "keyword, average precision".
        what = part.kind.split(",")[0]
        hidden = task.masked_slices and what in private
        floor = played.floor_slices.get((part.kind, part.name)) if part.floor is None else part.floor
        name = f"{mask(part.name)} ({what} {numbers[part.kind]})" if hidden else part.name
        slices.append(Slice(kind=part.kind, name=name, estimate=part.estimate, floor=floor, clear=part.clear))
    return slices


def _target_name(target_ids: Sequence[str], row: int, number: int) -> str:
    """The id of a target; what the challenger wrote itself (row -1) has none."""
    return target_ids[row] if row >= 0 else f"made up {number + 1}"


def _samples(task: Task, played: Play, target_ids: Sequence[str], rows: IntArray | None) -> list[Sample]:
    """Masked unless asked for; of a masked word that no attack found not even the first letter is told."""
    show: Callable[[str], str] = (lambda w: w) if task.samples else mask
    return [
        Sample(
            target=_target_name(target_ids, example.row if rows is None else int(rows[example.row]), example.row),
            truth=[show(w) if task.samples or w in example.recovered else UNSEEN for w in example.truth],
            recovered=[show(w) for w in example.recovered],
            hits=[w in example.truth for w in example.recovered],
            masked=not task.samples,
        )
        for example in played.examples
    ]
