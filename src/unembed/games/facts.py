"""What a game says of itself, to those who plan an audit, form its verdict and write its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class GameFacts:
    """What a reader of the report needs to know about a game.

    ``attacks_of`` names the game whose attacks play this one too, where it has none of its own: the adversary
    gets the same knowledge and says the same kind of thing, and only the targets and the judging differ.
    ``plays_texts``: the game never looks into a vector, so a yardstick can play it with texts instead.
    ``needs_lineup``: its material holds other encoders that might have made the vectors.
    ``needs_map``: it is asked of defenses that are one secret map, and of adversaries who know them; its material holds
    the vectors before that map.
    ``needs_training``: it is asked where it is known which texts the model itself learnt from.
    ``evidence``: further metrics that must agree before a finding says "no leak found".
    ``counts_hits``: the metric is a share of right answers, so that a multiple of the floor means something.
    ``exposed``: the metric that counts texts laid open, where there is one.
    ``gravest``: the highest level a leak is given, where even a complete one tells the adversary little that is new.
    ``private_params``, ``private_slices``: parameters, and kinds of slices, that hold words of the collection or names
    of people. They are masked in results.
    ``section``: the section of the report that shows its findings: words, people, keywords, word lists, classes,
    numbers, secrets, training; none: they stand among the measurements alone.
    ``learns_from``: what an adversary learns from, as counted in ``Deal.pairs``; none: pairs of text and vector.
    ``of_columns``: it asks about columns that the user names. ``set_by``: parameters that have an option of their own.
    ``default``: an audit asks it unless told otherwise. ``curve``: it is asked of fewer pairs too.
    ``with_references``: the question is asked of reference encoders too. It needs no queries then.
    """

    name: str
    question: str
    metric: str
    metric_meaning: str
    consequence: str
    tags: tuple[str, ...] = ()
    version: int = 1
    attacks_of: str | None = None
    plays_texts: bool = False
    needs_lineup: bool = False
    needs_map: bool = False
    needs_training: bool = False
    evidence: tuple[str, ...] = ()
    counts_hits: bool = True
    exposed: str | None = None
    gravest: Literal["low", "moderate", "high"] = "high"
    private_params: tuple[str, ...] = ()
    private_slices: tuple[str, ...] = ()
    with_references: bool = False
    section: str | None = None
    of_columns: bool = False
    set_by: tuple[tuple[str, str], ...] = ()
    default: bool = True
    curve: bool = False
    learns_from: str | None = None

    @property
    def played_by(self) -> str:
        """The game that attacks on this one name as theirs."""
        return self.attacks_of or self.name
