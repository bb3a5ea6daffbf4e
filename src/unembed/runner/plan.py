"""From adversaries, games and attacks to cells: what runs, and what does not and why."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from unembed.attacks import ATTACKS
from unembed.attacks.base import AttackFacts
from unembed.defenses import DEFENSES
from unembed.defenses.base import Defense
from unembed.defenses.chain import Chain
from unembed.defenses.saved import Holding
from unembed.encoders import ENCODERS
from unembed.encoders.base import EncoderCard
from unembed.errors import CannotMeasureError, NothingRanError
from unembed.games import GAMES
from unembed.games.asking import Audited, Question, Seating, questions_of
from unembed.games.facts import GameFacts
from unembed.games.repeats import REPEATS
from unembed.games.threat import Adversary, Capability
from unembed.params import Played
from unembed.registry import Registry, source_digest
from unembed.results.identity import CellIdentity, Made
from unembed.results.schema import Skipped
from unembed.runner.curve import curve_sizes
from unembed.runner.lineup import no_lineup
from unembed.runner.prepare import Sides
from unembed.runner.spec import AuditSpec, DefenseSpec
from unembed.seeds import seed_for

P = TypeVar("P")
#: Goes up when the way cells are played changes: old cell files are then not taken for new ones.
CELL_VERSION = 7
NOT_TOLD = "not applicable: it is not known which texts the model learnt from; --trained-on names them"
ONE_SIDE = (
    "not applicable: the model learnt from all texts under attack or from none, so nothing can be compared; "
    "--trained-on names what it learnt from, and the collection what it did not"
)
NO_MAP = "not applicable: it is asked where a defense is one secret map, and none is here"


@dataclass(frozen=True)
class Cell:
    """One game with one attack by one adversary: the unit that is run, stored and resumed."""

    identity: CellIdentity
    deal_seed: int
    public: bool = False
    """Whether the user named what it asks for, so that nothing of it needs masking."""

    @cached_property
    def key(self) -> str:
        """The name of its file."""
        return self.identity.key

    @cached_property
    def seed(self) -> int:
        """Where its random choices begin."""
        return seed_for(self.identity.seed, "cell", self.identity.seeding)


@dataclass(frozen=True)
class Plan:
    """Cells to run and things left out."""

    cells: list[Cell]
    skipped: list[Skipped]

    def check(self) -> None:
        """Refuse a plan without cells."""
        if not self.cells:
            reasons = "; ".join(dict.fromkeys(s.reason for s in self.skipped[:4]))
            raise NothingRanError(f"nothing to run: {reasons}")


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
        can_encode=sides.can_encode,
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
    mapped = any(_keyed("map", made) for made, _ in _variants(spec, card.dimension))
    unmapped = {q.game.facts.name: NO_MAP for q in asked.questions if q.game.facts.needs_map and not mapped}
    untold = {q.game.facts.name: why for q in asked.questions if (why := _untold(q.game.facts, sides))}
    alone = (
        unmapped
        | untold
        | {q.game.facts.name: why for q in asked.questions if (why := no_lineup(q.game, sides.can_encode, card))}
    )
    skipped = [*asked.skipped, *(Skipped(what=name, reason=why) for name, why in alone.items())]
    cells: list[Cell] = []
    for who in spec.cast:
        adversary = _without_queries(who, sides)
        reason = _not_played(adversary, sides, card, white_box) or _one_release(adversary, spec, card.dimension)
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
                if facts.by_hand:
                    skipped.append(Skipped(what=attack_name, adversary=adversary.name, reason=facts.by_hand))
                    continue
                if facts.reads_texts and not game.facts.plays_texts:
                    unfit = f"not applicable: '{game.facts.name}' can't be played with texts in place of vectors"
                    skipped.append(Skipped(what=attack_name, adversary=adversary.name, reason=unfit))
                    continue
                holder = _with_texts(seated) if facts.reads_texts and attack_name in spec.attacks else seated
                missing = holder.missing(facts.requires)
                if missing:
                    skipped.append(_missing(attack_name, game.subject, adversary, missing))
                    continue
                if _repeats_another(adversary, facts, spec, sides):
                    continue
                cells += _cells(spec, sides, holder, question, attack_name, card, vectors_digest)
    skipped += [*_left_out(spec), *_unlike(spec, card.dimension)]
    # A name given twice asks for nothing more than a name given once.
    return Plan(list({c.key: c for c in cells}.values()), skipped)


def _untold(facts: GameFacts, sides: Sides) -> str | None:
    """Why nothing can be asked about the texts that the model learnt from, or None."""
    if not facts.needs_training:
        return None
    if sides.training is None:
        return NOT_TOLD
    learnt = sides.training.holds(sides.target.texts)
    return ONE_SIDE if learnt.all() or not learnt.any() else None


def _keyed(what: str, transforms: Iterable[Made]) -> bool:
    """Whether the key of one of these decides that: the ``noise`` of each record, or one ``map`` for all vectors."""
    return any(DEFENSES.get(step.name).facts.keyed == what for step in transforms)


def _seated(game: Any, adversary: Adversary, spec: AuditSpec, sides: Sides) -> Adversary | Skipped:
    """The adversary as the game lets it play."""
    what = f"{game.facts.name} {game.subject}" if game.subject else game.facts.name
    if not isinstance(game, Seating):
        return adversary
    seated = game.seat(adversary, sides.known[sides.known_to(adversary)], spec.cast)
    if isinstance(seated, Adversary):
        return seated
    return Skipped(what=what, adversary=adversary.name, reason=seated)


def _without_queries(adversary: Adversary, sides: Sides) -> Adversary:
    """Nobody can query an encoder that is not at hand."""
    if sides.can_encode:
        return adversary
    return replace(adversary, capabilities=adversary.capabilities - {Capability.QUERIES})


def _with_texts(adversary: Adversary) -> Adversary:
    """For a yardstick that was asked for by name: no adversary has the texts under attack of itself."""
    return replace(adversary, capabilities=adversary.capabilities | {Capability.TEXTS})


def _repeats_another(adversary: Adversary, attack: AttackFacts, spec: AuditSpec, sides: Sides) -> bool:
    """Without need of the weights, an attack gives their holder the figure of an adversary with all but the weights."""
    if Capability.WEIGHTS not in adversary.capabilities or Capability.WEIGHTS in attack.requires:
        return False
    rest = adversary.capabilities - {Capability.WEIGHTS}
    return any(
        rest <= _without_queries(other, sides).capabilities for other in spec.cast if other.name != adversary.name
    )


def _not_played(adversary: Adversary, sides: Sides, card: EncoderCard, white_box: bool) -> Skipped | None:
    if not adversary.inside and not sides.can_encode:
        known = f"; the vectors look like those of {sides.looks_like}" if sides.looks_like else ""
        return Skipped(
            what="all attacks",
            adversary=adversary.name,
            reason="the vectors were made elsewhere: without the encoder an outsider can't make pairs of their own"
            f"{known}; if you know it, name it with --encoder",
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
            reason="not applicable: this encoder hands out neither its word matrix nor its layers; an adversary "
            "with its weights is at least as strong as the insider",
        )
    return None


def _one_release(adversary: Adversary, spec: AuditSpec, dimension: int) -> Skipped | None:
    """Where nothing is drawn, one release tells as much as many."""
    noisy = any(_keyed("noise", made) for made, _ in _variants(spec, dimension))
    if noisy or Capability.RELEASES not in adversary.capabilities:
        return None
    return Skipped(
        what="all attacks",
        adversary=adversary.name,
        reason="not applicable: several releases tell more where a defense draws noise, and none here does",
    )


def _missing(what: str, subject: str | None, adversary: Adversary, missing: list[Capability]) -> Skipped:
    return Skipped(
        what=what,
        subject=subject,
        adversary=adversary.name,
        reason=f"the {adversary.name} lacks: {', '.join(missing)}",
        missing=[m.value for m in missing],
    )


def _left_out(spec: AuditSpec) -> list[Skipped]:
    """Games nobody asked for, and installed plug-ins that don't work."""
    unasked = [Skipped(what=g, reason="not among the games of this audit") for g in GAMES if g not in spec.games]
    unusable = [
        Skipped(what=f"{registry.kind} {name}", reason=f"the plug-in could not be used: {cause}")
        for registry in (ATTACKS, GAMES, DEFENSES, ENCODERS)
        for name, cause in registry.left_out.items()
    ]
    return [*unasked, *unusable]


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
    curved = game.facts.curve and adversary.inside and Capability.WEIGHTS not in adversary.capabilities
    sizes = curve_sizes(spec.curve, len(sides.known[corpus])) if curved else []
    attack = _made(attack_name, ATTACKS.get(attack_name)().set_params(**spec.params.get(attack_name, {})))
    plain = CellIdentity(
        version=CELL_VERSION,
        adversary=adversary.name,
        capabilities=tuple(sorted(adversary.capabilities - {Capability.DEFENSE})),
        game=_made(question.name, game),
        subject=game.subject,
        attack=attack,
        encoder=card.cache_key("document") or vectors_digest,
        known=corpus,
        known_fingerprint=sides.known[corpus].fingerprint,
        target_fingerprint=sides.target.fingerprint,
        training=sides.training.fingerprint if sides.training else None,
        group=spec.data.together,
        pairs=None,
        calibrate=_calibrated(spec, attack_name),
        repeats=_repeats(spec, attack_name),
        threads=spec.threads,
        device=spec.device,
        seed=spec.seed,
    )
    less = [{"pairs": n, "calibrate": False, "repeats": 0} for n in sizes]
    weaker = [plain.model_copy(update=fewer) for fewer in less]
    asked = [*weaker, plain, *_defended(plain, spec, adversary, card.dimension)]
    if game.facts.needs_map:
        mapped = [one for one in asked if one.adaptive and _keyed("map", one.transforms)]
        asked = [one.model_copy(update=fewer) for one in mapped for fewer in (*less, {})]
    if Capability.RELEASES in adversary.capabilities:
        asked = [one for one in asked if _keyed("noise", one.transforms)]
    placed = deal_seed(spec.seed, game.facts.name, game.subject)
    return [Cell(one, placed, question.public) for one in asked]


def _defended(plain: CellIdentity, spec: AuditSpec, adversary: Adversary, dimension: int) -> Iterator[CellIdentity]:
    """Every defense attacked twice: by an adversary who doesn't know it, and by one who learns from its output.

    A defense changes vectors, which a yardstick never sees.
    """
    if Capability.TEXTS in adversary.capabilities:
        return
    for transforms, stored in _variants(spec, dimension):
        unaware = spec.unaware and Capability.DEFENSE not in adversary.capabilities
        if unaware and stored == dimension:
            yield plain.model_copy(update={"transforms": transforms, "adaptive": False})
        held = tuple(sorted({*plain.capabilities, Capability.DEFENSE}))
        yield plain.model_copy(update={"transforms": transforms, "adaptive": True, "capabilities": held})


def _variants(spec: AuditSpec, dimension: int) -> Iterator[tuple[tuple[Made, ...], int]]:
    """The transforms of each variant, and the dimension of what it stores."""
    for steps in spec.chains:
        parts = [part for step in steps for part in _parts(step)]
        transforms = tuple(_made(name, one).model_copy(update={"fitted": fitted}) for name, one, fitted in parts)
        yield transforms, Chain([one for _, one, _ in parts]).stored_dimension(dimension)


def _parts(step: DefenseSpec) -> list[tuple[str, Defense, str | None]]:
    """A defense as cells know it; a saved one is the steps that were saved, each with what it has learnt."""
    made = DEFENSES.get(step.name)(**step.params)
    if not isinstance(made, Holding):
        return [(step.name, made, None)]
    chain, digest = made.held()
    held = zip(chain.names, chain.steps, strict=True)
    return [(name, one, f"{digest}/{place}") for place, (name, one) in enumerate(held)]


def _unlike(spec: AuditSpec, dimension: int) -> list[Skipped]:
    """Variants that are met by nobody who does not know them: another dimension shows that something was done."""
    if not spec.unaware:
        return []
    return [
        Skipped(
            what=f"{' + '.join(step.called for step in transforms)}, by who does not know it",
            reason=f"not applicable: it stores {stored:,} of {dimension:,} numbers, and pairs made without it do "
            "not fit; who knows it attacks it",
        )
        for transforms, stored in _variants(spec, dimension)
        if stored != dimension
    ]


def _repeats(spec: AuditSpec, attack_name: str) -> int:
    """How often a cell learns again from part of its pairs; unless said otherwise, only where a round takes seconds."""
    if spec.repeats is not None:
        return spec.repeats
    facts = ATTACKS.get(attack_name).facts
    return REPEATS if facts.cost == "seconds" and not facts.reads_texts else 0


def _calibrated(spec: AuditSpec, attack_name: str) -> bool:
    """Whether a cell looks for the smallest leak it would have found: at full strength, where a round takes seconds."""
    facts = ATTACKS.get(attack_name).facts
    return spec.calibrate and facts.cost == "seconds" and not facts.reads_texts


def _made(name: str, made: Played) -> Made:
    """What is played, with its parameters resolved; for a plug-in the digest of its source."""
    params = {k: v for k, v in made.get_params().items() if k not in ("seed", "device")}
    defaults = {k: p.default for k, p in inspect.signature(type(made)).parameters.items()}
    changed = ", ".join(
        f"{k}={_shown(v)}" for k, v in params.items() if isinstance(made, Defense) and v != defaults.get(k)
    )
    return Made(
        name=name,
        called=f"{made.facts.name}({changed})" if changed else made.facts.name,
        version=made.facts.version,
        params=json.loads(json.dumps(params, default=str)),
        source=source_digest(type(made), name),
    )


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def made_as_planned(registry: Registry[type[P]], identity: Made) -> P:
    """What an identity names, with its parameters; not if its source was edited since the audit was planned."""
    make = registry.get(identity.name)
    if source_digest(make, identity.name) != identity.source:
        raise CannotMeasureError(f"{identity.name} was edited while the audit ran: run the same command again")
    return make(**identity.params)


def deal_seed(seed: int, game: str, subject: str | None) -> int:
    """The same for every attack on a question, so that all are asked about the same targets."""
    return seed_for(seed, "deal", game, subject or "")
