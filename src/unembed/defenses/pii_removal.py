"""Removal of personal data from texts before they are encoded (Corò 2022, 3.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Self

from unembed.corpora.personal import KINDS, check_kind, kind_name, personal_spans
from unembed.defenses.base import DefenseFacts, Owned
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.params import Parametrised

#: Where something starts and ends in a text, and what it is called.
Found = tuple[int, int, str]


class PiiRemoval(Parametrised):
    """Puts the name of a kind in brackets, as in ``[phone number]``, in the place of personal data in the texts.

    What is not recognised stays, and so does what the rest of a text tells of a person: this is good practice and no
    guarantee. Vectors are left as they are. Each text is cleaned alone, so that it becomes the same in any company.

    Args:
        kinds: What is removed, of the own engine: kinds of :mod:`unembed.corpora.personal`, or ``NAME=REGEX``.
        engine: ``own``: the recognisers that come with unembed; ``presidio``: those of Presidio that need no model.
        seed: Nothing follows from it.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="pii-removal",
        title="Removal of personal data from the texts",
        paper="coro2022",
        section="3.1.3",
        departures="the thesis recommends it for training data, with terms and patterns of one's own; here it stands "
        "before an encoder",
    )

    kinds: Sequence[str] = KINDS
    engine: Literal["own", "presidio"] = "own"
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing to learn."""
        self._finder()
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """The vectors as they are: what had to be done was done to the texts."""
        return vectors

    def clean(self, texts: Sequence[str]) -> list[str]:
        """The texts without what was recognised."""
        find = self._finder()
        return [_cleaned(text, find(text)) for text in texts]

    def _finder(self) -> Callable[[str], list[Found]]:
        if self.engine == "presidio":
            from unembed.defenses.presidio import presidio_spans

            if tuple(self.kinds) != KINDS:
                raise UsageError("'kinds' of the defense 'pii-removal' are those of its own engine, not of Presidio")
            return presidio_spans
        if self.engine != "own":
            raise UsageError(f"'engine' of the defense 'pii-removal' is 'own' or 'presidio', not '{self.engine}'")
        if isinstance(self.kinds, str) or not self.kinds:
            raise UsageError("'kinds' of the defense 'pii-removal' is a list with at least one kind")
        for kind in self.kinds:
            check_kind(kind)
        return lambda text: personal_spans(text, self.kinds)


def _cleaned(text: str, found: Sequence[Found]) -> str:
    for start, end, kind in reversed(found):
        text = f"{text[:start]}[{_plain(kind)}]{text[end:]}"
    return text


def _plain(kind: str) -> str:
    """The name of a kind without its article."""
    return kind_name(kind).removeprefix("a ").removeprefix("an ")
