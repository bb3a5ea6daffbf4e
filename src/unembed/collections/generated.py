"""Collections that are made up here, for demonstrations and for adversaries without texts of their own."""

from __future__ import annotations

from unembed.collections.base import Collection, Wanted
from unembed.corpora.corpus import Corpus
from unembed.corpora.generators import GENERATORS
from unembed.seeds import seed_for

#: What a generator makes where nobody says how much.
USUAL_ROWS = 10_000


def open_generated(wanted: Wanted) -> Collection:
    """What the generator named by the place makes; a column that it doesn't make is an error."""
    seed = seed_for(wanted.seed, "generator", f"generator:{wanted.place}")
    made: Corpus = GENERATORS.get(wanted.place)(wanted.max_rows or USUAL_ROWS, seed=seed)
    for column in wanted.columns:
        made.column(column)
    return Collection(made, {"generated": True})
