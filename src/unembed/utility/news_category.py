"""The category of a news article, told from its title, its first sentences or its text (Corò 4.1.3, Table 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from unembed.corpora.corpus import Corpus
from unembed.corpora.paragraphs import split_sentences
from unembed.corpora.published import data_file
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UnknownNameError
from unembed.games.base import Detail, Scores
from unembed.metrics.classes import f1_rows, macro_recall
from unembed.metrics.estimate import mean
from unembed.seeds import seed_for
from unembed.utility.base import TaskFacts
from unembed.utility.own_texts import Labelled, OwnTexts, balanced, check_texts, first_of_each, labelled, published

PARTS = ("title", "sentences", "text")
#: Data sets, and the column that each has its text in, beside ``title`` and ``category``.
NEWS = {
    "news_reuters21578": "text",
    "news_20newsgroups": "text",
    "news_agnews_test": "text",
    "italian_news_titles": "description",
}
#: Share of the articles that is asked about, and sentences after the title that are read.
ASKED, SENTENCES = 0.3, 4
#: Rows of a class without which five folds, and held-back rows within them, can't be cut.
FEWEST = 20


class NewsCategory(OwnTexts):
    """Eight categories with as many articles each; seven in ten articles are learnt from, the others asked about.

    Texts are in lower case with single spaces. Of articles with the same title (answers to a post among them) one is
    taken, since a title that was learnt from tells its category. ``LinearGrid`` says what learning costs: 16
    seconds of one core for 392 vectors of 384 dimensions, beside 26 to encode 560 texts with MiniLM.
    """

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="news-category",
        title="Categories of news told from vectors",
        metric="macro_f1",
        metric_meaning="F1 of the category of a news article, told by a linear classifier from the vector of its "
        "title, its first sentences or its text, averaged over the categories",
        requires=frozenset({"encoder"}),
        paper="coro2022",
        section="4.1.3, Table 5.1",
        departures="Public news stand in for the Italian newspaper, with fewer articles of each category than its "
        "2,000. Vectors are divided by the mean length of those learnt from.",
    )

    data: str = "news_reuters21578"
    part: str = "text"
    texts: int = 560
    classes: int = 8

    def examples(self, seed: int) -> Labelled:
        """Articles of the most frequent categories."""
        self._check()
        column = NEWS[self.data]
        return self.of(published(self.data, column, ["title", "category"]), seed)

    def of(self, news: Corpus, seed: int) -> Labelled:
        """The same of articles at hand, with the columns ``title`` and ``category``."""
        titles = [_plain(str(title or "")) for title in news.column("title")]
        fresh = first_of_each([_subject(title) for title in titles])
        values = [None if v is None or v != v else str(v) for v in (news.column("category")[i] for i in fresh)]
        rows, classes = balanced(values, self.classes, self.texts, seed, f"column 'category' of {news.name}")
        if len(rows) < FEWEST * len(classes):
            raise CannotMeasureError(
                f"{news.name} has {len(rows) // len(classes)} articles of each of {len(classes)} categories, and at "
                f"least {FEWEST} are needed: lower 'classes'"
            )
        read = READ[self.part]
        texts = [read(titles[i], news.texts[i]) for i in fresh[rows]]
        return labelled(texts, [str(values[i]) for i in rows], classes, ASKED, seed)

    def judge(self, examples: Labelled, vectors: Vectors, seed: int) -> Scores:
        """Macro-F1; the share of articles told right beside it."""
        from unembed.utility.linear_grid import LinearGrid

        rest, asked = examples.folds[0]
        learner = LinearGrid(seed_for(seed, "grid")).fit(vectors[rest], examples.labels[rest])
        said, truth = learner.predict(vectors[asked]), examples.labels[asked]
        parts = f1_rows(said, truth, len(examples.classes))
        return Scores(parts, macro_recall, None, lambda: Detail({"accuracy": mean(said == truth)}))

    def files(self) -> Sequence[Path]:
        """The file of news."""
        return [data_file(self.data)]

    def _check(self) -> None:
        for name, value, known in (("data", self.data, list(NEWS)), ("part", self.part, PARTS)):
            if value not in known:
                raise UnknownNameError(f"value of '{name}' of the utility task 'news-category'", value, known)
        check_texts("news-category", self.classes, 2, "classes")
        check_texts("news-category", self.texts, FEWEST * self.classes)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _subject(title: str) -> str:
    """The title of what a post answers."""
    while title.startswith(("re:", "fwd:", "fw:")):
        title = title.partition(":")[2].strip()
    return title


def _first_sentences(title: str, text: str) -> str:
    return _joined(title, " ".join(split_sentences(" ".join(text.split()))[:SENTENCES]))


def _joined(title: str, text: str) -> str:
    return _plain(f"{title}. {text}")


#: Title and text to what is encoded.
READ: dict[str, Callable[[str, str], str]] = {
    "title": lambda title, text: title,
    "sentences": _first_sentences,
    "text": _joined,
}
