"""How questions follow from an audit: from its columns, its options, and from what each adversary holds.

A game that says nothing here is played once, with the parameters given for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from unembed.corpora.corpus import Corpus
from unembed.games.base import Askable, SomeGame
from unembed.games.threat import Adversary
from unembed.params import Parametrised, Params
from unembed.strict import Strict


class Options(Strict):
    """What a user may say to a game, in a section of the audit file that has the game's name.

    A game names its own as ``Options``. ``quick`` are smaller numbers for a quick audit, ``flags`` the options of the
    command line that set a field.
    """

    quick: ClassVar[Mapping[str, object]] = {}
    flags: ClassVar[Mapping[str, str]] = {}

    def lacking(self) -> str | None:
        """What the game can't be played without and was not given, with the option that gives it; None: nothing."""
        return None


Section = TypeVar("Section", bound=Options)


@dataclass(frozen=True)
class Audited:
    """What an audit holds that a question can follow from.

    ``inside`` is the part of the collection that insiders hold, ``columns`` are those to infer. ``games`` are all that
    were asked for; ``options`` and ``params`` are given by the name of a game.
    """

    target: Corpus
    inside: Corpus
    columns: tuple[str, ...]
    games: tuple[str, ...]
    options: Mapping[str, Options]
    params: Mapping[str, Params]
    can_encode: bool
    """Whether further texts can be encoded; stored vectors come alone."""

    def said(self, game: str, kind: type[Section]) -> Section:
        """The section of the audit file that has the game's name."""
        section = self.options[game]
        assert isinstance(section, kind), f"the options of '{game}' are {type(section).__name__}"
        return section

    def given(self, game: str) -> Params:
        """The parameters given for a game."""
        return dict(self.params.get(game, {}))


@dataclass(frozen=True)
class Question:
    """A game to be played. ``public``: the user named what it asks for, so that nothing of it needs masking.

    ``name`` is what the audit calls the game: its own name, or the file it stands in.
    """

    game: Askable
    public: bool = False
    name: str = ""


@dataclass(frozen=True)
class Refused:
    """What is not asked, and why."""

    what: str
    reason: str


@runtime_checkable
class FollowsFromAudit(Protocol):
    """A game that makes its own questions of what an audit holds."""

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """Every question, and what is left out."""
        ...


@runtime_checkable
class Seating(Protocol):
    """A game that gives its adversaries more than they have, or sends some away."""

    def seat(self, adversary: Adversary, known: Corpus, others: Sequence[Adversary]) -> Adversary | str:
        """The adversary as it plays, or why it does not; ``known`` are its texts, ``others`` who else is asked for."""
        ...


class PlainGame(Parametrised):
    """What most games say: there is no narrower subject, and the adversary's own texts are all that is encoded."""

    @property
    def subject(self) -> str | None:
        """What in particular is asked for."""
        return None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """Texts the adversary will want encoded besides its own."""
        return []


def questions_of(name: str, make: type[SomeGame], audited: Audited) -> Iterator[Question | Refused]:
    """The questions of one game."""
    if isinstance(make, FollowsFromAudit):
        yield from make.for_audit(audited)
    else:
        yield Question(make(**audited.given(name)))
