"""Personal data in texts, found by form: e-mail addresses, phone, account and card numbers, people's names.

What it is: patterns for what has a form, with the check digits of accounts (IBAN, ISO 13616) and cards (Luhn), and for
names the rules of :mod:`unembed.corpora.names` with a short list of common first names of our own, and whoever is
greeted or signs.

What it is not: a search for everything that tells of a person. A name without a title, greeting or listed first name, a
number in a form of its own, an address, a diagnosis are missed, and a place or a product may be taken for a name. No
value found here is ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.names import find_names
from unembed.corpora.patterns.checks import luhn
from unembed.corpora.words import STOP_WORDS, word_spans
from unembed.errors import UnknownNameError, UsageError

E_MAIL, PHONE, ACCOUNT, CARD, PERSON = (
    "an e-mail address",
    "a phone number",
    "an account number",
    "a card number",
    "a person's name",
)

# fmt: off
#: Common first names of several languages, none of them a common word; a capital inside a sentence is asked for too.
FIRST_NAMES = (
    "Adam", "Ahmed", "Alejandro", "Alessandro", "Alexander", "Alice", "Amanda", "Amelia", "Amir", "Ana", "Andrea",
    "Andrew", "Angela", "Anna", "Anthony", "Antonio", "Barbara", "Beatrice", "Benjamin", "Brian", "Camille", "Carla",
    "Carlos", "Carol", "Caroline", "Catherine", "Charles", "Charlotte", "Chiara", "Christian", "Christopher", "Claire",
    "Claudia", "Daniel", "Daniela", "David", "Deborah", "Diana", "Diego", "Dmitri", "Dorothy", "Edward", "Elena",
    "Elizabeth", "Emily", "Emma", "Enzo", "Eric", "Erik", "Eva", "Fabio", "Fatima", "Federico", "Fernando",
    "Francesca", "Francesco", "Gabriel", "George", "Giovanni", "Giulia", "Giuseppe", "Hannah", "Hans", "Helen",
    "Henry", "Hiroshi", "Hugo", "Ibrahim", "Igor", "Ingrid", "Irene", "Isabel", "Ivan", "Jacob", "James", "Jan",
    "Jane", "Jason", "Javier", "Jean", "Jennifer", "Jessica", "Joan", "Johannes", "John", "Jonathan", "Jorge", "Jose",
    "Joseph", "Joshua", "Juan", "Julia", "Julie", "Karen", "Karl", "Katherine", "Kenneth", "Kevin", "Klaus", "Kumar",
    "Laura", "Lars", "Leon", "Lisa", "Lorenzo", "Louis", "Luca", "Lucas", "Lucia", "Luis", "Luke", "Maria", "Marie",
    "Mario", "Marco", "Margaret", "Marta", "Martin", "Mary", "Matteo", "Matthew", "Mei", "Michael", "Michelle",
    "Miguel", "Mohamed", "Mohammed", "Nancy", "Natalia", "Nicholas", "Nicole", "Noah", "Olga", "Oliver", "Olivia",
    "Omar", "Pablo", "Paola", "Patricia", "Paul", "Paulo", "Pedro", "Peter", "Philip", "Pierre", "Priya", "Rachel",
    "Rajesh", "Rebecca", "Ricardo", "Richard", "Robert", "Roberto", "Ronald", "Samuel", "Sandra", "Sara", "Sarah",
    "Sergio", "Sofia", "Sophie", "Stefan", "Stephanie", "Stephen", "Steven", "Susan", "Teresa", "Thomas", "Timothy",
    "Valentina", "Vanessa", "Victoria", "Vincent", "Virginia", "Vladimir", "Walter", "Wei", "William", "Yuki", "Yusuf",
)
# fmt: on

_LISTED = frozenset(name.lower() for name in FIRST_NAMES)
_E_MAIL = re.compile(r"(?<![\w.+-])\w[\w.+-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.)+[A-Za-z]{2,}")
_PHONE = re.compile(r"(?<![\w./-])(?:\+|\()?\d(?:[\d]|[ ()./-](?=[\d( ])){6,18}\d(?![\w/-])")
#: Dates, US social security numbers, addresses of machines, references with a slash.
_OTHER_NUMBER = re.compile(
    r"(?:19|20)\d\d[./ -]\d{1,2}[./ -]\d{1,2}|\d{1,2}[./ -]\d{1,2}[./ -](?:19|20)?\d\d|\d{3}-\d\d-\d{4}"
    r"|\d{1,3}(?:\.\d{1,3}){3}|[\d.]+/[\d.]+"
)
_CALLED = re.compile(r"(?:phone|mobile|cell|call|tel|fax|whatsapp|reach)\b[^\d\n]{0,25}$", re.IGNORECASE)
_ACCOUNT = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?!\w)")
_CARD = re.compile(r"(?<![\w-])[3-6]\d{3}(?:[ -]?\d){9,15}(?![\w-])")
_GREETED = re.compile(r"(?:^|[.!?\n]\s*)(?:Dear|Hi|Hello|Hey|Caro|Cara|Ciao)\s+([A-Z][a-z]+)\b(?=\s*[,!.\n]|\s+[A-Z])")
_SIGNED = re.compile(r"(?:[Rr]egards|[Ss]incerely|[Cc]heers|[Tt]hanks|[Bb]est wishes|[Yy]ours)[,.!\s]+([A-Z][a-z]+)\b")
_NOT_NAMES = frozenset(("All", "Sir", "Madam", "Team", "Customer", "Everyone", "There", "Again", "For", "In", "And"))
_NOT_NAMES |= frozenset(("Colleague", "Colleagues", "Friends", "Support", "The", "To", "So", "Very", "Much", "You"))

BoolArray = NDArray[np.bool_]
#: Where something starts and ends in a text.
Span = tuple[int, int]


def _e_mails(text: str) -> Iterator[Span]:
    if "@" in text:
        yield from (found.span() for found in _E_MAIL.finditer(text))


def _phones(text: str) -> Iterator[Span]:
    """Eight to fifteen digits that begin as phone numbers do, stand in their groups, or follow a word for one."""
    for found in _PHONE.finditer(_without_accounts(text)):
        raw = found.group()
        groups = re.findall(r"\d+", raw)
        digits = "".join(groups)
        if not 8 <= len(digits) <= (15 if raw.startswith("+") else 12) or _OTHER_NUMBER.fullmatch(raw):
            continue
        grouped = len(groups) >= 3 or raw.startswith(("+", "("))
        if grouped or _CALLED.search(found.string[max(0, found.start() - 40) : found.start()]):
            yield found.span()


def _accounts(text: str) -> Iterator[Span]:
    """Letters count from ten, the country goes to the end, and the remainder by 97 is one."""
    for found in _ACCOUNT.finditer(text):
        places = [place for place in range(*found.span()) if text[place] != " "]
        raw = "".join(text[place] for place in places)
        # Words in capitals may follow the number: the longest part whose check digits are right counts.
        for end in range(min(len(raw), 34), 14, -1):
            if _remainder(raw[:end]) == 1:
                yield found.start(), places[end - 1] + 1
                break


def _without_accounts(text: str) -> str:
    """The text with other characters, as many, where an account number may stand."""
    return _ACCOUNT.sub(lambda found: "#" * len(found.group()), text)


def _remainder(account: str) -> int:
    return int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97


def _is_card(digits: str) -> bool:
    return 13 <= len(digits) <= 19 and digits[0] in "3456" and luhn(digits[:-1]) == digits[-1]


def _cards(text: str) -> Iterator[Span]:
    for found in _CARD.finditer(_without_accounts(text)):
        if _is_card(re.sub(r"\D", "", found.group())):
            yield found.span()


_FORMS: dict[str, Callable[[str], Iterator[Span]]] = {
    E_MAIL: _e_mails,
    PHONE: _phones,
    ACCOUNT: _accounts,
    CARD: _cards,
}
KINDS = (*_FORMS, PERSON)


def people_in(texts: Sequence[str]) -> tuple[str, ...]:
    """Words that are people's names in these texts, in lower case, by falling number of texts."""
    greeted = {name for text in texts for form in (_GREETED, _SIGNED) for name in form.findall(text)}
    return find_names(texts, [*FIRST_NAMES, *sorted(greeted - _NOT_NAMES)])


def holds_personal(texts: Sequence[str], kinds: Sequence[str]) -> BoolArray:
    """Which text holds which kind of personal data: ``[texts, kinds]``.

    A kind is one of ``KINDS``, or ``NAME=REGEX`` for one's own. Who counts as a person follows from all these texts
    together.
    """
    if not kinds:
        return np.zeros((len(texts), 0), dtype=bool)
    return np.stack([_held(tuple(texts), kind) for kind in kinds], axis=1)


@lru_cache(maxsize=16)
def _held(texts: tuple[str, ...], kind: str) -> BoolArray:
    """One kind; remembered, because an audit asks the same of the same texts for every adversary and defense."""
    if kind == PERSON:
        return np.array(_naming(texts), dtype=bool)
    find = _form(kind)
    return np.array([any(find(text)) for text in texts], dtype=bool)


def _naming(texts: Sequence[str]) -> list[bool]:
    """Which texts hold one of the names, with a capital where the texts have capitals."""
    names = frozenset(people_in(texts))
    return [any(word in names and not text[start].islower() for word, start, _ in word_spans(text)) for text in texts]


def personal_spans(text: str, kinds: Sequence[str] = KINDS) -> list[tuple[int, int, str]]:
    """Where personal data stand in one text, in order and without overlaps, with their kind.

    Unlike :func:`holds_personal` this looks at one text alone, so that what is found doesn't depend on the others. A
    listed first name counts wherever it stands with a capital, and so does a word with a capital that follows a name.
    """
    taken: list[tuple[int, int, str]] = []
    # Accounts first, because parts of one look like other numbers; people last.
    for kind in sorted(kinds, key=lambda kind: (kind == PERSON, kind != ACCOUNT)):
        for start, end in _people(text) if kind == PERSON else _form(kind)(text):
            if start < end and all(end <= other or start >= stop for other, stop, _ in taken):
                taken.append((start, end, kind))
    return sorted(taken)


def check_kind(kind: str) -> None:
    """A kind is one of ``KINDS`` or ``NAME=REGEX``; anything else is an error."""
    if kind != PERSON:
        _form(kind)


def kind_name(kind: str) -> str:
    """What a kind is called: its name without the form."""
    return kind.partition("=")[0].strip()


def _people(text: str) -> Iterator[Span]:
    """Words of people's names, neighbouring ones as one."""
    names = frozenset(people_in([text])) | _LISTED
    start, end = -1, -1
    for word, begin, stop in word_spans(text):
        named = word in names or (end >= 0 and word not in STOP_WORDS and text[end:begin] == " ")
        if named and text[begin].isupper():
            if end < 0 or text[end:begin] != " ":
                if end >= 0:
                    yield start, end
                start = begin
            end = stop
        elif end >= 0:
            yield start, end
            end = -1
    if end >= 0:
        yield start, end


def _form(kind: str) -> Callable[[str], Iterator[Span]]:
    return _FORMS[kind] if kind in _FORMS else _own_form(kind)


def _own_form(kind: str) -> Callable[[str], Iterator[Span]]:
    name, equals, expression = kind.partition("=")
    if not equals or not name.strip():
        raise UnknownNameError("kind of personal data", kind, KINDS)
    try:
        form = re.compile(expression)
    except re.error as error:
        raise UsageError(f"the form of '{name}' is no regular expression: {error}") from None
    return lambda text: (found.span() for found in form.finditer(text))
