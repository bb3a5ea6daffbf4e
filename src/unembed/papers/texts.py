"""The texts of the experiments: open stand-ins for corpora that can't be passed on, or invented ones for ``smoke``.

| paper | published on | stand-in |
|---|---|---|
| Song 6.2, same domain | BookCorpus | ``books_by_author``, targets by authors the adversary has not seen |
| Song 6.2, cross domain | Wikipedia | ``wikipedia_sentences`` |
| Corò 4.3.1, in-domain | Italian newspaper, economy | ``italian_crime_news``, targets from other articles |
| Corò 4.3.1, cross-domain | its other sections | ``italian_ner_kind``, ``italian_novels`` |
| Corò, the same in English | – | ``news_reuters21578`` (economy), ``news_20newsgroups``, ``wikipedia_sentences`` |

Every near duplicate of a target is taken out of both adversaries' texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates, remove_leaks
from unembed.corpora.paragraphs import Paragraphs, build_paragraphs, cut_into_sentences, keep_sentences
from unembed.corpora.splits import split_corpus, whole_groups
from unembed.errors import DataError
from unembed.papers.base import Conditions, by_size
from unembed.papers.datasets import read
from unembed.seeds import generator, seed_for

#: The most texts that an encoder is fitted on: Doc2Vec goes through them twenty times.
MOST_FITTED = 150_000
IN, CROSS = "same domain", "cross domain"


@dataclass(frozen=True)
class Amounts:
    """How many texts of each kind an experiment takes at one size; None: all there are."""

    known: int | None
    cross: int | None
    targets: int


@dataclass(frozen=True)
class Texts:
    """What is attacked, what each adversary holds, and what a fitted encoder may learn from.

    ``group`` names the column whose values stand on one side only; texts of one group are drawn together when
    intervals are formed.
    """

    target: Corpus
    known: dict[str, Corpus]
    fit: Corpus
    notes: tuple[str, ...]
    group: str = "document"
    language: str = "en"

    @property
    def fingerprint(self) -> str:
        """One digest for all texts."""
        parts = [self.target, *self.known.values(), self.fit]
        return "-".join(part.fingerprint[:12] for part in parts)


def sample(corpus: Corpus, count: int | None, seed: int, what: str) -> Corpus:
    """A uniform sample in the order of the corpus; the whole corpus where it is no larger."""
    if count is None or count >= len(corpus):
        return corpus
    return corpus.select(np.sort(generator(seed, "sample", what).permutation(len(corpus))[:count]))


def sample_documents(corpus: Corpus, count: int | None, seed: int) -> Corpus:
    """Whole documents drawn at random until they hold ``count`` texts: paragraphs need neighbours."""
    if count is None or count >= len(corpus):
        return corpus
    return corpus.select(whole_groups(corpus.column("document"), count, generator(seed, "documents")))


def song_texts(conditions: Conditions, amounts: Amounts) -> Texts:
    """Novels and Wikipedia, as Song 6.2 uses BookCorpus and Wikipedia."""
    if conditions.size == "smoke":
        return _two_adversaries(*_invented(conditions, amounts), "document", "en", conditions, amounts)
    books = read(conditions, "books_by_author", "sentence", ["author"])
    wiki = read(conditions, "wikipedia_sentences", "sentence", ["article_id"])
    books, wiki = (_long_enough(corpus, 5) for corpus in (books, wiki))
    return _two_adversaries(books, wiki, "author", "en", conditions, amounts)


def coro_texts(conditions: Conditions, amounts: Amounts, language: str) -> Texts:
    """Sentences of 8 to 40 words, lower case: one kind of news against texts of other kinds (Corò 4.3.1)."""
    news, others, fit, language = coro_sentences(conditions, amounts, language)
    return _two_adversaries(news, others, "document", language, conditions, amounts, fit)


@dataclass(frozen=True)
class ParagraphTexts:
    """Sentences as in :class:`Texts`, where targets are all sentences of some paragraphs, and paragraphs beside."""

    sentences: Texts
    target: Paragraphs
    known: dict[str, Corpus]
    """Each adversary's own paragraphs."""


def paragraph_texts(conditions: Conditions, amounts: Amounts, language: str) -> ParagraphTexts:
    """Paragraphs of 128 to 168 words of the news, ``amounts.targets`` of them under attack (Corò 4.3.1)."""
    near, far, fit, language = coro_sentences(conditions, amounts, language)
    plain = Amounts(None, amounts.cross, len(near))
    texts = _two_adversaries(near, far, "document", language, conditions, plain, fit)
    held = sample_documents(texts.known[IN], amounts.known, conditions.seed)
    texts = replace(texts, known={**texts.known, IN: held})
    whole = build_paragraphs(texts.target, "document")
    if not len(whole.paragraphs):
        raise DataError(f"no document of {near.name} is long enough for a paragraph of 128 words")
    rng = generator(conditions.seed, "paragraphs")
    chosen = np.sort(rng.permutation(len(whole.paragraphs))[: amounts.targets])
    target = build_paragraphs(whole.sentences_of(chosen), "paragraph")
    known = {domain: build_paragraphs(part, "document").paragraphs for domain, part in texts.known.items()}
    notes = (
        f"targets: {len(target.paragraphs):,} paragraphs, {len(target.sentences):,} sentences",
        f"pairs: {len(held):,} sentences of the same domain, {len(texts.known[CROSS]):,} of another",
        f"paragraphs for training: {len(known[IN]):,} of the same domain, {len(known[CROSS]):,} of another",
    )
    return ParagraphTexts(replace(texts, target=target.sentences, group="paragraph", notes=notes), target, known)


def coro_sentences(
    conditions: Conditions, amounts: Amounts, language: str
) -> tuple[Corpus, Corpus, Corpus | None, str]:
    """Sentences of the news, of other texts, what encoders are fitted on where that is neither, and the language."""
    if conditions.size == "smoke":
        return *_invented(conditions, amounts), None, "en"
    if language == "it":
        articles = read(conditions, "italian_crime_news", "text", ["doc_id"])
        news = cut_into_sentences(_with_document(articles, articles.column("doc_id")))
        kind = _document_from(read(conditions, "italian_ner_kind", "sentence", ["corpus", "split"]))
        novels = _document_from(read(conditions, "italian_novels", "sentence", ["author", "title"]))
        # An article before a vowel is written as one with the noun; the thesis counts the noun alone.
        others = joined([kind, novels], "other Italian texts")
        return _tidy(_parted(news)), _tidy(_parted(others)), None, language
    articles = read(conditions, "news_reuters21578", "text", ["doc_id"])
    news = cut_into_sentences(_with_document(articles, articles.column("doc_id")))
    posts = read(conditions, "news_20newsgroups", "text")
    groups = cut_into_sentences(_with_document(posts, posts.ids))
    wiki = _tidy(_document_from(read(conditions, "wikipedia_sentences", "sentence", ["source", "article_id"])))
    return _tidy(news), joined([_tidy(groups), wiki], "newsgroups and Wikipedia"), wiki, language


def _two_adversaries(
    near: Corpus,
    far: Corpus,
    group: str,
    language: str,
    conditions: Conditions,
    amounts: Amounts,
    fit: Corpus | None = None,
) -> Texts:
    seed = seed_for(conditions.seed, "sides")
    near, _ = drop_duplicates(near)
    far, _ = drop_duplicates(sample(far, amounts.cross, seed, "cross"))
    split = split_corpus(near, share=0.8, by=group, max_targets=amounts.targets, seed=seed)
    known = sample(split.adversary, amounts.known, seed, "known")
    cross, leaks = remove_leaks(far, split.target)
    if fit is None:
        fit = joined([known, cross], "all but the targets")
    fit = sample(fit, min(MOST_FITTED, 2 * (amounts.cross or MOST_FITTED)), seed, "fit")
    near_leaks = split.report.leaks
    notes = (
        f"targets: {len(split.target):,} texts of {near.name} from {split.report.target_groups:,} values of "
        f"'{group}' that the adversary has not seen",
        f"pairs: {len(known):,} of the same domain ({near.name}; {near_leaks.removed} duplicates of "
        f"targets removed), {len(cross):,} of another ({far.name}; {leaks.removed} removed)",
    )
    return Texts(split.target, {IN: known, CROSS: cross}, fit, notes, group, language)


def _invented(conditions: Conditions, amounts: Amounts) -> tuple[Corpus, Corpus]:
    """Made-up messages and statements: enough to show that an experiment runs, and no more."""
    from unembed.corpora.generators.messages import generate_messages
    from unembed.corpora.generators.public_text import generate_public_text

    n = (amounts.known or 400) + 4 * amounts.targets
    near = generate_messages(n, authors=max(10, n // 10), seed=conditions.seed)
    near = Corpus(near.texts, near.ids, {"document": near.column("author")}, "invented messages")
    far = generate_public_text(amounts.cross or 400, seed=conditions.seed)
    far = Corpus(far.texts, far.ids, {"document": far.column("topic")}, "invented statements")
    return near, far


def _long_enough(corpus: Corpus, least: int) -> Corpus:
    return corpus.select([row for row, text in enumerate(corpus.texts) if len(text.split()) >= least])


def _with_document(corpus: Corpus, documents: Sequence[object]) -> Corpus:
    """The corpus with one column, ``document``."""
    return Corpus(corpus.texts, corpus.ids, {"document": list(documents)}, corpus.name)


def _document_from(corpus: Corpus) -> Corpus:
    """The corpus with one column, ``document``, made of all its columns."""
    return _with_document(corpus, [" ".join(map(str, values)) for values in zip(*corpus.columns.values(), strict=True)])


def _parted(corpus: Corpus) -> Corpus:
    """Apostrophes followed by a space, so that an elided article is a word of its own."""
    texts = [text.replace("’", "'").replace("'", "' ") for text in corpus.texts]
    return Corpus(texts, corpus.ids, corpus.columns, corpus.name)


def _tidy(corpus: Corpus) -> Corpus:
    return keep_sentences(corpus, lower=True)


def joined(parts: Sequence[Corpus], name: str) -> Corpus:
    """Several corpora as one, with one column, ``document``."""
    texts = [text for part in parts for text in part.texts]
    ids = [f"{number}-{i}" for number, part in enumerate(parts) for i in part.ids]
    homes = [f"{number}-{d}" for number, part in enumerate(parts) for d in part.columns.get("document", part.ids)]
    return Corpus(texts, ids, {"document": homes}, name)


#: Known texts, cross-domain texts and targets at each size, unless an experiment says otherwise.
USUAL = by_size(Amounts(300, 300, 50), Amounts(3_000, 3_000, 300), Amounts(None, 150_000, 5_000))
