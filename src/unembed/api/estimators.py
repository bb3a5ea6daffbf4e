"""Single attacks on arrays: ``unembed.attack(name).fit(X, answers).predict(Z)``, and ``unembed.measure``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unembed.api.arrays import dense
from unembed.api.auditing import audit
from unembed.api.objects import Part, listed, part_of, ready_encoder
from unembed.api.tables import plain_values
from unembed.attacks import ATTACKS
from unembed.attacks.base import AttackFacts
from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Encoder, is_white_box
from unembed.errors import CannotMeasureError, DataError, UnknownNameError, UsageError
from unembed.games import GAMES
from unembed.games.base import ByHand, Material, Said
from unembed.games.facts import GameFacts
from unembed.games.rows import text_rows
from unembed.games.threat import USUAL, Adversary, Capability
from unembed.params import Parametrised
from unembed.results.schema import Finding

#: What the answers to a question about a column are called.
_COLUMN = "label"
#: What anybody holds who has vectors with their answers.
_HELD = frozenset(
    {Capability.VECTORS, Capability.SHADOW_CORPUS, Capability.PAIRS, Capability.LABELS, Capability.FORMAT}
)


def attack(given: Any, *, encoder: Any = None, seed: int = 0, **params: Any) -> ArrayAttack:
    """One attack, to be used like an estimator of scikit-learn.

    ```python
    reader = unembed.attack("inversion/mlc").fit(X, texts)
    reader.predict(Z)  # for every row of Z its words with confidences, the surest first
    ```

    Args:
        given: The name of an attack, its class, or an object of it; also a class typed into a notebook.
        encoder: For attacks that query the encoder or look into its weights: its name, or an object with ``encode``.
        seed: Of all random choices.
        params: Parameters of the attack.
    """
    part = part_of(ATTACKS, given)
    make = part.made_by or ATTACKS.get(part.name)
    with ATTACKS.lending(part.name, make):  # checks that it keeps the contract of an attack
        made = make().set_params(**{**part.params, **params, "seed": seed})
    if encoder is not None:
        encoder = ready_encoder(encoder, {}, None)
    return ArrayAttack(made, encoder, seed)


class ArrayAttack:
    """An attack on arrays; made by ``unembed.attack``.

    Attributes:
        player: The attack itself.
        classes_: The labels or keywords that ``confidences`` has columns for, after ``fit``.
    """

    def __init__(self, player: Any, encoder: Encoder | None = None, seed: int = 0) -> None:
        self.player = player
        self.encoder = encoder
        self.seed = seed
        self.classes_: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"unembed.attack({self.player!r})"

    @property
    def facts(self) -> AttackFacts:
        """Title, paper, what it requires and costs."""
        facts: AttackFacts = self.player.facts
        return facts

    def fit(self, X: Any, answers: Any, *, targets: Any = None, **about: Any) -> Self:
        """Learn from vectors whose answers are known.

        Args:
            X: Vectors, one row each; for an attack that reads texts in their place, the texts.
            answers: What belongs to each row: its text, its label or its number, as the attack's question wants it.
            targets: Vectors that will be attacked, for attacks that look at them while they learn; without them, X.
            about: What in particular is asked: ``keyword="flood"``, and other parameters of the question.
        """
        game_facts: GameFacts = GAMES.get(self.facts.game).facts
        game = _game(self.facts.game, about)
        if not isinstance(game, ByHand):
            raise UsageError(
                f"'{self.facts.name}' can't be used on arrays: play it with unembed.audit(texts, "
                f"games=['{self.facts.game}'], attacks=['{self.facts.name}'])"
            )
        rows = self._rows(X, "X")
        values = plain_values(answers)
        if len(values) != rows.shape[0]:
            raise DataError(f"X has {rows.shape[0]:,} rows for {len(values):,} answers: there must be one per row")
        known = _corpus(values, game_facts)
        asked = rows if targets is None else self._rows(targets, "targets")
        self._game, self._originals = game, {str(v): v for v in values} if game_facts.of_columns else {}
        self._knowledge = game.knowledge(self._material(known, rows, asked))
        self.player.fit(self._knowledge)
        self.width_ = None if rows.ndim == 1 else int(rows.shape[1])
        return self

    def predict(self, Z: Any) -> Any:
        """What the attack says of each row.

        Words with confidences, labels, numbers, or for keywords yes and no, in a column each where there are several.
        """
        said = self._said(Z)
        if self._originals:
            return np.array([self._originals.get(str(a), a) for a in said.answers])
        return np.asarray(said.answers) if said.classes or not _nested(said.answers) else list(said.answers)

    def confidences(self, Z: Any) -> NDArray[np.float64]:
        """The attack's own scores, a row per vector, a column per entry of ``classes_``; the larger the surer."""
        said = self._said(Z)
        if said.confidences is None:
            raise UsageError(f"'{self.facts.name}' gives no scores beside what predict returns")
        return said.confidences

    def _said(self, Z: Any) -> Said:
        if not hasattr(self, "_knowledge"):
            raise UsageError(f"'{self.facts.name}' has learnt nothing yet: call fit(X, answers) first")
        rows = self._rows(Z, "Z")
        if self.width_ is not None and rows.shape[1] != self.width_:
            raise DataError(f"Z has {rows.shape[1]} dimensions, the vectors it learnt from had {self.width_}")
        said: Said = self._game.said(self._knowledge, self.player.run(rows))
        self.classes_ = tuple(self._originals.get(c, c) for c in said.classes)
        return said

    def _rows(self, given: Any, what: str) -> Any:
        if self.facts.reads_texts:
            texts = plain_values(given)
            if not all(isinstance(text, str) for text in texts):
                raise UsageError(f"'{self.facts.name}' reads texts in place of vectors: give texts as {what}")
            return text_rows(texts)
        return dense(given, what).astype(np.float32)

    def _material(self, known: Corpus, rows: Any, asked: Any) -> Material:
        held = set(_HELD) | ({Capability.TEXTS} if self.facts.reads_texts else set())
        if self.encoder is not None:
            held |= {Capability.QUERIES} | ({Capability.WEIGHTS} if is_white_box(self.encoder) else set())
        who = Adversary("you", "you", "", frozenset(held))
        if missing := who.missing(self.facts.requires):
            raise UsageError(f"'{self.facts.name}' needs {', '.join(missing)}: give an encoder that has it (encoder=…)")
        return Material(
            target=known,
            known=known,
            target_vectors=asked,
            known_vectors=rows,
            encode=_refused if self.encoder is None else self.encoder.encode,
            adversary=who,
            seed=self.seed,
            encoder=self.encoder,
        )


def measure(
    attack: Any,
    X: Any,
    answers: Any,
    *,
    texts: Any = None,
    encoder: Any = None,
    groups: Any = None,
    seed: int = 0,
    share: float = 0.5,
    params: dict[str, Any] | None = None,
    **more: Any,
) -> Finding:
    """Measure one attack: how much better than guessing it is, with floors, interval, trust check and status.

    The rows are split: the adversary learns from one part and is asked about the other. It is what ``unembed.audit``
    measures for this attack alone.

    Args:
        attack: The name of an attack, its class or an object of it.
        X: Vectors, one row each. None: the encoder makes them of the texts.
        answers: What belongs to each row: its text, its label or its number, as the attack's question wants it.
        texts: The texts, where the answers are labels or numbers; without them copies are found by their vectors alone.
        encoder: For attacks that query the encoder or look into its weights.
        groups: Rows that belong together and stay on one side of the split.
        seed: Of all random choices.
        share: How much of the rows the adversary learns from.
        params: Parameters of the attack.
        more: Whatever ``unembed.audit`` takes: ``keyword="flood"``, ``repeats=0``, ``max_targets=500``.
    """
    part = part_of(ATTACKS, attack)
    facts = (part.made_by or ATTACKS.get(part.name)).facts
    game: GameFacts = GAMES.get(facts.game).facts
    values = plain_values(answers)
    if game.of_columns:
        if texts is None and (facts.reads_texts or X is None):
            raise UsageError(f"'{part.name}' needs the texts: give texts=…")
        labels, texts = {_COLUMN: values}, _stand_ins(len(values)) if texts is None else texts
    else:
        labels, texts = None, values
    wanted = {**part.params, **(params or {})}
    run = audit(
        texts,
        vectors=X,
        attributes=labels,
        encoder=encoder,
        groups=groups,
        games=[facts.game],
        attacks=[attack if part.made_by else part.name],
        seed=seed,
        **{
            "progress": False,
            "share": share,
            "adversaries": [_weakest(facts)],
            "curve": [],
            "references": [],
            "max_texts": None,
            "params": {part.name: wanted} if wanted else {},
            **more,
        },
    )
    if run.findings:
        return run.findings[0]
    reasons = [cell.error for cell in run.result.cells if cell.error] or [skip.reason for skip in run.skipped]
    raise CannotMeasureError(f"'{part.name}' could not be measured: {reasons[0] if reasons else 'nothing ran'}")


def _weakest(facts: AttackFacts) -> str:
    """Who carries the attack out: whoever usually does, or the first who holds what it needs."""
    from unembed.games.threat import ADVERSARIES

    needed = facts.requires - {Capability.TEXTS, Capability.FORMAT}
    able = [name for name, who in ADVERSARIES.items() if who.inside and not who.missing(needed)]
    return USUAL if USUAL in able or not able else able[0]


def _stand_ins(count: int) -> list[str]:
    """Texts for rows that have none: one word each, no two alike."""
    return [hashlib.sha256(str(row).encode()).hexdigest() for row in range(count)]


def _parametrised(name: str) -> type[Parametrised]:
    """The class of a game, which must take parameters to be asked anything in particular."""
    made: type = GAMES.get(name)
    if not issubclass(made, Parametrised):
        raise UsageError(f"the game '{name}' has no parameters: play it with unembed.audit")
    return made


def _game(name: str, about: dict[str, Any]) -> Parametrised:
    """The question with what is asked in particular, by its parameters or by the names the command line uses."""
    make, facts = _parametrised(name), GAMES.get(name).facts
    short = {option.lstrip("-").replace("-", "_"): parameter for parameter, option in facts.set_by}
    known = make.param_names()
    given: dict[str, Any] = {short[o]: _COLUMN for o in short if facts.of_columns}
    for key, value in about.items():
        if key in known:
            given[key] = value
        elif key in short:
            given[short[key]] = tuple(listed(value))
        else:
            raise UnknownNameError("argument", key, [*known, *short])
    return make(**given)


def _corpus(values: Sequence[Any], facts: GameFacts) -> Corpus:
    """The adversary's side: texts, or rows that are known by a label."""
    if facts.of_columns:
        return Corpus.of([""] * len(values), name="rows", **{_COLUMN: values})
    if not all(isinstance(value, str) for value in values):
        raise DataError("the answers to this attack's question are the texts: give a list of strings")
    return Corpus.of(values, name="texts")


def _nested(answers: Sequence[Any]) -> bool:
    return len(answers) > 0 and isinstance(answers[0], list)


def _refused(texts: Sequence[str]) -> Any:
    raise CannotMeasureError("this attack wants texts encoded: give its encoder (encoder=…)")


__all__ = ["ArrayAttack", "Part", "attack", "measure"]
