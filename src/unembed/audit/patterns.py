"""The patterns an audit asks for: whether the collection holds such secrets, or the challenger writes some down."""

from __future__ import annotations

from typing import Any

from unembed.audit.prepare import Sides
from unembed.audit.spec import AuditSpec
from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns import parse_pattern
from unembed.games.pattern import FEWEST_FOUND, PatternGame
from unembed.games.threat import Adversary, Capability
from unembed.results.schema import Skipped


def pattern_games(spec: AuditSpec, sides: Sides, given: dict[str, Any]) -> tuple[list[PatternGame], list[Skipped]]:
    """One game a format; of stored vectors only what stands in the texts can be asked about.

    Where the targets come from is settled here, so that everything is encoded beforehand.
    """
    formats = list(dict.fromkeys(spec.pattern.formats))
    if not formats:
        return [], [Skipped(what="pattern", reason="no pattern was named (--pattern NAME or FORMAT)")]
    games, skipped = [], []
    for format in formats:
        settings = {"pattern": format, "pairs": spec.pattern.pairs, "sentences": spec.pattern.sentences, **given}
        if settings.get("targets", "auto") == "auto":
            settings["targets"] = "found" if _holding(format, sides.target) >= FEWEST_FOUND else "planted"
        if settings["targets"] == "planted" and spec.data.vectors is not None:
            skipped.append(
                Skipped(
                    what=f"pattern {format}",
                    reason=f"fewer than {FEWEST_FOUND} target texts hold such a secret, and without the encoder none "
                    "can be written down and encoded",
                )
            )
            continue
        games.append(PatternGame(**settings))
    return games, skipped


def adds_nothing(game: Any, adversary: Adversary, spec: AuditSpec, sides: Sides) -> bool:
    """Whether texts of the collection give an adversary nothing that the outsider lacks: no secret stands in them."""
    if not isinstance(game, PatternGame) or game.targets != "planted":
        return False
    others = adversary.name != "outsider" and "outsider" in spec.adversaries
    return others and not _holding(game.pattern, sides.known[sides.known_to(adversary.name)])


def _holding(format: str, texts: Corpus) -> int:
    """How many texts hold a valid secret."""
    pattern = parse_pattern(format)
    return sum(any(o.problem is None for o in pattern.find(text)) for text in texts.texts)


def with_format(adversary: Adversary) -> Adversary:
    """Whoever attacks a pattern knows its format (Pan, assumption 3a): formats of numbers are public."""
    held = adversary.capabilities | {Capability.FORMAT}
    return Adversary(adversary.name, adversary.title, adversary.description, held)
