"""A small grammar engine for invented text: rules from a plain file, choices from a seeded generator.

A grammar file has sections ``[symbol]``; each line below is one alternative, a line that starts with ``=``
is a list of alternatives between commas. ``{symbol}`` expands, ``{symbol:s}`` expands to a plural,
``(a|b|)`` chooses one part, ``a~`` becomes *a* or *an*. A symbol in capitals is filled by the caller and
remembered with its place in the text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from importlib import resources

Span = tuple[str, int, int]
Fill = Callable[[str], tuple[str, str]]
"""From a symbol in capitals to (kind, value)."""

_REF = re.compile(r"\{([a-zA-Z_]+)(:s)?\}")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_OPEN, _MIDDLE, _CLOSE = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"{_OPEN}([^{_MIDDLE}]*){_MIDDLE}([^{_CLOSE}]*){_CLOSE}")
_ARTICLE = re.compile(rf"\b([Aa])~ ({_OPEN}[^{_MIDDLE}]*{_MIDDLE})?(\w+)")
_SENTENCE = re.compile(r"(^|[.!?…]\s+|\n\s*)([a-z])")
_LIKE_CONSONANT = ("uni", "use", "eu", "one", "usu", "ura")
_SILENT_H = ("hour", "honest", "heir", "honour")


class Grammar:
    """Symbols with their alternatives."""

    def __init__(self, rules: dict[str, list[str]]) -> None:
        self.rules = rules

    def expand(
        self,
        symbol: str,
        rng: random.Random,
        *,
        fill: Fill | None = None,
        prefer: dict[str, list[str]] | None = None,
    ) -> tuple[str, list[Span]]:
        """A text for a symbol, and where the filled symbols lie in it.

        ``prefer`` narrows the alternatives of some symbols: the habits of a writer.
        """
        raw = self._grow("{" + symbol + "}", rng, fill, prefer or {})
        return _finish(raw)

    def _grow(self, pattern: str, rng: random.Random, fill: Fill | None, prefer: dict[str, list[str]]) -> str:
        while "|" in pattern:
            match = _CHOICE.search(pattern)
            if match is None:
                break
            chosen = rng.choice(match.group(1).split("|"))
            pattern = pattern[: match.start()] + chosen + pattern[match.end() :]

        def replace(match: re.Match[str]) -> str:
            symbol, plural = match.group(1), match.group(2)
            if symbol.isupper():
                kind, value = fill(symbol) if fill else (symbol.lower(), symbol)
                return f"{_OPEN}{kind}{_MIDDLE}{value}{_CLOSE}"
            alternatives = self.rules[symbol]
            if symbol in prefer and rng.random() < 0.85:
                alternatives = prefer[symbol]
            grown = self._grow(rng.choice(alternatives), rng, fill, prefer)
            return plural_of(grown) if plural else grown

        return _REF.sub(replace, pattern)


@cache
def load_grammar(*names: str) -> Grammar:
    """The grammar of one or more shipped files; later files add to earlier ones."""
    rules: dict[str, list[str]] = {}
    for name in names:
        source = resources.files("unembed.corpora.generators").joinpath("grammars", f"{name}.txt")
        current: list[str] = []
        for line in source.read_text(encoding="utf-8").splitlines():
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("[") and line.endswith("]"):
                current = rules.setdefault(line[1:-1], [])
            elif line.startswith("="):
                current.extend(part.strip() for part in line[1:].split(",") if part.strip())
            else:
                current.append(line.replace("\\e", ""))
    return Grammar(rules)


def plural_of(noun: str) -> str:
    """The regular English plural."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _finish(raw: str) -> tuple[str, list[Span]]:
    raw = _ARTICLE.sub(_article, raw)
    raw = re.sub(r"[ \t]+", " ", raw)
    raw = re.sub(r" ([.,!?;:])", r"\1", raw).strip()
    raw = _SENTENCE.sub(lambda m: m.group(1) + m.group(2).upper(), raw)
    pieces: list[str] = []
    spans: list[Span] = []
    length = last = 0
    for match in _MARKED.finditer(raw):
        before, value = raw[last : match.start()], match.group(2)
        start = length + len(before)
        length = start + len(value)
        pieces += [before, value]
        spans.append((match.group(1), start, length))
        last = match.end()
    return "".join([*pieces, raw[last:]]), spans


def _article(match: re.Match[str]) -> str:
    article, mark, word = match.group(1), match.group(2) or "", match.group(3)
    low = word.lower()
    vowel = (low[0] in "aeiou" and not low.startswith(_LIKE_CONSONANT)) or low.startswith(_SILENT_H)
    vowel = vowel or low == "x"
    return f"{article}{'n' if vowel else ''} {mark}{word}"
