"""Song and Raghunathan 2020, section 6.2: Table 1 and Table 2, inversion of sentence vectors.

The paper's own dual encoders (LSTM, three-layer Transformer) and ALBERT are not available, so their rows are listed as
not measured; BERT-base uncased is the paper's, with the mean of the last layer as its vector. Our own rows
(first token, bge, MiniLM, shallow encoders) stand beside it under their own names.

The paper's vocabulary is the encoder's own. For BERT that means word pieces, of which there are more in a sentence than
words, and the pieces of rare words are easier to find than the words; so both are measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unembed.corpora.words import Vocabulary
from unembed.encoders.base import WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.inversion import InversionGame, InversionKnowledge, InversionTruth, piece_sets
from unembed.papers.base import Conditions, Measured, Size, by_size
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Row, Table, played, refused, setting
from unembed.papers.texts import CROSS, IN, USUAL, Amounts, Texts, song_texts
from unembed.seeds import seed_for

#: L1 penalty and threshold as printed in 6.2; they were tuned there, and fit no other word matrix.
PRINTED_PENALTY = {"penalty": 0.1, "threshold": 0.01}
BERT = RECIPES["bert-mean"].title
#: The paper's models that are not available, and why.
ABSENT = {
    "LSTM": "the paper's LSTM dual encoder was not published and none is trained here",
    "Transformer": "the paper's Transformer dual encoder was not published and none is trained here",
    "ALBERT": "no ALBERT weights are available",
}
#: What ends the title of an attack on word pieces.
PIECES = ", word pieces"
PRINTED = {"precision": "precision", "recall": "recall", "f1": "F1"}
FOR_PIECES = {
    **PRINTED,
    "f1_per_text": "F1 per text",
    "piece_precision": "piece precision",
    "piece_recall": "piece recall",
    "piece_f1": "piece F1",
}
FOR_WORDS = {**PRINTED, "f1_per_text": "F1 per text", HEADLINE: "content F1", **FOR_PIECES}
BOTH = (IN, CROSS)
InversionDeal = Deal[InversionKnowledge, InversionTruth]
POOLED = (
    "Precision, recall and F1 are pooled over all targets and all words, because the printed F1 is the harmonic mean "
    "of the printed precision and recall; words outside the adversary's 20,000 count as missed."
)


def word_deal(
    encoders: Encoders, texts: Texts, key: str, domain: str, game: InversionGame, layer: int | None = None
) -> InversionDeal:
    """The game's own deal for an adversary with texts of one domain and the weights."""
    seed, groups = seed_for(encoders.conditions.seed, "deal"), texts.target.column(texts.group)
    known = texts.known[domain]
    return game.deal(encoders.material(key, texts.target, known, "weights", seed, groups=groups, layer=layer))


def piece_deal(encoders: Encoders, texts: Texts, key: str, domain: str, game: InversionGame) -> InversionDeal:
    """The same over the encoder's word pieces that occur twice and more in the adversary's texts."""
    encoder = encoders.encoder(key)
    if not isinstance(encoder, WhiteBoxEncoder):
        raise CannotMeasureError(f"encoder '{key}' has no word pieces")
    known, target = texts.known[domain], texts.target
    labels, asked = piece_sets(known.texts, encoder), piece_sets(target.texts, encoder)
    counts = np.asarray(labels.sum(axis=0), dtype=np.int64).ravel()
    ranked = np.argsort(-counts, kind="stable")
    kept = ranked[counts[ranked] >= game.min_count][: game.vocabulary_size]
    pieces = tuple(encoder.vocabulary[i] for i in kept)
    vocabulary = Vocabulary(pieces, counts[kept], counts[kept], len(known))
    outside = np.asarray(asked.sum(axis=1) - asked[:, kept].sum(axis=1), dtype=np.float64).reshape(-1)
    truth = InversionTruth(
        asked[:, kept].tocsr(),
        np.stack([outside, np.zeros_like(outside)], axis=1),
        vocabulary,
        target.column(texts.group),
    )
    knowledge = InversionKnowledge(encoders.vectors(key, known), labels[:, kept].tocsr(), vocabulary, known.texts)
    return Deal(knowledge, encoders.vectors(key, target), truth, pairs=len(known), queries=0)


@dataclass(frozen=True)
class Plan:
    """An attack, the domains it is tried in, and the most targets it is given."""

    attack: AttackSpec
    domains: tuple[str, ...] = BOTH
    most: int | None = None


class _SongTable(Table):
    """What the two tables share: one row for each attack, encoder and domain."""

    amounts: ClassVar[Mapping[Size, Amounts]] = USUAL

    def attacks(self, size: Size) -> list[Plan]:
        """The attacks of a size."""
        raise NotImplementedError

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every attack on words, on word pieces for BERT, and the paper's models that are not available."""
        size = conditions.size
        texts = song_texts(conditions, self.amounts[size])
        factory = Encoders(conditions, texts.fit, texts.language)
        rows = []
        for key, domain, plan in ((k, d, p) for k in encoders for d in BOTH for p in self.attacks(size)):
            pieces = plan.attack.title.endswith(PIECES)
            if domain not in plan.domains or (pieces and key != "bert-mean"):
                continue
            game = InversionGame(vocabulary_size=2_000 if size == "smoke" else 20_000, max_targets=plan.most)
            dealt = partial(piece_deal if pieces else word_deal, factory, texts, key, domain, game)
            name = setting(plan.attack.title, RECIPES[key].title, domain)
            identity = {**factory.identity(key), "data": texts.fingerprint}
            names = FOR_PIECES if pieces else FOR_WORDS
            row = played(conditions, plan.attack, game, dealt, name, names, identity)
            rows.append(self._beside_words(row) if pieces else row)
        for model, reason in {} if conditions.encoders else ABSENT.items():
            settings = [setting(p.attack.title, model, domain) for p in self.attacks(size) for domain in p.domains]
            rows += [refused(name, reason) for name in settings if self.facts.printed(name, "F1") is not None]
        return rows, (*texts.notes, POOLED)

    def _beside_words(self, row: Row) -> Row:
        """What is printed may mean words or word pieces, so it stands beside both."""

        def measure() -> list[Measured]:
            words = row.setting.replace(PIECES, "")
            return [replace(found, published=self.facts.printed(words, found.metric)) for found in row.measure()]

        return replace(row, measure=measure)


class Table2(_SongTable):
    """Black-box inversion: multi-label classification and multi-set prediction."""

    facts = facts_of("song2020/table2")
    known: ClassVar[tuple[str, ...]] = ("bert-mean", "bert-first", "minilm", "bge", "use-lite", "word2vec", "tfidf")
    encoders = by_size(("tfidf",), ("bert-mean", "minilm"), ("bert-mean", "bert-first", "minilm", "bge"))

    def attacks(self, size: Size) -> list[Plan]:
        """The paper's two, over words and over BERT's word pieces, and the first with a tuned threshold."""
        brief = {"epochs": 2, "min_steps": 20} if size == "smoke" else {}
        trained: Mapping[Size, Mapping[str, Any]] = by_size(
            {**brief, "hidden": 32}, {}, {"batch_size": 1024, "learning_rate": 2e-3}
        )
        sets = {"form": "song", **trained[size]}
        tuned = {"threshold": "tuned", **({"batch_size": 1024} if size == "full" else {})}
        return [
            Plan(AttackSpec("MLC", "inversion/mlc", {"scaling": "none", **brief})),
            Plan(AttackSpec("MLC, tuned", "inversion/mlc", {**tuned, **brief})),
            Plan(AttackSpec("MSP", "inversion/msp", sets)),
            Plan(AttackSpec(f"MLC{PIECES}", "inversion/mlc", {"scaling": "none", **brief})),
            Plan(AttackSpec(f"MSP{PIECES}", "inversion/msp", sets)),
        ]


class Table1(_SongTable):
    """White-box inversion: relaxation through the model (eq. 5), sparse coding of the mapped vector (eq. 7)."""

    facts = facts_of("song2020/table1")
    known: ClassVar[tuple[str, ...]] = ("bert-mean", "minilm", "bge", "use-lite", "word2vec", "glove")
    amounts: ClassVar[Mapping[Size, Amounts]] = {**USUAL, "full": Amounts(50_000, 50_000, 2_000)}
    encoders = by_size(
        ("word2vec",),
        ("bert-mean", "minilm", "word2vec", "use-lite"),
        ("bert-mean", "minilm", "bge", "word2vec", "use-lite"),
    )

    def attacks(self, size: Size) -> list[Plan]:
        """Equation 5 needs no pairs, so it has one domain."""
        few = by_size(4, 24, 200)
        brief = {"steps": 5} if size == "smoke" else {}
        return [
            Plan(AttackSpec("Equation 5", "inversion/relaxation", brief), (IN,), few[size]),
            Plan(AttackSpec("Equation 6", "inversion/layer-map", brief), BOTH, few[size]),
            Plan(AttackSpec("Equation 7", "inversion/sparse-coding", {})),
            Plan(AttackSpec("Equation 7, 0.1 and 0.01", "inversion/sparse-coding", PRINTED_PENALTY), (IN,)),
        ]
