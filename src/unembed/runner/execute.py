"""Running an audit: prepare once, run what is missing on any joblib back-end, put the result together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import EncoderCard, is_white_box
from unembed.encoders.cache import full_card, inside
from unembed.errors import fenced
from unembed.games.threat import Capability
from unembed.results.identity import digest_of
from unembed.results.io import write_run
from unembed.results.schema import Run, UtilityScore
from unembed.runner.agreement import card_of_stored, check_agreement
from unembed.runner.assemble import Outcome, assemble
from unembed.runner.budget import may_be_too_many, seconds_for, within_budget
from unembed.runner.cell import CellResult, Task, failed_cell
from unembed.runner.checking import check_effects, check_spec, endpoint_of
from unembed.runner.coverage import with_coverage
from unembed.runner.defended import hand_over_saved
from unembed.runner.encoder_recipe import artifacts_in, encoders_here, save_recipe
from unembed.runner.folder import RunFolder, locked, now
from unembed.runner.inspection import inspect_vectors
from unembed.runner.plan import Asked, Cell, ask, deal_seed, make_plan
from unembed.runner.prepare import (
    INSIDE,
    Given,
    Progress,
    Sides,
    counting_learnt,
    encode_queries,
    encode_sides,
    identify,
    open_encoder,
    read_texts,
    split_sides,
    training_side,
)
from unembed.runner.references import open_references, play_references, with_references
from unembed.runner.spec import AuditSpec
from unembed.runner.twins import remove_vector_twins
from unembed.runner.usefulness import UtilityResult, score_variants, utility_key
from unembed.runner.variants import kept_variants, measure_variants
from unembed.runner.workers import run_tasks
from unembed.runner.workspace import load_vectors, save_seen, save_training
from unembed.sealed import seal
from unembed.writing import write_atomically

DEFAULT_FOLDER = Path("unembed-runs")
_UTILITY = "utility.json"


def _silent(what: str, done: int, total: int) -> None:
    pass


def audit(
    spec: AuditSpec,
    *,
    spec_given: dict[str, Any] | None = None,
    command: str = "unembed audit",
    progress: Progress = _silent,
    given: Given | None = None,
) -> tuple[Run, Path]:
    """Run an audit, or go on with one that was interrupted; returns the result and its folder."""
    began, created = time.monotonic(), now()
    with fenced("a plug-in"):
        check_spec(spec)
        check_effects(spec, spec_given or {})
        if (endpoint := endpoint_of(spec)) is not None:
            endpoint.check_permission()
        progress("reading texts", 0, 1)
        texts = read_texts(spec, given)
        # What a budget may make smaller is split only then: of very many texts that takes minutes.
        sides = None if may_be_too_many(spec, texts) else split_sides(spec, texts)
        progress("reading texts", 1, 1)
        parts = [texts.corpus] if sides is None else [sides.target, sides.known[INSIDE]]
        folder = RunFolder(Path(spec.run.folder) if spec.run.folder else DEFAULT_FOLDER / _folder_name(spec, parts))
        with locked(folder.path), encoders_here(folder.work):
            folder.remove_abandoned()
            seconds = seconds_for(spec, len(texts.corpus))
            deadline = None if seconds is None else began + seconds

            def trial(some: Sides, place: RunFolder, end: float) -> None:
                _measured(spec, some, place, _silent, end)

            if sides is None:
                sides = within_budget(spec, texts, folder, deadline, trial, progress)
            run = assemble(
                spec,
                _measured(spec, sides, folder, progress, deadline),
                spec_given=spec_given or spec.model_dump(mode="json", exclude_unset=True),
                command=command,
                created=created,
                seconds=time.monotonic() - began,
            )
            write_run(run, folder.result)
            folder.event("run finished", status=run.status)
            if run.status == "complete":
                folder.clear_work()
    return run, folder.path


def _measured(spec: AuditSpec, sides: Sides, folder: RunFolder, progress: Progress, deadline: float | None) -> Outcome:
    """Plan, encode and run what is missing; no measurement goes on past the deadline."""
    folder.event("run started", texts=len(sides.target) + len(sides.known["inside"]), seed=spec.seed)
    artifacts = artifacts_in(folder.work)
    encoder = open_encoder(spec, sides, artifacts, deadline)
    progress("loading encoder", 0, 1)
    card = full_card(encoder)
    progress("loading encoder", 1, 1)
    key = identify(encoder, sides.target.texts)
    if sides.stored is not None and sides.can_encode:
        card = card_of_stored(card, sides.stored)
        sides = check_agreement(sides, encoder, spec.seed)
        key = card.cache_key("document") or key
    white_box = is_white_box(inside(encoder))
    sides = replace(sides, training=training_side(spec, sides))
    asked = ask(spec, sides)
    plan = make_plan(spec, sides, asked, card, key, white_box=white_box)
    if not plan.cells:
        folder.clear_work()
    plan.check()
    # Only vectors show some copies of targets, so both sides are encoded before the cells get their final identity.
    work = folder.work / _work_name(spec, sides, key)
    save_recipe(spec, sides, encoder, work)
    hand_over_saved(spec, work)
    sides, encoded = remove_vector_twins(sides, encoder, key, folder.path, work, progress)
    sides = counting_learnt(with_coverage(sides, encoder))
    plan = make_plan(spec, sides, asked, card, key, white_box=white_box)
    references = open_references(spec, sides, plan.cells, key, artifacts)
    results = {c.key: r for c in plan.cells if (r := folder.finished(c)) and _reusable(r, spec)}
    missing = [c for c in plan.cells if c.key not in results]
    folder.event("planned", cells=len(plan.cells), done=len(results), missing=len(missing))
    scored = utility_key(spec, sides, key, plan.cells)
    utility = _kept_utility(folder, scored) if spec.utility else []
    keep = spec.run.keep_defenses
    variants = kept_variants(folder, plan.cells, keep=keep) if spec.defenses else []
    if (missing or utility is None or variants is None) and not encoded:
        encode_sides(sides, encoder, work, progress)
    if missing:
        folder.set_aside([c.key for c in plan.cells])
        save_training(sides.training, work)
        save_seen(sides.seen, work / "target")
        encode_queries(encoder, wanted_queries(spec, sides, asked, missing), work, progress)
        if sides.can_encode and sides.stored is None:
            inspect_vectors(inside(encoder), sides.target.texts, load_vectors(work / "target"))
        folder.event("encoded", encoder=card.name)
        tasks = _tasks(spec, folder, missing, work, card, sides)
        run_tasks(spec, folder, tasks, progress, deadline)
        for task in tasks:
            lost = "it left no result that can be read"
            results[task.cell.key] = folder.finished(task.cell) or failed_cell(task, lost)
    if variants is None:
        variants = measure_variants(folder, plan.cells, work, keep=keep)
    if utility is None:
        utility = score_variants(spec, sides, plan.cells, work)
        write_atomically(folder.path / _UTILITY, seal(UtilityResult(key=scored, scores=utility)))
    beside, without = play_references(spec, folder, references, sides, work, progress, deadline)
    plan = replace(plan, skipped=[*plan.skipped, *without])
    return Outcome(sides, card, plan, with_references([results[c.key] for c in plan.cells], beside), utility, variants)


def _kept_utility(folder: RunFolder, key: str) -> list[UtilityScore] | None:
    """The scores as an earlier run left them; None where they are of something else."""
    kept = folder.read_sealed(folder.path / _UTILITY, UtilityResult)
    return kept.scores if kept is not None and kept.key == key else None


def _work_name(spec: AuditSpec, sides: Sides, encoder: str) -> str:
    """A name for all that is encoded, so that no cell can meet the texts, queries or vectors of another audit."""
    known = {name: corpus.fingerprint for name, corpus in sides.known.items()}
    return digest_of([spec.what_is_measured, encoder, sides.target.fingerprint, known])[:16]


def _reusable(result: CellResult, spec: AuditSpec) -> bool:
    """Done, and its samples are shown or masked as they are wanted now."""
    masked = {sample.masked for finding in result.findings for sample in finding.samples}
    return result.record.status == "done" and masked <= {not spec.samples}


def _folder_name(spec: AuditSpec, parts: Sequence[Corpus]) -> str:
    """The same command on the same data gives the same folder, and so goes on where it stopped."""
    what = digest_of([spec.what_is_measured, *(corpus.fingerprint for corpus in parts)])
    stem = "".join(c if c.isalnum() else "-" for c in Path(spec.data.shown).stem)[:40].strip("-") or "audit"
    shown = "-samples" if spec.samples else ""
    return f"{stem}-{what[:8]}{shown}"


def wanted_queries(spec: AuditSpec, sides: Sides, asked: Asked, cells: list[Cell]) -> dict[str, list[str]]:
    """The texts each adversary will want encoded, each once."""
    wanted: dict[str, list[str]] = {}
    for name in dict.fromkeys(c.identity.adversary for c in cells):
        adversary = next(who for who in spec.cast if who.name == name)
        texts: dict[str, None] = {}
        if Capability.QUERIES in adversary.capabilities and sides.can_encode:
            for game in (question.game for question in asked.questions):
                seed = deal_seed(spec.seed, game.facts.name, game.subject)
                texts.update(dict.fromkeys(game.queries(sides.known[sides.known_to(adversary)], adversary, seed)))
        wanted[name] = list(texts)
    return wanted


def _tasks(
    spec: AuditSpec, folder: RunFolder, cells: list[Cell], work: Path, card: EncoderCard, sides: Sides
) -> list[Task]:
    return [
        Task(
            cell=cell,
            work=str(work.resolve()),
            result=str(folder.cell_path(cell.key).resolve()),
            encoder=card.name,
            threads=spec.threads,
            device=spec.device,
            samples=spec.samples,
            masked_slices=not (spec.samples or cell.public),
        )
        for cell in cells
    ]
