"""Work on texts: copies of targets and bags of words, beside scikit-learn's vectorisers on the same texts."""

from __future__ import annotations

from pathlib import Path

from measure import Case, Yardstick

from unembed.corpora import remove_leaks
from unembed.corpora.generators.messages import generate_messages
from unembed.encoders.bag_of_words import TfidfEncoder

TEXTS = 1_500


def copies(folder: Path) -> Case:
    """Texts of the adversary that are copies of a target, near copies or quotations."""
    from sklearn.feature_extraction.text import CountVectorizer

    target, adversary = (generate_messages(TEXTS, seed=seed) for seed in (0, 1))

    def vectorise() -> None:
        for corpus in (target, adversary):
            CountVectorizer(ngram_range=(2, 3)).fit_transform(corpus.texts)

    theirs = Yardstick("scikit-learn counting the same n-grams", "reference", vectorise)
    return Case("texts/s", 2 * TEXTS, lambda: remove_leaks(adversary, target), (theirs,))


def bag_of_words(folder: Path) -> Case:
    """The tf-idf reference that every audit sets beside its findings."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = list(generate_messages(4 * TEXTS, seed=0).texts)
    theirs = Yardstick("TfidfVectorizer", "reference", lambda: TfidfVectorizer().fit(texts).transform(texts))
    return Case("texts/s", len(texts), lambda: TfidfEncoder().fit(texts).encode(texts), (theirs,))


CASES = {"find copies of targets": copies, "fit and encode, tf-idf": bag_of_words}
