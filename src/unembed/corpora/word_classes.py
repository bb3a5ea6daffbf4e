"""Which class each word of a vocabulary belongs to: names, numbers, other; or parts of speech.

Words are classed by how they stand in the texts, most frequent use first, because sets of words are what is
scored. ``"rules"`` needs only a list of names. ``"textblob"`` uses the English tagger of that package,
if it is installed: its lexicon comes with it, nothing is downloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from unembed.corpora.names import find_names
from unembed.corpora.words import fold, stop_words
from unembed.errors import UnknownNameError, UsageError

TAGGERS = ("rules", "textblob")
_TAGS = {"NNP": "names", "NN": "nouns", "VB": "verbs", "JJ": "adjectives", "RB": "adverbs", "CD": "numbers"}


def word_classes(
    texts: Sequence[str], vocabulary: Sequence[str], how: str, *, names: Sequence[str] = (), language: str = "en"
) -> list[str]:
    """One class per word of the vocabulary; function words get ""."""
    if how not in TAGGERS:
        raise UnknownNameError("way to class words", how, TAGGERS)
    function = stop_words(language)
    found = (
        _by_tags(texts, vocabulary, language) if how == "textblob" else _by_rules(texts, vocabulary, names, language)
    )
    return ["" if word in function else kind for word, kind in zip(vocabulary, found, strict=True)]


def _by_rules(texts: Sequence[str], vocabulary: Sequence[str], names: Sequence[str], language: str) -> list[str]:
    people = set(find_names(texts, names, language=language)) if names else set()
    return ["names" if word in people else "other" if any(map(str.isalpha, word)) else "numbers" for word in vocabulary]


def _by_tags(texts: Sequence[str], vocabulary: Sequence[str], language: str) -> list[str]:
    if language != "en":
        raise UsageError(f"the tagger of textblob is for English texts, not '{language}': use classes='rules'")
    if find_spec("textblob") is None:
        raise UsageError("classes='textblob' needs that package: pip install textblob, or use classes='rules'")
    tag = import_module("textblob.en").tag
    uses: dict[str, Counter[str]] = {word: Counter() for word in vocabulary}
    for text in texts:
        for word, penn in tag(text):
            if (key := fold(word)) in uses:
                uses[key][_class_of(penn)] += 1
    # A word that stands in none of the texts is classed as it is alone.
    return [
        uses[word].most_common(1)[0][0] if uses[word] else next((_class_of(penn) for _, penn in tag(word)), "other")
        for word in vocabulary
    ]


def _class_of(penn: str) -> str:
    return next((name for start, name in _TAGS.items() if penn.startswith(start)), "other")
