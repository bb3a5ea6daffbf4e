"""Forty-five ways in which a copy of a text comes to look different, to try what finds copies.

A copy of a text under attack that stays on the adversary's side turns every guess into a look-up: a random label then
reads as a leak. Each kind is made from a text, from an unrelated one (the words around it, the replacements) and from a
random generator.
"""

from __future__ import annotations

import quopri
import random
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence

from unembed.corpora.generators.public_text import generate_public_text

Make = Callable[[str, str, random.Random], str]

_CYRILLIC = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_GREEK = str.maketrans("aoviupABEHIKMNOPTX", "αονιυρΑΒΕΗΙΚΜΝΟΡΤΧ")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ARABIC_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_EMOJI = ("\N{GRINNING FACE}", "\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}", "\N{THUMBS UP SIGN}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def invented_texts(n: int, *, sentences: int = 6, seed: int = 0) -> list[str]:
    """Invented texts of some sixty words, each with a number in it; no two say the same."""
    rng = random.Random(seed)
    pool = [re.split(r"(?<=[.])\s+", text)[0] for text in generate_public_text(n * sentences, seed=seed).texts]
    starts = range(0, len(pool), sentences)
    return [" ".join((*pool[i : i + sentences], f"It took {rng.randint(100, 99_999)} days.")) for i in starts]


def short_texts(n: int, *, words: int = 8, seed: int = 0) -> list[str]:
    """Invented texts of so many words."""
    pool = [text.split()[:words] for text in generate_public_text(6 * n + 100, seed=seed).texts]
    return list(dict.fromkeys(" ".join(found) for found in pool if len(found) == words))[:n]


def make_twins(kind: str, texts: Sequence[str], others: Sequence[str], *, seed: int = 0) -> list[str]:
    """One twin of the kind per text; ``others`` are as many texts that have nothing to do with them."""
    rng = random.Random(f"{seed} {kind}")
    return [KINDS[kind](text, other, rng) for text, other in zip(texts, others, strict=True)]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text)


def _part(text: str, first: float, last: float) -> str:
    found = text.split()
    return " ".join(found[round(first * len(found)) : round(last * len(found))])


def _with_words_changed(text: str, other: str, rng: random.Random, amount: int) -> str:
    found, spare = text.split(), other.split()
    for i in rng.sample(range(len(found)), amount):
        found[i] = rng.choice([w for w in spare if w != found[i]])
    return " ".join(found)


def _ten_percent(text: str, other: str, rng: random.Random) -> str:
    return _with_words_changed(text, other, rng, round(len(text.split()) / 10))


def _mistyped(word: str, rng: random.Random) -> str:
    i, letter = rng.randrange(len(word)), rng.choice(_LETTERS)
    swapped = word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :]
    return rng.choice(
        (word[:i] + letter + word[i:], word[:i] + word[i + 1 :], swapped, word[:i] + letter + word[i + 1 :])
    )


def _typos(every: int) -> Make:
    def make(text: str, other: str, rng: random.Random) -> str:
        return " ".join(w if i % every else _mistyped(w, rng) for i, w in enumerate(text.split(), start=1))

    return make


def _shuffled(text: str, other: str, rng: random.Random) -> str:
    found = _sentences(text)
    return " ".join(rng.sample(found, len(found)))


def _between_letters(mark: str, every: int = 3) -> Make:
    def make(text: str, other: str, rng: random.Random) -> str:
        return re.sub(rf"(\w{{{every}}})(?=\w)", rf"\1{mark}", text)

    return make


def _bold_words(text: str, before: str, after: str) -> str:
    return " ".join(f"{before}{w}{after}" if i % 4 == 0 else w for i, w in enumerate(text.split()))


def _bold_letters(text: str) -> str:
    def bold(letter: str) -> str:
        kind = "CAPITAL" if letter.isupper() else "SMALL"
        return unicodedata.lookup(f"MATHEMATICAL BOLD {kind} {letter.upper()}")

    return re.sub("[A-Za-z]", lambda m: bold(m.group()), text)


def _numbers_changed(text: str, other: str, rng: random.Random) -> str:
    return re.sub(r"\d+", lambda m: str(rng.randint(100, 99_999)), text)


def _hyphenated(text: str) -> str:
    return re.sub(r"\b(\w{3})(\w{4,})\b", "\\1-\n\\2", text)


def _one_word_disguised(text: str, other: str, rng: random.Random) -> str:
    found = text.split()
    i = max(range(len(found)), key=lambda i: len(found[i]))
    return " ".join((*found[:i], found[i].translate(_CYRILLIC), *found[i + 1 :]))


def _with_emoji(text: str, other: str, rng: random.Random) -> str:
    return " ".join(w if i % 6 else f"{w} {rng.choice(_EMOJI)}" for i, w in enumerate(text.split(), start=1))


def _page(text: str) -> str:
    inner = "".join(f"<li class='s'>{s}</li>" for s in _sentences(text))
    return f"<html><!-- made by hand --><body><ul>{inner}</ul></body></html>"


KINDS: dict[str, Make] = {
    "exact": lambda t, o, r: t,
    "case": lambda t, o, r: t.upper(),
    "white space": lambda t, o, r: t.replace(" ", "  \t"),
    "punctuation": lambda t, o, r: re.sub(r"[.,;]", " –", t),
    "curly quotes": lambda t, o, r: f"“{t}”",
    "one word changed": lambda t, o, r: _with_words_changed(t, o, r, 1),
    "three words changed": lambda t, o, r: _with_words_changed(t, o, r, 3),
    "order of sentences": _shuffled,
    "Re: in front": lambda t, o, r: f"Re: {t}",
    "first three quarters": lambda t, o, r: _part(t, 0, 0.75),
    "short quote in front": lambda t, o, r: f"{_part(o, 0, 0.1)}: {t}",
    "<b> tags": lambda t, o, r: _bold_words(t, "<b>", "</b>"),
    "&nbsp;": lambda t, o, r: t.replace(" ", "&nbsp;"),
    "numeric entities": lambda t, o, r: re.sub("[aeiou]", lambda m: f"&#{ord(m.group())};", t),
    "zero-width space": _between_letters("\u200b"),
    "soft hyphen": _between_letters("\u00ad"),
    "byte order mark": lambda t, o, r: t.replace(" ", " \ufeff"),
    "direction marks": _between_letters("\u200e", 2),
    "variation selectors": _between_letters("\ufe0f"),
    "full-width forms": lambda t, o, r: t.translate(_FULL_WIDTH),
    "bold letters of mathematics": lambda t, o, r: _bold_letters(t),
    "Cyrillic look-alikes": lambda t, o, r: t.translate(_CYRILLIC),
    "Greek look-alikes": lambda t, o, r: t.translate(_GREEK),
    "combining marks": _between_letters("\u0323", 1),
    "quote in an equally long reply": lambda t, o, r: f"{_part(o, 0, 0.5)} {t} {_part(o, 0.5, 1)}",
    "half an excerpt": lambda t, o, r: _part(t, 0.25, 0.75),
    "10 % of words changed": _ten_percent,
    "typo in every fifth word": _typos(5),
    "one word of eight changed": lambda t, o, r: _with_words_changed(_part(t, 0, 1), o, r, 1),
    "new line per word": lambda t, o, r: "\n".join(t.split()),
    "Markdown emphasis": lambda t, o, r: _bold_words(t, "**", "**"),
    "URL appended": lambda t, o, r: f"{t} https://example.org/{r.randrange(10**9)}?id={r.randrange(10**6)}",
    "Arabic digits": lambda t, o, r: t.translate(_ARABIC_DIGITS),
    "greeting and signature": lambda t, o, r: f"Dear all,\n\n{t}\n\nMany thanks and kind regards,\n{_part(o, 0, 0.05)}",
    "order of sentences and case": lambda t, o, r: _shuffled(t, o, r).swapcase(),
    "numbers changed": _numbers_changed,
    "look-alikes in one word": _one_word_disguised,
    "quoted line by line": lambda t, o, r: "\n".join(f"> {line}" for line in textwrap.wrap(t, 72)),
    "quoted-printable": lambda t, o, r: quopri.encodestring(t.replace(" It", " – It").encode()).decode(),
    "emoji": _with_emoji,
    "hyphenation": lambda t, o, r: _hyphenated(t),
    "first 60 %": lambda t, o, r: _part(t, 0, 0.6),
    "two texts joined": lambda t, o, r: f"{t} {o}",
    "HTML page": lambda t, o, r: _page(t),
    "half of it in an equally long reply": lambda t, o, r: f"{_part(o, 0, 0.5)} {_part(t, 0.2, 0.7)}",
}
"""By name, what makes a twin of a text. ``one word of eight changed`` is meant for :func:`short_texts`."""
