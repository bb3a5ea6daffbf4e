"""What a finding means in words: each game says it itself, and the verdict puts it into a sentence."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from unembed.metrics.estimate import Estimate


class Figures(Protocol):
    """The figures of a finding, as far as a claim needs them."""

    game: str
    subject: str | None
    about: Literal["collection", "encoder"]
    estimate: Estimate
    floor: Estimate
    secondary: dict[str, Estimate]
    secondary_floors: dict[str, float]


@runtime_checkable
class Claiming(Protocol):
    """A game that says in its own words what an adversary can do."""

    @staticmethod
    def claim(found: Figures) -> str:
        """The end of a sentence that begins with the adversary: "can tell …".

        Where the finding is about the encoder, because no text of the user's is a target, a sentence of its own.
        """
        ...


def claim_of(game: object, found: Figures) -> str:
    """The game's own claim, or a plain one."""
    if isinstance(game, Claiming):
        return game.claim(found)
    return f"scores {found.estimate.value:.0%} in '{found.game}' (guessing: {found.floor.value:.0%})"
