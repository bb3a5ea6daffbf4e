"""People's names in texts: given as a list, or found by rules without a model.

The finder knows two signs, both only in texts with capitals:

1. A word of the given list (first names, say) that stands with a capital *inside* a sentence, and is hardly
   ever written in lower case in the same texts: "Rose" in a list of names is not a name where "rose" is a flower.
2. A word with a capital that follows a title or a name of the first kind and is never written in lower case:
   last names need no list.

In texts without any capital inside a sentence neither sign exists; there only the list counts, less function
words. What the rules miss is not measured, and what they take wrongly is measured as a name: look at the list
before quoting a figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unembed.corpora.words import STOP_WORDS, fold, stop_words, word_spans, words
from unembed.errors import DataError

# fmt: off
TITLES = frozenset({
    "mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "lady", "lord", "madame", "monsieur", "captain",
    "president", "senator", "minister",
    "signor", "signora", "signorina", "sig", "dott", "dottor", "dottoressa", "onorevole", "don", "donna",
})
# fmt: on
#: What may stand between two words of one sentence that belong together.
_INSIDE = " \t\u00a0,-–"
_JOINED = " \t\u00a0"


@dataclass
class _Seen:
    """How the words of some texts are written."""

    inside: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    after: dict[str, set[str]] = field(default_factory=dict)
    """For a word with a capital, the words it directly follows."""


def read_names(path: str | Path, column: str | None = None) -> tuple[str, ...]:
    """Names from a file: one per line, or a column of a table; each once, in the order of the file."""
    from unembed.corpora.readers import read_corpus

    names = tuple(dict.fromkeys(" ".join(t.split()) for t in read_corpus(str(path), column=column).texts))
    named = tuple(n for n in names if (found := words(n)) and any(map(str.isalpha, found[-1])))
    if not named:
        raise DataError(f"{path}: it holds no name; write one name per line")
    return named


def find_names(
    texts: Iterable[str], listed: Sequence[str], *, language: str = "en", lower_share: float = 0.05
) -> tuple[str, ...]:
    """The names in some texts, by falling number of texts that hold them.

    ``listed`` are words that may be names. One is taken if it stands with a capital inside a sentence and at
    most ``lower_share`` of its occurrences are in lower case.
    """
    seen = _look(texts)
    known = {fold(found[-1]) for name in listed if (found := words(name))}
    known -= STOP_WORDS | stop_words(language)
    if not seen.inside:
        chosen = {w for w in known if w in seen.texts and len(w) > 1}
    else:
        first = {
            w
            for w in known & seen.inside.keys()
            if seen.lower[w] <= lower_share * (seen.lower[w] + seen.inside[w]) and len(w) > 1
        }
        heads = first | TITLES
        last = {
            w
            for w, before in seen.after.items()
            if before & heads and not seen.lower[w] and len(w) > 1 and w not in TITLES and w not in STOP_WORDS
        }
        chosen = first | last
    return tuple(sorted(chosen, key=lambda w: (-seen.texts[w], w)))


def _look(texts: Iterable[str]) -> _Seen:
    seen = _Seen()
    for text in texts:
        spans = word_spans(text)
        seen.texts.update({word for word, _, _ in spans})
        for place, (word, start, end) in enumerate(spans):
            raw = text[start:end]
            if raw.islower():
                seen.lower[word] += 1
            if not raw[0].isupper() or (len(raw) > 1 and raw.isupper()) or not place:
                continue
            before, _, stop = spans[place - 1]
            gap = text[stop:start]
            # The full stop after a title ends no sentence.
            gap = gap.removeprefix(".") if before in TITLES else gap
            if gap and all(c in _INSIDE for c in gap):
                seen.inside[word] += 1
            named = before in TITLES or text[spans[place - 1][1]].isupper()
            if gap and named and all(c in _JOINED for c in gap):
                seen.after.setdefault(word, set()).add(before)
    return seen
