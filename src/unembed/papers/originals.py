"""Converters: one file of a data set's public original to rows of the form that experiments read.

Originals are far larger than experiments need, and each is cleaned only as far as the experiments ask for.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.policy import default
from email.utils import parseaddr
from itertools import islice, product
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, parse

import numpy as np

from unembed.corpora.paragraphs import split_sentences
from unembed.corpora.readers import iter_rows
from unembed.corpora.substitution import contains_keyword
from unembed.papers.pan2020_texts import BODY, CITIES

Rows = Iterator[dict[str, Any]]

SENTENCES_PER_NOVEL = 750
POSTS_PER_WRITER, SHORTEST_POST, LONGEST_POST = 60, 30, 2_000
LONGEST_MAIL = 4_000
_ADULT = 18
#: Groups that are one category, whatever stands behind the first dot.
_BROAD = ("comp", "rec", "sci")
_TEI = "{http://www.tei-c.org/ns/1.0}"


def novel(path: Path) -> Rows:
    """A TEI file: the sentences of its paragraphs."""
    root = _xml(path)
    head = _element(root, f"{_TEI}teiHeader/{_TEI}fileDesc/{_TEI}titleStmt")
    title, author = (_text(_element(head, _TEI + part)) for part in ("title", "author"))
    paragraphs = _element(root, f"{_TEI}text/{_TEI}body").iter(f"{_TEI}p")
    sentences = (sentence for p in paragraphs for sentence in split_sentences(_text(p)))
    for sentence in islice(sentences, SENTENCES_PER_NOVEL):
        yield {"sentence": sentence, "author": author, "title": re.sub(r"\s*: ELTeC edition$", "", title)}


def wikipedia(path: Path) -> Rows:
    """A file of WikiExtractor's: ``<doc id="…" …>``, the title in a line of its own, paragraphs."""
    for number, body in re.findall(r'<doc id="(\d+)"[^>]*>\n(.*?)</doc>', _read(path), re.S):
        for paragraph in body.split("\n")[1:]:
            for sentence in split_sentences(html.unescape(paragraph)):
                yield {"sentence": sentence, "article_id": number, "source": "wikipedia"}


def blog(path: Path) -> Rows:
    """All posts of one writer, whose id, age and trade stand in the file's name; the mark-up is not proper XML."""
    writer, _, age, industry, *_ = path.name.split(".")
    posts = (" ".join(html.unescape(post).split()) for post in re.findall(r"<post>(.*?)</post>", _read(path), re.S))
    fit = [post for post in posts if len(post) <= LONGEST_POST and len(post.split()) >= SHORTEST_POST]
    if int(age) >= _ADULT and len(fit) >= POSTS_PER_WRITER:
        user = hashlib.sha256(writer.encode()).hexdigest()[:12]
        yield from ({"text": post, "user_id": user, "industry": industry} for post in fit[:POSTS_PER_WRITER])


def procedures(path: Path) -> Rows:
    """The ICD-10-PCS tables: a code is one label of each axis, its description those that say something."""
    for table in _xml(path).iter("pcsTable"):
        system, operation = (_text(_element(table, f"axis[@pos='{place}']/label")) for place in (2, 3))
        for row in table.iter("pcsRow"):
            axes = [(_text(_element(axis, "title")), axis.findall("label")) for axis in row.iter("axis")]
            for labels in product(*(found for _, found in axes)):
                part, *rest = zip((title for title, _ in axes), map(_text, labels), strict=True)
                said = {title: label for title, label in rest if not re.match(r"(No|None)\b", label)}
                with_device = f" with {said.pop('Device')}" if "Device" in said else ""
                approach = f", {said.pop('Approach')} Approach" if "Approach" in said else ""
                qualified = "".join(f", {label}" for label in said.values())
                described = f"{operation} {part[1]}{with_device}{qualified}{approach}"
                yield {"description": described, "department": system}


def transcriptions(path: Path) -> Rows:
    """Reports: their sentences that name a part of the body."""
    yield from ({"sentence": sentence} for sentence, named in _sentences(path, "transcription", BODY) if named)


def reviews(path: Path) -> Rows:
    """Reviews: their sentences that name a city, and a tenth of the others."""
    for number, (sentence, named) in enumerate(_sentences(path, "content", CITIES)):
        if named or number % 10 == 0:
            yield {"sentence": sentence}


def lines(path: Path) -> Rows:
    """One sentence per line."""
    yield from ({"sentence": line.strip()} for line in _read(path).splitlines() if line.strip())


def splice_sites(path: Path) -> Rows:
    """Label, name and 60 nucleotides per line, the junction in the middle."""
    for line in _read(path).splitlines():
        if line.strip():
            label, _, sequence = (part.strip() for part in line.split(","))
            if len(sequence) != 60:
                raise ValueError("a sequence has 60 nucleotides")
            yield {"window20": sequence[20:40], "clean": set(sequence) <= set("ACGT"), "label": label}


def crime_news(path: Path) -> Rows:
    """Articles; some have no text."""
    for row in iter_rows(path, columns=["id", "text"]):
        if (row["text"] or "").strip():
            yield {"text": row["text"], "doc_id": str(row["id"])}


def tagged_tokens(path: Path) -> Rows:
    """Token and tag per line, an empty line between sentences; the spaces round punctuation are guessed."""
    corpus, split = path.stem.split("_")
    for block in re.split(r"\n\s*\n", _read(path).strip()):
        sentence = " ".join(line.split("\t")[0] for line in block.splitlines())
        sentence = re.sub(r" ([,.;:!?)\]»”])|(['’(\[«“]) ", r"\1\2", sentence)
        yield {"sentence": sentence, "corpus": corpus, "split": split}


def reuters(path: Path) -> Rows:
    """Stories that have a body, with the people they are tagged with, and the topic where there is just one."""
    for number, story in re.findall(r'<REUTERS [^>]*NEWID="(\d+)">(.*?)</REUTERS>', _read(path, "latin-1"), re.S):
        body = re.search(r"<BODY>(.*?)</BODY>", story, re.S)
        people = re.search(r"<PEOPLE>(.*?)</PEOPLE>", story, re.S)
        if body is not None and people is not None:
            text = re.sub(r"\s+Reuter\s*$", "", html.unescape(body[1]).rstrip("\x03\n "), flags=re.I)
            title = " ".join(html.unescape("".join(re.findall(r"<TITLE>(.*?)</TITLE>", story, re.S))).split())
            topics = re.findall(r"<D>(.*?)</D>", "".join(re.findall(r"<TOPICS>(.*?)</TOPICS>", story, re.S)))
            yield {
                "text": text,
                "doc_id": int(number),
                "people": re.findall(r"<D>(.*?)</D>", people[1]),
                "title": title,
                "category": topics[0] if len(topics) == 1 else None,
            }


def newsgroup_post(path: Path) -> Rows:
    """A post without header, quotes and signature; its subject, its group and what that is about, a digest of whose."""
    head, _, body = _read(path, "latin-1").partition("\n\n")
    subject, sender = (re.search(rf"^{name}:(.*)$", head, re.M) for name in ("Subject", "From"))
    group, whole = path.parent.name, path.parent.name.partition(".")[0]
    body = re.split(r"^-- ?$", body, maxsplit=1, flags=re.M)[0]
    kept = [line for line in body.splitlines() if not re.match(r"\s*[>|:]|.*\bwrites:\s*$", line)]
    if text := "\n".join(kept).strip():
        title = "" if subject is None else " ".join(subject[1].split())
        writer = hashlib.sha256(sender[1].strip().encode()).hexdigest()[:12] if sender else None
        about = whole if whole in _BROAD else group
        yield {"text": text, "title": title, "category": about, "group": group, "author": writer}


def mail(path: Path) -> Rows:
    """A mail with its header: the writer's own words, without what it quotes or passes on."""
    held = message_from_bytes(path.read_bytes(), policy=default)
    body = held.get_body(("plain",))
    try:
        text = "" if body is None else body.get_content()
    except (LookupError, UnicodeError):  # a text encoding that nobody knows
        text = ""
    own = re.split(r"^\s*-{2,} ?(?:Original Message|Forwarded by)", text, maxsplit=1, flags=re.M)[0]
    kept = "\n".join(line for line in own.splitlines() if not line.lstrip().startswith(">")).strip()
    if kept:
        label = "spam" if "spam" in path.parts else "ham"
        yield {"text": kept[:LONGEST_MAIL], "label": label, "sender": parseaddr(str(held["from"] or ""))[1].lower()}


def released_mails(path: Path) -> Rows:
    """Mails as rows of a csv file; some have no body."""
    for row in iter_rows(path, columns=["MetadataFrom", "ExtractedBodyText"]):
        if text := (row["ExtractedBodyText"] or "").strip():
            yield {"text": text[:LONGEST_MAIL], "sender": row["MetadataFrom"] or ""}


def first_names(path: Path) -> Rows:
    """One name per line."""
    yield from ({"first_name": line.strip()} for line in _read(path).splitlines() if line.strip())


def _sentences(path: Path, column: str, keywords: Sequence[str]) -> list[tuple[str, bool]]:
    """The sentences of a column of a csv file, and whether each holds a keyword."""
    texts = (row[column] or "" for row in iter_rows(path, columns=[column]))
    sentences = [sentence for text in texts for sentence in split_sentences(text)]
    held = np.atleast_1d(contains_keyword(sentences, keywords).any(axis=1))
    return list(zip(sentences, held.tolist(), strict=True))


def _read(path: Path, encoding: str = "utf-8") -> str:
    return path.read_text(encoding=encoding, errors="replace")


def _xml(path: Path) -> Element:
    # The user's own file: expat loads nothing from outside and limits how far entities expand.
    return parse(path).getroot()  # noqa: S314


def _element(parent: Element, path: str) -> Element:
    found = parent.find(path)
    if found is None:
        raise ValueError(f"no element {path}")
    return found


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
