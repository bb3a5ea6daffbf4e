"""How much of the texts the encoder reads: counted for the report, and per target for the games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unembed.corpora.chunks import count_words
from unembed.encoders.base import Encoder, LimitedEncoder, Seen
from unembed.encoders.cache import inside
from unembed.results.schema import Coverage
from unembed.runner.prepare import Sides

#: Families that count every word of a text, however long it is.
WHOLE_TEXTS = frozenset({"tfidf", "hashing", "lsa", "doc2vec", "word2vec", "fasttext", "glove"})
#: A text of more words is long: about here the encoders with the shortest inputs in use stop reading.
LONG = 200


def with_coverage(sides: Sides, encoder: Encoder) -> Sides:
    """The sides with what the encoder reads of them on their cards."""
    model = inside(encoder)
    if model.card.family in WHOLE_TEXTS:
        return sides
    corpora = {"target": sides.target, "adversary": sides.known["inside"], "external": sides.known.get("external")}
    seen = {
        role: model.seen(corpus.texts) if isinstance(model, LimitedEncoder) else None
        for role, corpus in corpora.items()
        if corpus is not None
    }
    cards = [
        card.model_copy(update={"coverage": _coverage(seen[card.role], corpora[card.role].texts)})  # type: ignore[union-attr]
        if card.role in seen
        else card
        for card in sides.cards
    ]
    targets = seen["target"]
    read = targets.characters if targets is not None and targets.cut.any() else None
    return replace(sides, cards=cards, seen=read)


def _coverage(seen: Seen | None, texts: Sequence[str]) -> Coverage:
    if seen is None:
        long = sum(len(text) > LONG and count_words(text) > LONG for text in texts)
        return Coverage(limit=None, texts=len(texts), longer=long)
    return Coverage(
        limit=seen.limit,
        kept=seen.kept,
        texts=len(texts),
        longer=int(seen.cut.sum()),
        tokens=int(seen.tokens.sum()),
        unread=int((seen.tokens - seen.read).sum()),
    )
