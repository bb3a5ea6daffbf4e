"""The game of personal data: which vectors belong to texts that hold an e-mail address, a number, a name?

Nobody has to say what to look for: the texts are searched for data that has a form (:mod:`unembed.corpora.personal`),
and each kind that enough texts hold is asked about. What is asked is what somebody asks who sifts a stolen index:
where are the accounts, where are the people? The value itself is another question, of the games ``pattern`` and
``names``.

The adversary knows for its own texts which of them hold what, because it can read them, and nothing is encoded for this
question. It is the keyword game with kinds of data in the place of words: the same attacks, figures and floors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from unembed.corpora.corpus import Corpus
from unembed.corpora.personal import ACCOUNT, CARD, E_MAIL, KINDS, PERSON, PHONE, holds_personal, kind_name
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Options, Question, Refused
from unembed.games.base import Deal, IntArray, Material
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.keyword import KeywordGame, KeywordTruth
from unembed.games.keyword_scores import FIRST_N, PREVALENCE
from unembed.games.keyword_texts import KeywordKnowledge, Training, check_training, knowledge_of
from unembed.games.threat import Adversary
from unembed.seeds import generator

#: With fewer texts that hold a kind, or that don't, on either side, it is not asked about.
FEWEST = 20
#: What to type to learn how much of the value itself can be read back.
HINTS = {
    E_MAIL: "--pattern e-mail asks what it says",
    PHONE: "--pattern phone, or its format, asks what it says",
    ACCOUNT: "--pattern iban, or its format, asks what it says",
    CARD: "--pattern card asks what it says",
    PERSON: "--names FILE asks whose it is",
}


class PersonalOptions(Options):
    """Whether personal data is looked for by itself."""

    find: bool = Field(default=True, description="look for personal data in the texts and ask about what is found")
    samples: int = Field(default=200, ge=8, description="texts that the adversary learns a kind from")


class PersonalGame(KeywordGame):
    """Deals vectors of texts with and without personal data; judges who can tell which is which."""

    Options: ClassVar[type[Options]] = PersonalOptions
    facts: ClassVar[GameFacts] = GameFacts(
        name="personal",
        question="Which vectors belong to texts that hold personal data?",
        metric="accuracy",
        metric_meaning="share of right yes/no answers on test sets that are half yes, half no, averaged over the kinds "
        "of personal data that the texts hold (a coin gives 50 %)",
        consequence="Somebody with the vectors can pick out the texts that hold addresses, numbers or names, and look "
        "closer at those.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        evidence=("average_precision",),
        attacks_of="keyword",
        gravest="moderate",
    )

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question about all kinds that enough texts hold."""
        options, given = audited.said("personal", PersonalOptions), audited.given("personal")
        if not options.find:
            yield Refused("personal", "looking for personal data was turned off")
            return
        asked = tuple(given.get("keywords", ())) or KINDS
        counts = [holds_personal(corpus.texts, asked).sum(axis=0) for corpus in (audited.target, audited.inside)]
        sizes = (len(audited.target), len(audited.inside))
        kinds = tuple(
            kind
            for column, kind in enumerate(asked)
            if all(FEWEST <= held[column] <= size - FEWEST for held, size in zip(counts, sizes, strict=True))
        )
        if kinds:
            yield Question(cls(**{"samples": options.samples, **given, "keywords": kinds}))
            return
        told = ", ".join(f"{kind_name(kind)} {int(counts[0][c]):,}" for c, kind in enumerate(asked))
        yield Refused("personal", f"fewer than {FEWEST} target texts hold any one kind of personal data ({told})")

    def seat(self, adversary: Adversary, known: Corpus, others: Sequence[Adversary]) -> Adversary | str:
        """Whoever has no text with such data has nothing to learn from."""
        held = holds_personal(known.texts, self.keywords).sum(axis=0)
        if any(count < FEWEST for count in held):
            return f"fewer than {FEWEST} of the texts this adversary holds have such data: nothing to learn from"
        return adversary

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told = f"can tell which texts hold {found.subject} with a balanced accuracy of {found.estimate.value:.0%}"
        first, share = found.secondary.get(FIRST_N), found.secondary.get(PREVALENCE)
        if first is None or share is None:
            return told
        return f"{told}; {share.value:.1%} of all texts do, and of as many texts, the surest first, {first.value:.0%}"

    @property
    def subject(self) -> str | None:
        """The kinds asked about."""
        named = [kind_name(kind) for kind in self.keywords]
        return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}" if named else None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """None: the adversary reads its own texts."""
        return []

    def deal(self, material: Material) -> Deal[KeywordKnowledge, KeywordTruth]:
        """Training rows for the adversary; balanced test sets for the judge."""
        if not self.keywords:
            raise UsageError("the game 'personal' needs kinds of personal data, or an audit that finds them")
        labels = tuple(kind_name(kind) for kind in self.keywords)
        training = self._own_texts(material.known, material.seed)
        check_training(training)
        dealt = knowledge_of(material, training, labels)
        # Kinds of data are no words: whoever looked for them in the texts would find none.
        knowledge = replace(dealt.knowledge, texts=())
        present = holds_personal(material.target.texts, self.keywords)
        asked = np.zeros_like(present)
        notes = list(dealt.notes)
        for column, label in enumerate(labels):
            rng = generator(material.seed, "asked", label)
            yes, no = np.flatnonzero(present[:, column]), np.flatnonzero(~present[:, column])
            count = min(len(yes), len(no), self.asked)
            if count < FEWEST:
                raise CannotMeasureError(f"{len(yes)} of {len(present)} target texts hold {label}: {FEWEST} are needed")
            asked[rng.permutation(yes)[:count], column] = True
            asked[rng.permutation(no)[:count], column] = True
            further = f"; {HINTS[label]}" if label in HINTS else ""
            notes.append(f"{len(yes):,} of {len(present):,} target texts hold {label}, found by its form{further}")
        truth = KeywordTruth(present, asked, labels, material.groups)
        return Deal(knowledge, material.target_vectors, truth, dealt.pairs, 0, tuple(notes))

    def _own_texts(self, known: Corpus, seed: int) -> Training:
        """Texts of the adversary with and without each kind, as many of both."""
        held = holds_personal(known.texts, self.keywords)
        rows: list[IntArray] = []
        for column, kind in enumerate(self.keywords):
            rng = generator(seed, "personal", kind)
            yes, no = (rng.permutation(np.flatnonzero(held[:, column] == answer)) for answer in (True, False))
            half = min(len(yes), len(no), self.samples // 2)
            rows.append(np.concatenate([yes[:half], no[:half]]).astype(np.int64))
        labels = tuple(held[own, column] for column, own in enumerate(rows))
        return Training(list(known.texts), np.arange(len(known)), tuple(rows), labels, held.mean(axis=0))
