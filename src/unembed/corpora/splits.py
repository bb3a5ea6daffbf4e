"""The cut between what an adversary holds and the texts under attack, with nothing leaking across."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import THRESHOLD, LeakReport, remove_leaks
from unembed.corpora.readers.fields import looks_numeric
from unembed.errors import DataError, UsageError


@dataclass(frozen=True)
class SplitReport:
    """Counts of a split, as plain data."""

    rows: int
    adversary: int
    target: int
    skipped: int
    """Rows without a group or a time, on neither side."""
    by: str | None
    time: str | None
    adversary_groups: int | None
    target_groups: int | None
    shared_classes: int | None
    """Values of the attribute that occur on both sides."""
    leaks: LeakReport


@dataclass(frozen=True)
class Split:
    """The adversary's texts, the texts under attack, and how they were cut."""

    adversary: Corpus
    target: Corpus
    report: SplitReport


def split_corpus(
    corpus: Corpus,
    *,
    share: float = 0.5,
    by: str | None = None,
    time: str | None = None,
    later: bool = False,
    attribute: str | None = None,
    max_targets: int | None = None,
    whole: bool = False,
    seed: int = 0,
    threshold: float = THRESHOLD,
) -> Split:
    """Cut a corpus in two, then take every near duplicate of a target out of the adversary's part.

    Args:
        corpus: What is cut.
        share: The adversary's share of the rows.
        by: A column (document, author); all rows of a group land on the same side.
        time: A column of dates; the adversary gets the earlier part.
        later: With ``time``: the adversary gets the later part instead.
        attribute: A column to be inferred later; groups are dealt so that its values occur on both sides.
        max_targets: Keeps a uniform sample of the targets, before near duplicates are looked for.
        whole: With ``by``: the sample consists of whole groups, and is larger than asked for by part of one.
        seed: Of the random cut.
        threshold: The Jaccard index from which a text counts as a near duplicate.
    """
    if not 0.0 < share < 1.0:
        raise UsageError(f"share must be between 0 and 1, not {share}")
    if by is not None and time is not None:
        raise UsageError("a split is by a group column or by time, not both; drop one")
    if later and time is None:
        raise UsageError("later=True only means something with time=…")
    for name in (by, time, attribute):
        if name is not None:
            corpus.column(name)
    if attribute is not None and attribute in (by, time):
        raise UsageError(
            f"can't split by '{attribute}': it is the attribute to infer, so both sides need its values; "
            "split by document or by row instead"
        )
    if len(corpus) < 2:
        raise DataError(f"{corpus.name} has {len(corpus)} rows: too few to split")

    if time is not None:
        usable, mask = _by_time(corpus, time, share, later)
    else:
        usable, mask = _by_group(corpus, by, attribute, share, seed)
    rows = usable[~mask]
    if max_targets is not None and len(rows) > max_targets:
        rng = seeds.generator(seed, "corpora", "targets")
        if whole and by is not None:
            rows = rows[whole_groups([_key(corpus.column(by)[row]) for row in rows], max_targets, rng)]
        else:
            rows = np.sort(rng.choice(rows, size=max_targets, replace=False))
    target = corpus.select(rows)
    adversary, leaks = remove_leaks(corpus.select(usable[mask]), target, threshold=threshold)
    if not len(adversary):
        raise DataError(f"{corpus.name}: nothing is left for the adversary: all {leaks.rows} texts duplicate targets")
    shared = None
    if attribute is not None:
        shared = len(_values(adversary, attribute) & _values(target, attribute))
        if shared < 2:
            raise DataError(
                f"{corpus.name}: {shared} value(s) of '{attribute}' on both sides, at least 2 are needed; "
                + (f"'{by}' decides '{attribute}', split by another column" if by else "use more rows")
            )
    report = SplitReport(
        rows=len(corpus),
        adversary=len(adversary),
        target=len(target),
        skipped=len(corpus) - len(usable),
        by=by,
        time=time,
        adversary_groups=len(_values(adversary, by)) if by else None,
        target_groups=len(_values(target, by)) if by else None,
        shared_classes=shared,
        leaks=leaks,
    )
    return Split(adversary, target, report)


def whole_groups(values: Sequence[Hashable], count: int, rng: np.random.Generator) -> list[int]:
    """The rows of whole groups, drawn at random until they are ``count`` or more, in their order."""
    sizes = Counter(values)
    order = list(sizes)
    kept: set[Hashable] = set()
    held = 0
    for number in rng.permutation(len(order)):
        if held >= count:
            break
        kept.add(order[number])
        held += sizes[order[number]]
    return [row for row, value in enumerate(values) if value in kept]


def _values(corpus: Corpus, column: str) -> set[Hashable]:
    return {_key(value) for value in corpus.column(column) if value is not None}


def _key(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


def _by_group(corpus: Corpus, by: str | None, attribute: str | None, share: float, seed: int) -> tuple[Any, Any]:
    """Usable rows, and which of them are the adversary's."""
    keys: list[Hashable] = list(range(len(corpus))) if by is None else [_key(v) for v in corpus.column(by)]
    usable = np.array([i for i, key in enumerate(keys) if key is not None], dtype=np.int64)
    number: dict[Hashable, int] = {}
    group = np.array([number.setdefault(keys[i], len(number)) for i in usable], dtype=np.int64)
    if len(number) < 2:
        raise DataError(
            f"{corpus.name}: column '{by}' has {len(number)} group(s), a split needs at least 2; "
            "choose another column or split by row"
        )
    sizes = np.bincount(group)
    labels = None if attribute is None else [_key(v) for v in corpus.column(attribute)]
    strata = _strata(group, None if labels is None else [labels[i] for i in usable])
    rng = seeds.generator(seed, "corpora", "split", by or "")
    chosen = np.zeros(len(number), dtype=bool)
    for stratum in strata:
        order = rng.permutation(stratum)
        if len(order) == 1:
            chosen[order] = rng.random() < share
        else:
            chosen[order[: _cut(np.cumsum(sizes[order]), share)]] = True
    if chosen.all() or not chosen.any():
        flip = rng.integers(len(chosen))
        chosen[flip] = ~chosen[flip]
    return usable, chosen[group]


def _strata(group: Any, labels: list[Hashable] | None) -> list[Any]:
    """Groups that are dealt together: those of one attribute value; values with a single group are pooled."""
    if labels is None:
        return [np.unique(group)]
    main: dict[int, dict[Hashable, int]] = {}
    for g, label in zip(group.tolist(), labels, strict=True):
        counts = main.setdefault(g, {})
        counts[label] = counts.get(label, 0) + 1
    members: dict[Hashable, list[int]] = {}
    for g, counts in main.items():
        members.setdefault(max(counts, key=lambda label: counts[label]), []).append(g)
    several = [np.array(m) for m in members.values() if len(m) > 1]
    single = [m[0] for m in members.values() if len(m) == 1]
    return several + ([np.array(single)] if single else [])


def _cut(running: Any, share: float) -> int:
    """How many of the ordered groups come nearest to the share, at least one on either side."""
    nearest = int(np.argmin(np.abs(running - share * running[-1]))) + 1
    return min(max(nearest, 1), len(running) - 1)


def _by_time(corpus: Corpus, time: str, share: float, later: bool) -> tuple[Any, Any]:
    values = corpus.column(time)
    usable = np.array([i for i, v in enumerate(values) if v is not None], dtype=np.int64)
    moments = _moments([values[i] for i in usable], usable, f"{corpus.name}: column '{time}'")
    distinct, sizes = np.unique(moments, return_counts=True)
    if len(distinct) < 2:
        raise DataError(f"{corpus.name}: column '{time}' has {len(distinct)} distinct time(s), a split needs 2")
    cut = _cut(np.cumsum(sizes), 1.0 - share if later else share)
    early = moments <= distinct[cut - 1]
    return usable, ~early if later else early


def _moments(values: Sequence[Any], rows: Any, where: str) -> Any:
    out = np.empty(len(values), dtype=np.float64)
    for i, value in enumerate(values):
        moment = _moment(value)
        if moment is None:
            raise DataError(f"{where} row {int(rows[i]) + 1} is not a date; use numbers or ISO dates (2024-05-31)")
        out[i] = moment
    return out


def _moment(value: Any) -> float | None:
    """Seconds since 1970 of a date, or the number itself; a time without a zone counts as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip())
        except ValueError:
            value = float(value) if looks_numeric(value) else None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, datetime.datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
        return (zoned - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)).total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond any float
        return None
