"""Running an audit: prepare once, run what is missing on any joblib back-end, put the result together."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unembed.audit.assemble import assemble
from unembed.audit.cell import CellResult, Task, run_cell
from unembed.audit.coverage import with_coverage
from unembed.audit.folder import RunFolder, now
from unembed.audit.live import save_recipe
from unembed.audit.plan import Cell, deal_seed, make_plan, played_games
from unembed.audit.prepare import Sides, encode_queries, encode_sides, open_encoder, read_sides
from unembed.audit.spec import AuditSpec
from unembed.audit.twins import remove_vector_twins
from unembed.encoders.base import Encoder, EncoderCard, is_white_box
from unembed.encoders.cache import inside
from unembed.errors import MissingExtraError, NothingRanError
from unembed.games.threat import ADVERSARIES, Capability
from unembed.results.io import write_run
from unembed.results.schema import Run

#: Told what goes on: (what, done, total).
Progress = Callable[[str, int, int], None]
DEFAULT_FOLDER = Path("unembed-runs")


def _silent(what: str, done: int, total: int) -> None:
    pass


def audit(
    spec: AuditSpec,
    *,
    spec_given: dict[str, Any] | None = None,
    command: str = "unembed audit",
    progress: Progress = _silent,
) -> tuple[Run, Path]:
    """Run an audit, or go on with one that was interrupted; returns the result and its folder."""
    started, created = time.perf_counter(), now()
    progress("reading texts", 0, 1)
    sides = read_sides(spec)
    progress("reading texts", 1, 1)
    folder = RunFolder(Path(spec.run.folder) if spec.run.folder else DEFAULT_FOLDER / _folder_name(spec, sides))
    folder.event("run started", texts=len(sides.target) + len(sides.known["inside"]), seed=spec.seed)
    encoder = open_encoder(spec, sides)
    progress("loading encoder", 0, 1)
    card = encoder.card
    sides = with_coverage(sides, encoder)
    progress("loading encoder", 1, 1)
    digest = "" if card.cache_key("document") else _vectors_digest(sides, encoder)
    white_box = is_white_box(inside(encoder))
    plan = make_plan(spec, sides, card, digest, white_box=white_box)
    if not plan.cells:
        reasons = "; ".join(dict.fromkeys(s.reason for s in plan.skipped[:4]))
        raise NothingRanError(f"nothing to run: {reasons}")
    # Only vectors show some copies of targets, so both sides are encoded before the cells get their final identity.
    key = card.cache_key("document") or digest
    sides, encoded = remove_vector_twins(sides, encoder, key, folder.path, folder.work, progress)
    plan = make_plan(spec, sides, card, digest, white_box=white_box)
    results = {c.key: r for c in plan.cells if (r := folder.finished(c.key)) and _reusable(r, spec)}
    missing = [c for c in plan.cells if c.key not in results]
    folder.event("planned", cells=len(plan.cells), done=len(results), missing=len(missing))
    if missing:
        if not encoded:
            encode_sides(sides, encoder, folder.work, progress)
        encode_queries(encoder, wanted_queries(spec, sides, missing), folder.work, progress)
        save_recipe(spec, encoder, folder.work)
        folder.event("encoded", encoder=card.name)
        _run_cells(spec, folder, missing, card, sides, progress)
        results |= {c.key: r for c in missing if (r := folder.finished(c.key))}
    run = assemble(
        spec,
        spec_given=spec_given or spec.model_dump(mode="json", exclude_unset=True),
        command=command,
        created=created,
        finished=now(),
        seconds=time.perf_counter() - started,
        sides=sides,
        card=card,
        plan=plan,
        results=[results[c.key] for c in plan.cells if c.key in results],
    )
    write_run(run, folder.result)
    folder.event("run finished", status=run.status)
    if run.status == "complete":
        folder.clear_work()
    return run, folder.path


def _reusable(result: CellResult, spec: AuditSpec) -> bool:
    """Done, and its samples are shown or masked as they are wanted now."""
    masked = {sample.masked for finding in result.findings for sample in finding.samples}
    return result.record.status == "done" and masked <= {not spec.samples}


def _folder_name(spec: AuditSpec, sides: Sides) -> str:
    """The same command on the same data gives the same folder, and so goes on where it stopped."""
    # The policy judges results and the rest says where and how fast: none of it changes what is measured.
    measured = spec.model_dump(mode="json", exclude={"run", "policy", "baseline", "title", "samples"})
    payload = json.dumps([measured, sides.target.fingerprint, sides.known["inside"].fingerprint], sort_keys=True)
    stem = "".join(c if c.isalnum() else "-" for c in Path(spec.data.texts).stem)[:40].strip("-") or "audit"
    shown = "-samples" if spec.samples else ""
    return f"{stem}-{hashlib.sha256(payload.encode()).hexdigest()[:8]}{shown}"


def _vectors_digest(sides: Sides, encoder: Encoder) -> str:
    """An encoder that can't be identified is identified by the vectors it gives here."""
    vectors = encoder.encode(sides.target.texts)
    digest = hashlib.sha256()
    for part in (vectors,) if isinstance(vectors, np.ndarray) else (vectors.data, vectors.indices, vectors.indptr):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def wanted_queries(spec: AuditSpec, sides: Sides, cells: list[Cell]) -> dict[str, list[str]]:
    """The texts each adversary will want encoded, each once."""
    games, _ = played_games(spec, sides)
    wanted: dict[str, list[str]] = {}
    for name in dict.fromkeys(c.identity["adversary"] for c in cells):
        adversary = ADVERSARIES[name]
        asked: dict[str, None] = {}
        if Capability.QUERIES in adversary.capabilities and spec.data.vectors is None:
            for game in games:
                seed = deal_seed(spec.seed, game.facts.name, game.subject)
                asked.update(dict.fromkeys(game.queries(sides.known[sides.known_to(name)], adversary, seed)))
        wanted[name] = list(asked)
    return wanted


def _run_cells(
    spec: AuditSpec, folder: RunFolder, cells: list[Cell], card: EncoderCard, sides: Sides, progress: Progress
) -> None:
    from joblib import Parallel, delayed

    tasks = [
        Task(
            cell=cell,
            work=str(folder.work.resolve()),
            result=str(folder.cell_path(cell.key).resolve()),
            encoder=card.name,
            threads=spec.threads,
            device=spec.device,
            samples=spec.samples,
            masked_slices=not spec.samples
            and not (cell.identity["game"]["name"] == "keyword" and sides.keywords_given),
        )
        for cell in cells
    ]
    by_key = {c.key: c for c in cells}
    progress("attacks", 0, len(tasks))
    with _backend(spec):
        # Ray's back-end hands results over all at once; cells write their own files, so nothing hangs on it.
        return_as = "list" if spec.run.backend == "ray" else "generator_unordered"
        parallel = Parallel(n_jobs=None, return_as=return_as, batch_size=1)
        for done, key in enumerate(parallel(delayed(run_cell)(t) for t in tasks), start=1):
            folder.event("cell ended", cell=key, label=by_key[key].label)
            progress("attacks", done, len(tasks))


@contextlib.contextmanager
def _backend(spec: AuditSpec) -> Iterator[None]:
    """joblib's back-end by name: processes, threads, Ray or Dask."""
    from importlib.util import find_spec

    from joblib import parallel_config

    name = spec.run.backend
    if name == "ray":
        if find_spec("ray") is None:
            raise MissingExtraError("the Ray back-end", "ray")
        from ray.util.joblib import register_ray

        register_ray()  # type: ignore[no-untyped-call]
    if name == "dask" and find_spec("distributed") is None:
        raise MissingExtraError("the Dask back-end", "dask")
    jobs = spec.run.jobs
    with parallel_config(backend=name if jobs != 1 or name in ("ray", "dask") else "sequential", n_jobs=jobs):
        yield
