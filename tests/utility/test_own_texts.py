"""Tasks with texts of their own: what is drawn, what is learnt from, what is said where something is missing."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import f1_score

from published_sets import news, texts_about, windows, write_published_sets
from unembed.corpora.corpus import Corpus
from unembed.corpora.published import data_file
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.metrics.classes import f1_rows, macro_recall
from unembed.testing.toys import LeakyEncoder
from unembed.utility import UTILITY
from unembed.utility.base import UtilityMaterial
from unembed.utility.case_studies import Department, SpliceSite
from unembed.utility.news_category import PARTS, NewsCategory
from unembed.utility.own_texts import balanced, labelled
from unembed.utility.sentence_tasks import SentenceTasks, of_pairs, parted

OWN = [name for name in UTILITY.registered() if "encoder" in UTILITY.get(name).facts.requires]


@pytest.fixture
def data(tmp_path, monkeypatch):
    write_published_sets(tmp_path)
    monkeypatch.setenv("UNEMBED_DATA", str(tmp_path))
    return tmp_path


LEAKY = LeakyEncoder().encode


def material(encode=LEAKY, seed=0):
    vectors = np.eye(3, dtype=np.float32)
    return UtilityMaterial(Corpus.of(["text"] * 3), vectors, vectors, seed=seed, challenge=encode)


def test_four_tasks_have_texts_of_their_own():
    assert sorted(OWN) == ["department", "news-category", "sentence-tasks", "splice-site"]


@pytest.mark.parametrize("name", OWN)
def test_a_missing_data_set_is_one_line_that_names_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("UNEMBED_DATA", str(tmp_path))
    with pytest.raises(CannotMeasureError, match=r"\.parquet.* UNEMBED_DATA") as told:
        UTILITY.get(name)().score(material())
    assert str(tmp_path) in str(told.value)


@pytest.mark.parametrize("name", OWN)
def test_without_an_encoder_there_is_nothing_to_score(name, data):
    with pytest.raises(CannotMeasureError, match=r"not applicable: .* only its stored vectors"):
        UTILITY.get(name)().score(material(encode=None))


@pytest.mark.parametrize(
    ("encode", "says"),
    [
        (lambda texts: np.full((len(texts), 4), np.nan), "NaN"),
        (lambda texts: np.ones((len(texts) - 1, 4)), "199 vectors for 200 texts"),
    ],
)
def test_vectors_that_can_t_be_used_are_refused(encode, says, data):
    with pytest.raises(CannotMeasureError, match=says):
        Department(texts=200).score(material(encode))


@pytest.mark.parametrize(
    ("task", "error", "says"),
    [
        (NewsCategory(data="news"), UnknownNameError, "value of 'data'"),
        (NewsCategory(part="titel"), UnknownNameError, "did you mean 'title'"),
        (NewsCategory(texts=10), UsageError, "at least 160, not 10"),
        (NewsCategory(classes=1), UsageError, "'classes' .* at least 2, not 1"),
        (SpliceSite(texts=3), UsageError, "at least 40, not 3"),
        (SentenceTasks(texts=3), UsageError, "at least 100, not 3"),
        (SentenceTasks(only="sick"), UnknownNameError, "value of 'only'"),
    ],
)
def test_parameters_out_of_range_are_one_line(task, error, says, data):
    with pytest.raises(error, match=says):
        task.score(material())


def test_macro_f1_is_scikit_learn_s():
    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
    found = float(macro_recall(f1_rows(said, truth, 6).sum(axis=0)))
    assert found == pytest.approx(f1_score(truth, said, average="macro"))


def test_as_many_of_each_class_and_no_more_than_asked_for():
    values = ["a"] * 50 + ["b"] * 30 + ["c"] * 20 + ["d"] * 5 + [None] * 40
    rows, classes = balanced(values, 3, 1_000, 0, "made up")
    assert classes == ["a", "b", "c"]
    assert [sum(values[row] == name for row in rows) for name in classes] == [20, 20, 20]
    few, _ = balanced(values, 3, 31, 0, "made up")
    assert [sum(values[row] == name for row in few) for name in classes] == [10, 10, 10]
    with pytest.raises(CannotMeasureError, match="1 class"):
        balanced(["a", None], 3, 10, 0, "made up")


def test_a_share_of_each_class_is_asked_about_and_never_learnt_from():
    found = labelled(["t"] * 60, ["a"] * 40 + ["b"] * 20, ["a", "b"], 0.25, seed=0)
    rest, asked = found.folds[0]
    assert np.bincount(found.labels[asked]).tolist() == [10, 5]
    assert sorted([*rest, *asked]) == list(range(60))


def corpus_of_news(**changed):
    columns = news(30, 3) | changed
    return Corpus.of(columns["text"], title=columns["title"], category=columns["category"])


def test_what_is_read_of_an_article():
    article = Corpus.of(
        ["One  day.\nIt rained. Tin rose. Iron fell. Zinc stood. LEAD went."] * 2 * 30,
        title=[f"Tin {kind} {i}" for kind in "ab" for i in range(30)],
        category=["a"] * 30 + ["b"] * 30,
    )
    read = {part: NewsCategory(part=part, texts=60, classes=2).of(article, 0).texts[0] for part in PARTS}
    title, sentences, text = (read[part] for part in PARTS)
    assert sentences == f"{title}. one day. it rained. tin rose. iron fell."
    assert text == f"{sentences} zinc stood. lead went."


def test_of_answers_to_one_post_a_single_one_is_taken():
    """Else a title that was learnt from would tell the category of those that are asked about."""
    plain = corpus_of_news()
    answers = [f"RE: Re: {title}" for title in plain.column("title")]
    doubled = Corpus.of(
        plain.texts * 2, title=[*plain.column("title"), *answers], category=plain.column("category") * 2
    )
    task = NewsCategory(texts=180, classes=3, part="title")
    assert len(task.of(doubled, 0).texts) == len(task.of(plain, 0).texts) == 90


def test_an_article_without_a_category_is_left_out_and_too_few_are_refused():
    held = corpus_of_news(category=[None] * 45 + ["a"] * 25 + ["b"] * 20)
    assert len(NewsCategory(classes=2).of(held, 0).texts) == 40
    with pytest.raises(CannotMeasureError, match="10 articles of each of 2 categories"):
        NewsCategory(classes=2).of(corpus_of_news(category=["a"] * 80 + ["b"] * 10), 0)


def test_titles_that_tell_less_score_less(data):
    title, text = (NewsCategory(part=part, classes=3, texts=120).score(material()) for part in ("title", "text"))
    assert text.point > 0.95
    assert title.point < text.point - 0.05
    assert title.secondary["accuracy"].n == len(title.parts) == 36


def test_windows_with_other_letters_and_repeated_ones_are_left_out():
    made = windows(np.arange(200) % 2, 0)
    held = Corpus.of([*made, *made, "N" * 20], label=["EI", "N"] * 200 + ["EI"])
    swapped = [label == "EI" for label in held.column("label")[:200]]
    examples = SpliceSite(texts=1_000).of(held, 0)
    assert sorted(examples.texts) == sorted(made)
    of_text = dict(zip(made, swapped, strict=True))
    assert [examples.classes[c] == "site" for c in examples.labels] == [of_text[t] for t in examples.texts]


def test_departments_that_words_tell_are_told_and_noise_is_at_guessing(data):
    task = Department(texts=300)
    told = task.score(material())
    blind = task.score(material(lambda texts: np.random.default_rng(0).standard_normal((len(texts), 8))))
    assert told.estimate().low > 0.6
    assert blind.estimate().low < 0.1 < blind.estimate().high
    assert told.secondary["macro_f1"].value > 0.6


def test_official_parts_are_kept_and_folds_ask_of_everything_once():
    labels = ["a", "b", "c"] * 100
    test = [i % 5 == 0 for i in range(300)]
    drawn = parted(labels, test, 150, 0, "set")
    rest, asked = drawn.labelled.folds[0]
    assert len(asked) == 30
    assert len(rest) == 120
    assert all(test[drawn.rows[i]] for i in asked)
    assert not any(test[drawn.rows[i]] for i in rest)
    folds = parted(labels, None, 300, 0, "set").labelled.folds
    assert len(folds) == 10
    assert sorted(int(i) for _, fold in folds for i in fold) == list(range(300))
    assert not any(set(rest) & set(fold) for rest, fold in folds)
    with pytest.raises(CannotMeasureError, match="too few texts"):
        parted(["a"] * 95 + ["b"] * 5, None, 100, 0, "set")


def test_pairs_are_seen_by_their_difference_and_product_whichever_comes_first():
    one, other = np.array([[1.0, -2.0]], np.float32), np.array([[3.0, 1.0]], np.float32)
    assert of_pairs(one, other).tolist() == of_pairs(other, one).tolist() == [[2.0, 3.0, 3.0, -2.0]]
    assert of_pairs(csr_matrix(one), csr_matrix(other)).toarray().tolist() == [[2.0, 3.0, 3.0, -2.0]]


def test_the_mean_is_over_sets_of_whatever_size(data):
    found = SentenceTasks(texts=200).score(material())
    each = [found.secondary[f"{name}_accuracy"].value for name in ("mpqa", "trec", "subj", "msrp")]
    assert found.point == pytest.approx(np.mean(each))
    assert min(each) > 0.5
    alone = SentenceTasks(texts=200, only="trec").score(material())
    assert alone.point == pytest.approx(found.secondary["trec_accuracy"].value)


def test_constant_vectors_are_told_as_the_most_frequent_label(data):
    found = SentenceTasks(texts=200, only="subj").score(material(lambda texts: np.ones((len(texts), 4), np.float32)))
    assert 0.45 < found.point < 0.55, "200 texts of two labels"


REAL = pytest.mark.skipif(
    not os.environ.get("UNEMBED_DATA"), reason="UNEMBED_DATA does not name a folder of published data sets"
)


@REAL
@pytest.mark.parametrize(
    "task",
    [
        *(NewsCategory(data=data, texts=320, classes=4) for data in ("news_reuters21578", "news_20newsgroups")),
        *(NewsCategory(data=data, texts=320, classes=4) for data in ("news_agnews_test", "italian_news_titles")),
        SpliceSite(texts=400),
        Department(texts=400),
        SentenceTasks(texts=300),
    ],
    ids=lambda task: f"{task.facts.name} {task.get_params().get('data', '')}".strip(),
)
def test_real_texts_are_told_better_than_by_guessing(task):
    """With a bag of hashed letters in threes, which any text has."""
    if missing := [file.name for file in task.files() if not file.is_file()]:
        pytest.skip(f"not in UNEMBED_DATA: {', '.join(missing)}")
    from sklearn.feature_extraction.text import HashingVectorizer

    read = HashingVectorizer(analyzer="char", ngram_range=(2, 3), n_features=2**8)
    encode = lambda texts: read.transform(texts).toarray().astype(np.float32)  # noqa: E731
    found = task.score(material(encode))
    blind = task.score(material(lambda texts: np.random.default_rng(0).standard_normal((len(texts), 8))))
    assert found.excess_over(blind).low > 0


def test_the_helper_of_these_tests_writes_what_tasks_read(data):
    assert data_file("splice_sites").is_file()
    assert len(set(texts_about(np.zeros(20, dtype=int), 0))) == 20
