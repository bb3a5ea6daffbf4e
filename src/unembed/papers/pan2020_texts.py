"""The two case studies of Pan VI on open data: who holds which texts.

| paper | published on | stand-in |
|---|---|---|
| Medical | descriptions of CMS records, 10 body words | ``medical_procedures`` |
| Airline | Skytrax reviews, 10 cities | ``airline_sentences`` |
| external corpus | Yelp-Food, sentences with *salad* | ``restaurant_sentences`` |

As in the paper the adversary's shadow corpus is the smaller part, one to ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates, remove_leaks
from unembed.corpora.splits import Split, split_corpus
from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import build_vocabulary
from unembed.errors import DataError
from unembed.papers.base import Conditions, by_size
from unembed.papers.datasets import read
from unembed.papers.texts import Texts, joined, sample
from unembed.seeds import generator, seed_for

BODY = ("leg", "hand", "spine", "chest", "ankle", "head", "hip", "arm", "face", "shoulder")
CITIES = (
    *("hong kong", "london", "toronto", "paris", "rome"),
    *("sydney", "dubai", "bangkok", "singapore", "frankfurt"),
)
PLACE = "salad"
SHADOW, EXTERNAL = "shadow corpus", "external corpus"
#: Where the texts lie: data set, column of the text.
_SETS = {"Medical": ("medical_procedures", "description"), "Airline": ("airline_sentences", "sentence")}
_KEYWORDS = {"Medical": BODY, "Airline": CITIES}
#: No limit: texts are taken as they come.
ALL = 10**9


@dataclass(frozen=True)
class Numbers:
    """How many texts an experiment takes at one size.

    ``holding``: the most texts with each keyword; ``others``: further texts; ``samples``: training texts per keyword,
    half of which hold it.
    """

    holding: int
    others: int
    samples: int
    external: int


NUMBERS = by_size(Numbers(60, 200, 40, 200), Numbers(80, 1_500, 200, 400), Numbers(ALL, ALL, 4_000, 2_000))


@dataclass(frozen=True)
class CaseStudy(Texts):
    """The texts of one case study, its keywords, and the word in whose place the outsider puts them."""

    keywords: tuple[str, ...] = ()
    place: str | None = None

    def absent(self, count: int, seed: int) -> tuple[str, ...]:
        """Words of the external corpus that no target holds (Pan Table III)."""
        vocabulary = build_vocabulary(self.known[EXTERNAL].texts, size=3_000, min_count=2)
        words = [w for w, content in zip(vocabulary.words, vocabulary.content, strict=True) if content and len(w) > 3]
        held = np.atleast_1d(contains_keyword(self.target.texts, words).any(axis=0))
        free = [w for w, there in zip(words, held, strict=True) if not there and w != PLACE]
        if len(free) < count:
            raise DataError(f"the external corpus has {len(free)} words that no target holds, {count} are wanted")
        return tuple(free[i] for i in np.sort(generator(seed, "absent").permutation(len(free))[:count]))


def case_study(name: str, conditions: Conditions, numbers: Numbers | None = None) -> CaseStudy:
    """The case study by its name in the paper; at size smoke on invented texts."""
    numbers = numbers or NUMBERS[conditions.size]
    if conditions.size == "smoke":
        return _invented(name, conditions, numbers)
    seed = seed_for(conditions.seed, "pan", name)
    keywords = _KEYWORDS[name]
    texts, _ = drop_duplicates(read(conditions, *_SETS[name]))
    held = contains_keyword(texts.texts, keywords)
    rng = generator(seed, "texts")
    chosen = {
        int(r) for k in range(len(keywords)) for r in rng.permutation(np.flatnonzero(held[:, k]))[: numbers.holding]
    }
    rest = [int(r) for r in rng.permutation(len(texts)) if int(r) not in chosen][: numbers.others]
    split = split_corpus(texts.select(sorted({*chosen, *rest})), share=1 / 11, seed=seed)
    menu, _ = drop_duplicates(read(conditions, "restaurant_sentences", "sentence"))
    menu = menu.select(np.flatnonzero(contains_keyword(menu.texts, [PLACE])[:, 0]))
    external, _ = remove_leaks(sample(menu, numbers.external, seed, "external"), split.target)
    notes = (
        f"{name}: {len(split.target):,} targets, a shadow corpus of {len(split.adversary):,} texts, an external corpus "
        f"of {len(external):,} restaurant sentences with '{PLACE}', in whose place the keywords are put",
    )
    return _study(split, external, notes, keywords, PLACE)


def _study(
    split: Split, external: Corpus, notes: tuple[str, ...], keywords: Sequence[str], place: str | None
) -> CaseStudy:
    known = {SHADOW: split.adversary, EXTERNAL: external}
    fit = joined(list(known.values()), "all but the targets")
    return CaseStudy(split.target, known, fit, notes, keywords=tuple(keywords), place=place)


def _invented(name: str, conditions: Conditions, numbers: Numbers) -> CaseStudy:
    from unembed.corpora.generators.messages import generate_messages
    from unembed.corpora.generators.public_text import generate_public_text

    seed = seed_for(conditions.seed, "pan", name)
    messages, _ = drop_duplicates(generate_messages(numbers.others * 3, authors=40, seed=seed % 2**31))
    split = split_corpus(messages, share=0.3, seed=seed)
    vocabulary = build_vocabulary(split.target.texts, size=400, min_count=10)
    words = [w for w, c in zip(vocabulary.words, vocabulary.content, strict=True) if c and len(w) > 3]
    share = contains_keyword(split.target.texts, words).mean(axis=0)
    usual = [w for w, part in zip(words, share, strict=True) if part < 0.5]
    external = generate_public_text(numbers.external, seed=seed % 2**31)
    return _study(split, external, (), usual[:10], None)


def fewer(corpus: Corpus, count: int, keywords: Sequence[str], seed: int) -> Corpus:
    """A smaller shadow corpus in which every keyword still stands at least twice, where that is possible."""
    held = contains_keyword(corpus.texts, keywords)
    rng = generator(seed, "fewer", count)
    order = rng.permutation(len(corpus))
    must = [int(r) for k in range(len(keywords)) for r in [r for r in order if held[r, k]][:2]]
    kept = list(dict.fromkeys([*must, *(int(r) for r in order)]))[: max(count, 4)]
    return replace(corpus.select(sorted(kept)), name=f"{corpus.name}, {len(kept)} texts")
