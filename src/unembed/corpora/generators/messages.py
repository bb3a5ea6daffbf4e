"""Messages of invented customers and patients, with the place of every secret known.

The shipped demo corpus, and with ``domain="public"`` the public text of an adversary from outside.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.generators.grammar import Fill, load_grammar
from unembed.corpora.generators.people import TOPICS, Person, invent_person, order_number
from unembed.corpora.generators.public_text import generate_public_text
from unembed.errors import UnknownNameError, UsageError

DOMAINS = ("support", "public")
SECRET_KINDS = ("name", "city", "date", "diagnosis", "order", "account", "phone", "email")
_FIRST_DAY, _DAYS = date(2023, 1, 1), 730
_LONGEST_THREAD = 6
_MESSAGES_PER_AUTHOR = 40


def generate_messages(n: int, *, seed: int = 0, domain: str = "support", authors: int | None = None) -> Corpus:
    """``n`` invented messages.

    Args:
        n: How many.
        seed: The same seed gives the same messages.
        domain: ``support``: messages to a help desk, full of secrets; ``public``: general statements.
        authors: How many people write; about one for 40 messages if not said.

    The columns of ``support``: ``author`` (a stable person with habits and favourite topics), ``topic``,
    ``document`` (a thread of one to six messages of one author), ``date`` (when it was sent), ``city`` (the
    author's home), ``diagnosis`` (the one that is named in the text, or None) and ``secrets``, a list of
    ``(kind, start, end)``.
    """
    if domain not in DOMAINS:
        raise UnknownNameError("domain", domain, DOMAINS)
    if domain == "public":
        if authors is not None:
            raise UsageError("authors only means something in the domain 'support'")
        return generate_public_text(n, seed=seed)
    if n < 1:
        raise UsageError(f"n must be at least 1, not {n}")
    if authors is not None and authors < 1:
        raise UsageError(f"authors must be at least 1, not {authors}")
    grammar = load_grammar("people", "support")
    people = [
        invent_person(i, grammar, random.Random(seeds.seed_for(seed, "corpora", "person", i)))
        for i in range(authors or max(1, n // _MESSAGES_PER_AUTHOR))
    ]
    rng = random.Random(seeds.seed_for(seed, "corpora", "messages"))
    texts: list[str] = []
    columns: dict[str, list[Any]] = {
        name: [] for name in ("author", "topic", "document", "date", "city", "diagnosis", "secrets")
    }
    thread = 0
    while len(texts) < n:
        person = people[thread % len(people)]
        topic = rng.choices(TOPICS, weights=person.topics)[0]
        day = _FIRST_DAY + timedelta(days=rng.randrange(_DAYS))
        fill = _filler(person, day, order_number(rng), grammar.rules, rng)
        for _ in range(min(rng.randint(1, _LONGEST_THREAD), n - len(texts))):
            text, spans = grammar.expand(topic, rng, fill=fill, prefer=person.habits)
            named = [text[start:end] for kind, start, end in spans if kind == "diagnosis"]
            texts.append(person.styled(text))
            row = (person.key, topic, f"t{thread:06d}", day.isoformat(), person.city)
            for name, value in zip(columns, (*row, named[0] if named else None, spans), strict=True):
                columns[name].append(value)
            day += timedelta(days=rng.randint(0, 5))
        thread += 1
    return Corpus(texts, [f"m{i:06d}" for i in range(n)], columns, "messages")


def _filler(person: Person, day: date, order: str, rules: dict[str, list[str]], rng: random.Random) -> Fill:
    """The secrets of one thread: mostly the writer's own, the same order number throughout."""

    def near() -> str:
        return person.date(day + timedelta(days=rng.randint(-40, 40)))

    make: dict[str, tuple[str, Callable[[], str]]] = {
        "NAME": ("name", lambda: person.name),
        "OTHERNAME": ("name", lambda: rng.choice(rules["first_name"])),
        "CITY": ("city", lambda: person.city),
        "OTHERCITY": ("city", lambda: rng.choice(rules["city"])),
        "DATE": ("date", near),
        "BORN": ("date", lambda: person.date(person.born)),
        "DIAGNOSIS": ("diagnosis", lambda: person.diagnoses[0 if rng.random() < 0.8 else 1]),
        "ORDER": ("order", lambda: order),
        "ACCOUNT": ("account", lambda: person.account),
        "PHONE": ("phone", lambda: person.phone),
        "EMAIL": ("email", lambda: person.email),
    }

    def fill(symbol: str) -> tuple[str, str]:
        kind, value = make[symbol]
        return kind, value()

    return fill
