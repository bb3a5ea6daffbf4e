"""What makes a measurement this one and no other: everything that its result depends on, and nothing else.

A cell is addressed by its identity: the same identity is the same cell, whose result is taken from its file. So every
default is resolved, and a plug-in is known by the digest of its source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection

from pydantic import JsonValue

from unembed.strict import Strict


class Made(Strict):
    """A game, an attack or a transform with everything that changes what it does.

    ``name`` is how the registry finds it, ``called`` what people call it, ``source`` the digest of a plug-in's source.
    ``fitted`` is the digest of a saved defense and the place of this step in it: such a step learns nothing any more.
    """

    name: str
    called: str
    version: int
    params: dict[str, JsonValue]
    source: str | None = None
    fitted: str | None = None

    @property
    def seeding(self) -> list[JsonValue]:
        """What of it has a say in random choices: what it is and does, not where its file lies or how old it is."""
        return [self.name.rpartition(":")[2], self.params]


class CellIdentity(Strict):
    """One game with one attack by one adversary against one variant of the vectors."""

    version: int
    adversary: str
    capabilities: tuple[str, ...]
    game: Made
    subject: str | None
    attack: Made
    encoder: str
    transforms: tuple[Made, ...] = ()
    adaptive: bool | None = None
    known: str
    known_fingerprint: str
    target_fingerprint: str
    training: str | None = None
    group: str | None
    pairs: int | None
    calibrate: bool
    repeats: int
    threads: int
    device: str
    seed: int

    @property
    def key(self) -> str:
        """The name of the cell."""
        return digest_of(self.model_dump(mode="json"))

    @property
    def defense(self) -> str | None:
        """The transforms behind the encoder in words; None: there are none."""
        return " + ".join(made.called for made in self.transforms) or None

    @property
    def label(self) -> str:
        """A short name for people."""
        parts = [self.adversary, self.attack.name, self.subject or ""]
        if self.pairs is not None:
            parts.append(f"{self.pairs} pairs")
        if self.defense:
            parts.append(f"{self.defense} ({'adaptive' if self.adaptive else 'unaware'})")
        return " · ".join(part for part in parts if part)

    @property
    def seeding(self) -> str:
        """What random choices depend on: the question, who asks it and of what; not versions, places or machines.

        A new version, or a plug-in that was moved or edited, is another cell with the same random choices, so that what
        changes between the two is the change itself.
        """
        beside = {"version", "transforms", "training", "calibrate", "repeats", "threads", "device"}
        told = self.model_dump(mode="json", exclude=beside)
        chain: list[JsonValue] = [made.seeding for made in self.transforms]
        told |= {"game": self.game.seeding, "attack": self.attack.seeding, "defense": chain or None}
        return json.dumps(told, sort_keys=True, ensure_ascii=True)

    def without(self, private: Collection[str]) -> CellIdentity:
        """The identity without the game's private parameters."""
        return self._with_params({k: v for k, v in self.game.params.items() if k not in private})

    def masked(self, private: Collection[str], mask: Callable[[str], str]) -> CellIdentity:
        """The identity as a result file shows it: private parameters of the game, lists of words, are masked."""
        hidden = {k: _masked(v, mask) if k in private else v for k, v in self.game.params.items()}
        return self._with_params(hidden)

    def _with_params(self, params: dict[str, JsonValue]) -> CellIdentity:
        return self.model_copy(update={"game": self.game.model_copy(update={"params": params})})


def _masked(value: JsonValue, mask: Callable[[str], str]) -> JsonValue:
    return [mask(str(word)) for word in value] if isinstance(value, list) else value


def digest_of(told: object) -> str:
    """A short name for plain data: the same data, the same name."""
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:20]
