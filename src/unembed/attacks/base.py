"""The contract of an attack: an adversary for one game, without access to the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from unembed.games.base import G_out, Indexed, K_in, Knowledge, Player
from unembed.games.threat import Capability


@dataclass(frozen=True)
class AttackFacts:
    """What every attack says of itself.

    ``version`` goes up whenever the attack's results may change; it is part of a cell's identity.
    ``default`` attacks run in an audit that names none. ``quick`` are parameters that save time in a quick audit.
    ``of_game`` are parameters of the game without which its answers hold nothing that this attack reads.
    ``by_hand`` says of an attack on something that no audit has what that is; an audit that names it says so too.
    """

    name: str
    game: str
    title: str
    requires: frozenset[Capability]
    cost: Literal["seconds", "minutes", "hours"]
    paper: str | None = None
    section: str | None = None
    departures: str | None = None
    version: int = 1
    default: bool = True
    quick: tuple[tuple[str, object], ...] = ()
    of_game: tuple[tuple[str, object], ...] = ()
    by_hand: str | None = None

    @property
    def reads_texts(self) -> bool:
        """Whether it is a yardstick: it is dealt texts in place of their vectors, so nothing leaks to it."""
        return Capability.TEXTS in self.requires


@runtime_checkable
class Attack(Player[K_in, G_out], Protocol[K_in, G_out]):
    """``fit`` on knowledge, ``run`` on vectors; parameters as in scikit-learn; random choices from ``seed``.

    What requires the capability ``TEXTS`` is a yardstick: the same deal, with texts wherever vectors would be.
    """

    facts: ClassVar[AttackFacts]
    seed: int

    def __init__(self, **params: object) -> None: ...


#: An attack for those who hand its knowledge and guesses on and look into none of them.
SomeAttack: TypeAlias = Attack[Knowledge, Indexed]


def check_attack_class(candidate: object) -> str | None:
    """What keeps an object from being an attack class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    facts = getattr(candidate, "facts", None)
    if not isinstance(facts, AttackFacts):
        return "it has no AttackFacts named 'facts'"
    if not all(isinstance(r, Capability) for r in facts.requires):
        return "'requires' of its facts holds something other than capabilities"
    wanted = ("fit", "run", "get_params", "set_params")
    absent = [m for m in wanted if not callable(getattr(candidate, m, None))]
    if absent:
        return f"it lacks {', '.join(absent)}"
    try:
        candidate().get_params()
    except Exception as error:
        return f"it can't be made with the defaults of its parameters: {type(error).__name__}: {error}"
    return None
