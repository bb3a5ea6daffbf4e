"""From adversaries, games and attacks to cells: what runs, and what does not and why."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from unembed.attacks import ATTACKS
from unembed.attacks.base import AttackFacts
from unembed.audit.curve import curve_sizes
from unembed.audit.lineup import no_lineup
from unembed.audit.prepare import Sides
from unembed.audit.spec import AuditSpec
from unembed.defenses import DEFENSES
from unembed.encoders import ENCODERS
from unembed.encoders.base import EncoderCard
from unembed.errors import UsageError
from unembed.games import GAMES
from unembed.games.asking import Audited, Question, Seating, questions_of
from unembed.games.repeats import REPEATS
from unembed.games.threat import Adversary, Capability
from unembed.registry import source_digest
from unembed.results.schema import Skipped
from unembed.seeds import seed_for

#: What names a cell and has no say in its random choices: how it is played, and what is measured beside the result.
BESIDE = ("cell", "calibrate", "repeats", "threads", "device")
#: Goes up when the way cells are played changes: old cell files are then not taken for new ones.
CELL_VERSION = 4


@dataclass(frozen=True)
class Cell:
    """One game with one attack by one adversary: the unit that is run, stored and resumed."""

    key: str
    identity: dict[str, Any]
    seed: int
    deal_seed: int
    public: bool = False
    """Whether the user named what it asks for, so that nothing of it needs masking."""

    @property
    def label(self) -> str:
        """A short name for people."""
        parts = [self.identity["adversary"], self.identity["attack"]["name"]]
        if self.identity["subject"]:
            parts.append(self.identity["subject"])
        if self.identity["pairs"] is not None:
            parts.append(f"{self.identity['pairs']} pairs")
        if self.identity["defense"]:
            kind = "adaptive" if self.identity["adaptive"] else "unaware"
            parts.append(f"{self.identity['defense']['name']} ({kind})")
        return " · ".join(parts)


@dataclass(frozen=True)
class Plan:
    """Cells to run and things left out."""

    cells: list[Cell]
    skipped: list[Skipped]


@dataclass(frozen=True)
class Asked:
    """The questions of an audit, and what is not asked."""

    questions: list[Question]
    skipped: list[Skipped]


def ask(spec: AuditSpec, sides: Sides) -> Asked:
    """The questions that the spec's games make of the texts and options of the audit."""
    audited = Audited(
        target=sides.target,
        inside=sides.known["inside"],
        columns=tuple(spec.data.attributes),
        games=tuple(spec.games),
        options=spec.options,
        params=spec.params,
        can_encode=spec.data.vectors is None,
    )
    asked = Asked([], [])
    for name in spec.games:
        for found in questions_of(name, GAMES.get(name), audited):
            if isinstance(found, Question):
                asked.questions.append(replace(found, name=name))
            else:
                asked.skipped.append(Skipped(what=found.what, reason=found.reason))
    return asked


def make_plan(
    spec: AuditSpec, sides: Sides, asked: Asked, card: EncoderCard, vectors_digest: str, white_box: bool = False
) -> Plan:
    """Every attack each adversary can carry out; for the rest, the capability that is missing."""
    alone = {q.game.facts.name: why for q in asked.questions if (why := no_lineup(q.game, spec, card))}
    skipped = [*asked.skipped, *(Skipped(what=name, reason=why) for name, why in alone.items())]
    cells: list[Cell] = []
    for who in spec.cast:
        adversary = _as_placed(who, spec)
        reason = _not_played(adversary, spec, card, white_box)
        if reason:
            skipped.append(reason)
            continue
        for question in asked.questions:
            game = question.game
            if game.facts.name in alone:
                continue
            seated = _seated(game, adversary, spec, sides)
            if isinstance(seated, Skipped):
                skipped.append(seated)
                continue
            for attack_name in _attacks_for(spec, game.facts.played_by):
                facts = ATTACKS.get(attack_name).facts
                if facts.reads_texts and not game.facts.plays_texts:
                    unfit = f"not applicable: '{game.facts.name}' can't be played with texts in place of vectors"
                    skipped.append(Skipped(what=attack_name, adversary=adversary.name, reason=unfit))
                    continue
                holder = _with_texts(seated) if facts.reads_texts and attack_name in spec.attacks else seated
                missing = holder.missing(facts.requires)
                if missing:
                    skipped.append(_missing(attack_name, adversary, missing))
                    continue
                if _repeats_another(adversary, facts, spec):
                    continue
                cells += _cells(spec, sides, holder, question, attack_name, card, vectors_digest)
    wanted = {GAMES.get(g).facts.played_by for g in spec.games}
    named = [n for n in spec.attacks if ATTACKS.get(n).facts.game not in wanted]
    if named:
        raise UsageError(f"attack '{named[0]}' plays the game '{ATTACKS.get(named[0]).facts.game}': add that game")
    skipped += _left_out(spec)
    # A name given twice asks for nothing more than a name given once.
    return Plan(list({c.key: c for c in cells}.values()), skipped)


def _seated(game: Any, adversary: Adversary, spec: AuditSpec, sides: Sides) -> Adversary | Skipped:
    """The adversary as the game lets it play."""
    what = f"{game.facts.name} {game.subject}" if game.subject else game.facts.name
    if not isinstance(game, Seating):
        return adversary
    seated = game.seat(adversary, sides.known[sides.known_to(adversary)], spec.cast)
    if isinstance(seated, Adversary):
        return seated
    return Skipped(what=what, adversary=adversary.name, reason=seated)


def _as_placed(adversary: Adversary, spec: AuditSpec) -> Adversary:
    """Nobody can query an encoder that is not there: vectors from a file come alone."""
    if spec.data.vectors is None:
        return adversary
    return replace(adversary, capabilities=adversary.capabilities - {Capability.QUERIES})


def _with_texts(adversary: Adversary) -> Adversary:
    """For a yardstick that was asked for by name: no adversary has the texts under attack of itself."""
    return replace(adversary, capabilities=adversary.capabilities | {Capability.TEXTS})


def _repeats_another(adversary: Adversary, attack: AttackFacts, spec: AuditSpec) -> bool:
    """What needs no weights gives whoever holds them the figure of somebody with all but the weights again."""
    if Capability.WEIGHTS not in adversary.capabilities or Capability.WEIGHTS in attack.requires:
        return False
    rest = adversary.capabilities - {Capability.WEIGHTS}
    return any(rest <= _as_placed(other, spec).capabilities for other in spec.cast if other.name != adversary.name)


def _not_played(adversary: Adversary, spec: AuditSpec, card: EncoderCard, white_box: bool) -> Skipped | None:
    if not adversary.inside and spec.data.vectors is not None:
        return Skipped(
            what="all attacks",
            adversary=adversary.name,
            reason="the vectors come from a file: without the encoder an outsider can't make pairs of their own",
            missing=[Capability.QUERIES.value],
        )
    if Capability.WEIGHTS not in adversary.capabilities:
        return None
    if not card.open_weights:
        return Skipped(
            what="all attacks",
            adversary=adversary.name,
            reason="the encoder's weights are not open",
            missing=[Capability.WEIGHTS.value],
        )
    if not white_box:
        return Skipped(
            what="attacks through the weights",
            adversary=adversary.name,
            reason="not applicable: this encoder hands out neither its word matrix nor its layers; whoever has its "
            "weights is at least as strong as the insider",
        )
    return None


def _missing(what: str, adversary: Adversary, missing: list[Capability]) -> Skipped:
    return Skipped(
        what=what,
        adversary=adversary.name,
        reason=f"the {adversary.name} lacks: {', '.join(missing)}",
        missing=[m.value for m in missing],
    )


def _left_out(spec: AuditSpec) -> list[Skipped]:
    """Games nobody asked for, the questions this version can't ask, and installed plug-ins that don't work."""
    unasked = [Skipped(what=g, reason="not among the games of this audit") for g in GAMES if g not in spec.games]
    absent = {
        "membership": "whether a text was used to train the encoder",
    }
    unbuilt = [
        Skipped(what=name, reason=f"{meaning}: not part of this version")
        for name, meaning in absent.items()
        if not any(g.startswith(name) for g in GAMES)
    ]
    unusable = [
        Skipped(what=f"{registry.kind} {name}", reason=f"the plug-in could not be used: {cause}")
        for registry in (ATTACKS, GAMES, DEFENSES, ENCODERS)
        for name, cause in registry.left_out.items()
    ]
    return [*unasked, *unbuilt, *unusable]


def _attacks_for(spec: AuditSpec, game: str) -> list[str]:
    """The attacks of a game: those named, else its default ones."""
    if spec.attacks:
        return [n for n in spec.attacks if ATTACKS.get(n).facts.game == game]
    return [n for n, attack in ATTACKS.working().items() if attack.facts.game == game and attack.facts.default]


def _cells(
    spec: AuditSpec,
    sides: Sides,
    adversary: Adversary,
    question: Question,
    attack_name: str,
    card: EncoderCard,
    vectors_digest: str,
) -> list[Cell]:
    """The full-strength cell, the curve over pairs, and the defended ones."""
    game, corpus = question.game, sides.known_to(adversary)
    size = len(sides.known[corpus])
    curve: list[int | None] = [None]
    if game.facts.curve and adversary.inside and Capability.WEIGHTS not in adversary.capabilities:
        curve = [*curve_sizes(spec.curve, size), None]
    variants: list[tuple[dict[str, Any] | None, bool | None]] = [(None, None)]
    # A defense changes vectors, which a yardstick never sees.
    for defense in spec.defenses if Capability.TEXTS not in adversary.capabilities else ():
        resolved = _identity(defense.name, DEFENSES.get(defense.name)(**defense.params))
        variants += [(resolved, False), (resolved, True)]
    cells = []
    attack = _identity(attack_name, ATTACKS.get(attack_name)().set_params(**spec.params.get(attack_name, {})))
    for pairs in curve:
        for defense_identity, adaptive in variants:
            if pairs is not None and defense_identity is not None:
                continue
            identity = {
                "cell": CELL_VERSION,
                "adversary": adversary.name,
                "capabilities": sorted(adversary.capabilities),
                "game": _identity(question.name, game),
                "subject": game.subject,
                "attack": attack,
                "encoder": card.cache_key("document") or vectors_digest,
                "known": corpus,
                "known_fingerprint": sides.known[corpus].fingerprint,
                "target_fingerprint": sides.target.fingerprint,
                "group": spec.data.together,
                "pairs": pairs,
                "defense": defense_identity,
                "adaptive": adaptive,
                "calibrate": _calibrated(spec, attack_name, pairs),
                "repeats": _repeats(spec, attack_name, pairs),
                "threads": spec.threads,
                "device": spec.device,
                "seed": spec.seed,
            }
            cells.append(_cell(identity, spec.seed, question))
    return cells


def _repeats(spec: AuditSpec, attack_name: str, pairs: int | None) -> int:
    """How often a cell learns again from part of its pairs; unless said otherwise, only where a round takes seconds."""
    if spec.repeats is not None:
        return spec.repeats if pairs is None else 0
    facts = ATTACKS.get(attack_name).facts
    return REPEATS if pairs is None and facts.cost == "seconds" and not facts.reads_texts else 0


def _calibrated(spec: AuditSpec, attack_name: str, pairs: int | None) -> bool:
    """Whether a cell looks for the smallest leak it would have found: at full strength, where a round takes seconds."""
    facts = ATTACKS.get(attack_name).facts
    return spec.calibrate and pairs is None and facts.cost == "seconds" and not facts.reads_texts


def _identity(name: str, made: Any) -> dict[str, Any]:
    """Name, version and all parameters of a game, an attack or a defense; for a plug-in the digest of its source."""
    params = {k: v for k, v in made.get_params().items() if k not in ("seed", "device")}
    source = source_digest(type(made), name)
    return {"name": name, "version": made.facts.version, "params": _plain(params), "source": source}


def _seeding(identity: dict[str, Any]) -> str:
    """What a cell's random choices depend on: the question, who asks it and of what; not versions, places or machines.

    A new version, or a plug-in that was moved or edited, is another cell with the same random choices, so that what
    changes between the two is the change itself.
    """
    kept = {k: v for k, v in identity.items() if k not in BESIDE}
    for part in ("game", "attack", "defense"):
        if made := kept[part]:
            kept[part] = [made["name"].rpartition(":")[2], made["params"]]
    return _sorted(kept)


def _cell(identity: dict[str, Any], seed: int, question: Question) -> Cell:
    text = _sorted(identity)
    return Cell(
        key=hashlib.sha256(text.encode()).hexdigest()[:20],
        identity=identity,
        seed=seed_for(seed, "cell", _seeding(identity)),
        deal_seed=deal_seed(seed, question.game.facts.name, identity["subject"]),
        public=question.public,
    )


def _sorted(identity: dict[str, Any]) -> str:
    return json.dumps(identity, sort_keys=True, ensure_ascii=True)


def deal_seed(seed: int, game: str, subject: str | None) -> int:
    """The same for every attack on a question, so that all are asked about the same targets."""
    return seed_for(seed, "deal", game, subject or "")


def _plain(value: Any) -> Any:
    """The same as JSON would keep it."""
    return json.loads(json.dumps(value, default=str))
