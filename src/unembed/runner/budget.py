"""A budget of time or memory makes an audit smaller before it begins: fewer texts, drawn evenly, and it says so.

What an audit costs depends on the encoder, the attacks and the machine, so it is not guessed: the audit is tried on 250
texts, then on up to four times as many while that costs little, and its time is taken to grow along the straight line
through the last two trials, for no more than four times the texts of the last: some attacks cost more than that line.
The number of texts is remembered in the run folder, so that the same command goes on with the same ones.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable

import numpy as np

from unembed.errors import CannotMeasureError
from unembed.results.identity import digest_of
from unembed.runner.folder import RunFolder
from unembed.runner.prepare import Progress, Sides, Texts, open_encoder, split_sides
from unembed.runner.spec import AuditSpec
from unembed.sealed import seal
from unembed.strict import Strict
from unembed.writing import write_atomically

#: Seconds for an audit of all texts, where there are more than the default sample and no budget is given.
DEFAULT_BUDGET = 1800.0
DEFAULT_SAMPLE = 10_000
#: Bytes that attacks and comparisons take for each byte of the vectors; the libraries take LIBRARIES before that.
COPIES = 8
LIBRARIES = 1 << 30
_FILE = "sample.json"
#: The texts that are always used; the first trial, how much larger the next is at most and must be to tell anything.
_ALWAYS, _FIRST_TRIAL, _GROWTH, _WORTHWHILE = 1_000, 250, 4, 1.5
#: The part of the time left that is planned for, because an estimate errs; the part of it that one trial may take.
_PLANNED, _TRIAL = 0.7, 0.25
#: The first trial is followed by another if it took no more than this part.
_FIRST_TAKES = 1 / 3
#: Fewer texts say nothing: an audit that does not fit even so is ended by its deadline.
_LEAST = 400

#: Runs the audit on these sides in that folder until the deadline.
Trial = Callable[[Sides, RunFolder, float], object]


class Sample(Strict):
    """How many texts an audit uses, and why not all."""

    key: str
    texts: int
    because: str


def seconds_for(spec: AuditSpec, texts: int) -> float | None:
    """The time that an audit of this many texts may take; None: no limit."""
    if spec.run.budget is None:
        return DEFAULT_BUDGET if spec.data.max_texts is None and texts > DEFAULT_SAMPLE else None
    return spec.run.budget if math.isfinite(spec.run.budget) else None


def may_be_too_many(spec: AuditSpec, texts: Texts) -> bool:
    """Whether there are more texts than are always used, and a budget."""
    total = len(texts.corpus)
    return total > _ALWAYS and (seconds_for(spec, total) is not None or spec.run.memory is not None)


def within_budget(
    spec: AuditSpec, texts: Texts, folder: RunFolder, deadline: float | None, trial: Trial, progress: Progress
) -> Sides:
    """Both sides of all texts, or of as many as the budgets of the spec allow."""
    total = len(texts.corpus)
    seconds = seconds_for(spec, total)
    key = digest_of([spec.what_is_measured, texts.corpus.fingerprint, seconds, spec.run.memory, spec.run.jobs])
    chosen = folder.read_sealed(folder.path / _FILE, Sample)
    if chosen is None or chosen.key != key:
        count, because = total, ""
        if spec.run.memory is not None and (bound := _fitting_memory(spec, texts, spec.run.memory)) < total:
            count, because = bound, f"memory budget of {spec.run.memory / 2**30:.3g} GiB"
        if deadline is not None and seconds is not None:

            def timed(size: int) -> float:
                return _tried(spec, texts, size, folder, deadline, trial, progress)

            bound = fitting_time(count, timed, lambda: deadline - time.monotonic())
            if bound < count:
                count, because = bound, f"time budget of {seconds / 60:.3g} minutes"
        chosen = Sample(key=key, texts=count, because=because)
        write_atomically(folder.path / _FILE, seal(chosen))
        folder.event("sized", texts=count, of=total)
    if chosen.texts >= total:
        return split_sides(spec, texts)
    why = f"{chosen.texts:,} of {total:,} texts were used because of the {chosen.because}"
    return split_sides(spec, texts.sample(chosen.texts, spec.seed, why))


def fitting_time(texts: int, seconds_of: Callable[[int], float], left: Callable[[], float]) -> int:
    """How many of the texts fit the time that is left.

    Args:
        texts: All there are.
        seconds_of: Tries this many texts; the seconds it took, infinite if cut short, NaN if it measured nothing.
        left: Seconds left.
    """
    size, smaller, took_smaller = _FIRST_TRIAL, 0, 0.0
    while texts > _ALWAYS and size < texts:
        took = seconds_of(size)
        planned = left() * _PLANNED
        if math.isinf(took):
            fitting = planned * smaller / took_smaller if smaller else 0.0
            return max(_LEAST, int(min(fitting, size / 2)))
        following = size * _GROWTH
        if math.isnan(took):
            size = following
            continue
        per_text = max((took - took_smaller) / (size - smaller), took / size / 10, 1e-9)
        fitting = size + (planned - took) / per_text
        if fitting >= texts and (not smaller or texts <= size * _GROWTH):
            return texts
        if smaller or took > planned * _FIRST_TAKES:  # one trial alone can't tell what an audit of no text would cost
            following = min(following, int(size + (planned * _TRIAL - took) / per_text))
        if following >= fitting or following < size * _WORTHWHILE:
            return max(_LEAST, int(min(fitting, size * _GROWTH)))
        size, smaller, took_smaller = following, size, took
    return texts


def _tried(
    spec: AuditSpec, texts: Texts, size: int, folder: RunFolder, deadline: float, trial: Trial, progress: Progress
) -> float:
    """The seconds that the audit takes on this many texts, as ``fitting_time`` expects them."""
    place = folder.work / "trial"
    what = f"trying {size:,} texts"
    progress(what, 0, 1)
    began = time.monotonic()
    end = began + (deadline - began) / 3
    try:
        trial(split_sides(spec, texts.sample(size, spec.seed, what)), RunFolder(place), end)
    except CannotMeasureError:  # a question may need more texts than this
        return math.nan
    finally:
        shutil.rmtree(place, ignore_errors=True)
    progress(what, 1, 1)
    ended = time.monotonic()
    folder.event("tried", texts=size, seconds=round(ended - began, 1))
    return ended - began if ended < end else math.inf


def _fitting_memory(spec: AuditSpec, texts: Texts, memory: float) -> int:
    """How many texts' vectors fit the memory, ``COPIES`` times for every job."""
    if texts.stored is not None:
        size = 4.0 * texts.stored.card.dimension
    else:
        few = split_sides(spec, texts.sample(_ALWAYS, spec.seed, "to learn the size of a vector"))
        vectors = open_encoder(spec, few).encode(few.target.texts[:64])
        parts = (vectors,) if isinstance(vectors, np.ndarray) else (vectors.data, vectors.indices)
        size = sum(part.nbytes for part in parts) / vectors.shape[0]
    from joblib import effective_n_jobs

    fitting = (memory - LIBRARIES) / (size * COPIES * effective_n_jobs(spec.run.jobs))
    return max(_LEAST, int(min(fitting, len(texts.corpus))))
