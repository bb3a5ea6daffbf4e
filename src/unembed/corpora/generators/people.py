"""Invented people: a name, a home, numbers, a condition, topics they write about and habits of style."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date

from unembed.corpora.generators.grammar import Grammar
from unembed.corpora.patterns.kinds import MONTHS

TOPICS = ("delivery", "billing", "health", "travel", "technical", "office")
# fmt: off
HABITS = {
    "hello": 2, "bye": 2, "very": 2, "well": 2, "link": 3, "because": 2, "please": 2, "can_you": 2, "wonder": 2,
    "thanks": 3, "feeling": 5, "relative": 4, "how_long": 5, "staff": 4, "job": 2, "hobby": 2, "pets": 1,
}
# fmt: on
"""How many of a symbol's alternatives a person uses."""

DATE_FORMATS = ("{d} {month} {y}", "{month} {d}", "{d:02d}/{m:02d}/{y}", "{y}-{m:02d}-{d:02d}", "{d}.{m}.{y}")
_MAIL_HOSTS = ("example.com", "example.org", "example.net", "mail.example", "post.example")


@dataclass(frozen=True)
class Person:
    """Somebody who writes messages, always in the same manner."""

    key: str
    name: str
    city: str
    diagnoses: tuple[str, ...]
    account: str
    phone: str
    email: str
    born: date
    topics: tuple[float, ...]
    """How much each of TOPICS is on the person's mind."""
    habits: dict[str, list[str]]
    date_format: str
    lower_case: bool
    full_stop: str
    curly_apostrophes: bool

    def date(self, day: date) -> str:
        """A date as this person writes it."""
        return self.date_format.format(d=day.day, m=day.month, y=day.year, month=MONTHS[day.month - 1])

    def styled(self, text: str) -> str:
        """The text with this person's typing habits; its length never changes."""
        if self.lower_case:
            text = text.lower()
        if self.curly_apostrophes:
            text = text.replace("'", "’")
        if self.full_stop != "." and text.endswith("."):
            text = text[:-1] + self.full_stop
        return text


def invent_person(number: int, grammar: Grammar, rng: random.Random) -> Person:
    """One person; the number keeps names apart."""
    rules = grammar.rules
    first, last = rng.choice(rules["first_name"]), rng.choice(rules["surname"])
    mailbox = rng.choice(("{f}.{l}", "{l}{n}", "{f}_{n}", "{l}.{f}", "{f}{l}{n}"))
    return Person(
        key=f"a{number:04d}",
        name=rng.choice((f"{first} {last}", f"{first} {last}", first)),
        city=rng.choice(rules["city"]),
        diagnoses=tuple(rng.sample(rules["diagnosis"], 2)),
        account=account_number(rng),
        phone=phone_number(rng),
        email=mailbox.format(f=first.lower(), l=last.lower(), n=rng.randint(2, 99)) + "@" + rng.choice(_MAIL_HOSTS),
        born=date(rng.randint(1935, 2004), rng.randint(1, 12), rng.randint(1, 28)),
        topics=tuple(rng.choice((0.3, 0.6, 1.0, 4.0)) for _ in TOPICS),
        habits={symbol: rng.sample(rules[symbol], count) for symbol, count in HABITS.items()},
        date_format=rng.choice(DATE_FORMATS),
        lower_case=rng.random() < 0.15,
        full_stop=rng.choice((".", ".", ".", "!", "…")),
        curly_apostrophes=rng.random() < 0.2,
    )


def account_number(rng: random.Random) -> str:
    """An invented account number."""
    style = rng.choice(("{:08d}", "AC-{:07d}", "{:010d}"))
    return style.format(rng.randrange(10**7))


def order_number(rng: random.Random) -> str:
    """An invented order number."""
    return rng.choice(("#{:06d}", "A{:07d}", "{:05d}-K", "OR{:06d}")).format(rng.randrange(10**5))


def phone_number(rng: random.Random) -> str:
    """An invented phone number of the fictional 555 kind."""
    return rng.choice(("555-01{:02d}-{:03d}", "0555 01{:02d} {:03d}", "+00 555 01{:02d}{:03d}")).format(
        rng.randrange(100), rng.randrange(1000)
    )
