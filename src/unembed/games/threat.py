"""The threat model as data: what an adversary holds, and which adversaries an audit plays by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Capability(StrEnum):
    """One thing an adversary may hold."""

    VECTORS = "vectors"
    QUERIES = "query access"
    WEIGHTS = "weights"
    SHADOW_CORPUS = "shadow corpus"
    EXTERNAL_CORPUS = "external corpus"
    PAIRS = "pairs"
    LABELS = "labels"
    FORMAT = "the format"
    DEFENSE = "the defense"
    RELEASES = "several releases"
    TEXTS = "the texts"


MEANINGS: dict[Capability, str] = {
    Capability.VECTORS: "the vectors under attack",
    Capability.QUERIES: "may have texts of their own encoded by the same model",
    Capability.WEIGHTS: "the model's weights",
    Capability.SHADOW_CORPUS: "texts of the same kind as the targets",
    Capability.EXTERNAL_CORPUS: "public text of another kind",
    Capability.PAIRS: "texts together with their vectors",
    Capability.LABELS: "the sensitive attribute of some texts",
    Capability.FORMAT: "the format of the secret",
    Capability.DEFENSE: "which defense is in use",
    Capability.RELEASES: "the same vectors as they were stored several times, their noise drawn anew each time",
    Capability.TEXTS: "the texts under attack themselves: only yardsticks, to compare with, are given them",
}


def closure(capabilities: Iterable[Capability]) -> frozenset[Capability]:
    """Adds what follows: whoever may query and has any text can make pairs."""
    held = set(capabilities)
    if Capability.QUERIES in held and held & {Capability.SHADOW_CORPUS, Capability.EXTERNAL_CORPUS}:
        held.add(Capability.PAIRS)
    return frozenset(held)


@dataclass(frozen=True)
class Adversary:
    """A named set of capabilities."""

    name: str
    title: str
    description: str
    capabilities: frozenset[Capability]

    @property
    def inside(self) -> bool:
        """Whether it holds part of the collection, and not only public text."""
        return Capability.SHADOW_CORPUS in self.capabilities

    def missing(self, required: Iterable[Capability]) -> list[Capability]:
        """Which of the required capabilities this adversary lacks."""
        held = closure(self.capabilities)
        return sorted(set(required) - held)


_OUTSIDE = frozenset({Capability.VECTORS, Capability.QUERIES, Capability.EXTERNAL_CORPUS})
_INSIDE = frozenset(
    {Capability.VECTORS, Capability.QUERIES, Capability.SHADOW_CORPUS, Capability.PAIRS, Capability.LABELS}
)

#: Played by default, from weak to strong.
ADVERSARIES: dict[str, Adversary] = {
    "outsider": Adversary(
        "outsider",
        "An outsider with the vectors",
        "Holds a copy of the vectors and public text of another kind, and can have text encoded by the same "
        "model. Has never seen a text of this collection.",
        _OUTSIDE,
    ),
    "insider": Adversary(
        "insider",
        "Somebody with part of the collection",
        "Holds the vectors, and for another part of the collection also the texts (a leaked backup, a former "
        "employee, one's own messages). No text under attack, nor a near-duplicate of one, is in that part.",
        _INSIDE,
    ),
    "weights": Adversary(
        "weights",
        "Somebody with part of the collection and the model's weights",
        "As the insider, and can also run and take apart the model itself, because its weights are open.",
        _INSIDE | {Capability.WEIGHTS},
    ),
}

#: Who carries out an attack that is run alone, unless somebody else is named.
USUAL = "insider"
