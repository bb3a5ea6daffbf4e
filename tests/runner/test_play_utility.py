"""Utility tasks on an audit's texts: scores, losses, and failures that stop nothing."""

import numpy as np
import pytest

import unembed
from published_sets import write_published_sets
from unembed.corpora.generators import GENERATORS
from unembed.defenses.base import digest_id
from unembed.defenses.chain import unchanged
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError
from unembed.results.schema import UtilityScore, without_times
from unembed.runner.prepare import read_sides
from unembed.runner.spec import UtilitySpec, build_spec
from unembed.runner.usefulness import play_utility
from unembed.testing.toys import LeakyEncoder

TASKS = [UtilitySpec(name="retrieval", k=5), UtilitySpec(name="column", column="topic")]


@pytest.fixture(scope="module")
def world():
    corpus = GENERATORS.get("messages")(400)
    plain = build_encoder("lsa", {"components": 50}, fit_texts=corpus.texts).encode(corpus.texts)
    noise = np.random.default_rng(0).standard_normal(plain.shape).astype(np.float32)
    variants = {"float16": plain.astype(np.float16), "a little": plain + 0.1 * noise, "noise": noise}
    return corpus, plain, variants


@pytest.fixture(scope="module")
def scores(world):
    return play_utility(*world, TASKS, seed=0, groups=world[0].column("document"))


def of(scores, task, variant):
    return next(s for s in scores if (s.task, s.variant) == (task, variant))


def test_every_task_is_scored_on_plain_vectors_and_on_each_variant(scores):
    assert [(s.task, s.variant) for s in scores] == [
        (task, variant) for task in ("retrieval", "column") for variant in (None, "float16", "a little", "noise")
    ]
    assert not [s.error for s in scores if s.error]
    assert of(scores, "retrieval", None).params == {"k": 5}


@pytest.mark.parametrize("task", ["retrieval", "column"])
def test_the_loss_grows_with_the_noise_and_rounding_costs_nothing(scores, task):
    little, all_ = (of(scores, task, name).loss for name in ("a little", "noise"))
    assert of(scores, task, None).loss is None
    assert of(scores, task, "float16").loss.value < 0.01
    assert 0.01 < little.value < all_.value
    assert all_.low > 0.2
    for variant in ("float16", "a little", "noise"):
        score = of(scores, task, variant)
        assert score.loss.value == pytest.approx(of(scores, task, None).estimate.value - score.estimate.value)


def test_what_holds_by_definition_has_no_interval(scores):
    plain, little = of(scores, "retrieval", None), of(scores, "retrieval", "a little")
    assert (plain.estimate.low, plain.estimate.value, plain.estimate.high) == (1, 1, 1)
    assert plain.estimate.method == "by definition"
    assert little.loss.low == pytest.approx(1 - little.estimate.high)
    assert little.loss.high == pytest.approx(1 - little.estimate.low)


def test_the_same_again_and_through_a_file(world, scores):
    again = play_utility(*world, TASKS, seed=0, groups=world[0].column("document"))
    for one, other in zip(scores, again, strict=True):
        assert without_times(one.model_dump()) == without_times(other.model_dump())
        assert UtilityScore.model_validate_json(one.model_dump_json()) == one


def test_one_variant_changes_no_other(world, scores):
    corpus, plain, variants = world
    alone = play_utility(
        corpus, plain, {"noise": variants["noise"]}, TASKS[:1], seed=0, groups=corpus.column("document")
    )
    assert alone[1].estimate == of(scores, "retrieval", "noise").estimate


def test_what_fails_says_why_and_the_rest_goes_on(world):
    corpus, plain, variants = world
    broken = {"cut": plain[:-1], "blank": np.full_like(plain, np.nan), "float16": variants["float16"]}
    tasks = [UtilitySpec(name="column", column="author", folds=399), UtilitySpec(name="retrieval")]
    scores = play_utility(corpus, plain, broken, tasks, seed=0)
    for variant in (None, "float16"):
        assert "two are needed" in of(scores, "column", variant).error
        assert np.isnan(of(scores, "column", variant).estimate.value)
    assert "399 vectors for 400 texts" in of(scores, "retrieval", "cut").error
    assert "NaN" in of(scores, "retrieval", "blank").error
    assert of(scores, "retrieval", "float16").error is None


def test_a_task_that_ends_the_process_is_recorded(world, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import sys\nfrom unembed.params import Parametrised\nfrom unembed.utility.base import TaskFacts\n"
        "class Exits(Parametrised):\n"
        "    facts = TaskFacts('exits', 'Exits', 'none', 'nothing')\n"
        "    def score(self, material): sys.exit(0)\n"
    )
    corpus, plain, _ = world
    (score,) = play_utility(corpus, plain, {}, [UtilitySpec(name=f"{file}:Exits")], seed=0)
    assert score.error == "SystemExit in mine.py:6"


def test_plain_vectors_must_fit_the_texts(world):
    corpus, plain, _ = world
    with pytest.raises(CannotMeasureError, match="399 vectors for 400 texts"):
        play_utility(corpus, plain[:-1], {}, TASKS, seed=0)


def test_a_spec_names_tasks_with_and_without_parameters_and_their_columns_are_read(tmp_path):
    rows = GENERATORS.get("messages")(60)
    table = "\n".join(f'"{t}",{c}' for t, c in zip(rows.texts, rows.column("topic"), strict=True))
    (tmp_path / "texts.csv").write_text("text,topic\n" + table)
    data = {"texts": str(tmp_path / "texts.csv"), "column": "text"}
    spec = build_spec({"data": data, "utility": ["retrieval", {"name": "column", "column": "topic"}]})
    assert [(u.name, u.params) for u in spec.utility] == [("retrieval", {}), ("column", {"column": "topic"})]
    assert set(read_sides(spec).target.columns) == {"topic"}
    assert build_spec({"data": data}).utility == []


@pytest.fixture
def published(tmp_path, monkeypatch):
    write_published_sets(tmp_path)
    monkeypatch.setenv("UNEMBED_DATA", str(tmp_path))
    return tmp_path


OWN = [UtilitySpec(name="sentence-tasks", texts=100), UtilitySpec(name="department", texts=200)]


@pytest.mark.usefixtures("published")
def test_texts_of_a_task_are_encoded_once_and_defended_for_each_variant(world):
    corpus, plain, _ = world
    asked: list[tuple[str, ...]] = []
    ids: list[str] = []

    def encode(texts):
        asked.append(tuple(texts))
        return LeakyEncoder().encode(texts)

    def hide(vectors, names):
        ids.extend(names)
        return np.zeros_like(vectors)

    scores = play_utility(
        corpus,
        plain,
        {"same": plain, "hidden": plain, "unmade": plain},
        OWN,
        seed=0,
        groups=corpus.column("document"),
        encode=encode,
        transforms={"same": unchanged, "hidden": hide},
    )
    assert len(asked) == len(set(asked)) == 5
    assert set(ids) == {digest_id(text) for texts in asked for text in texts}
    for task in ("sentence-tasks", "department"):
        whole, same, hidden = (of(scores, task, name) for name in (None, "same", "hidden"))
        assert same.estimate == whole.estimate
        assert same.loss.value == 0
        assert hidden.loss.low > 0.1
        assert "texts of its own" in whole.notes[0]
        assert "only its stored vectors" in of(scores, task, "unmade").error


def test_a_missing_data_set_costs_its_task_alone(world, tmp_path, monkeypatch):
    corpus, plain, variants = world
    monkeypatch.setenv("UNEMBED_DATA", str(tmp_path))
    tasks = [OWN[1], TASKS[0]]
    scores = play_utility(corpus, plain, variants, tasks, seed=0, encode=LeakyEncoder().encode)
    assert "medical_procedures.parquet is not in" in of(scores, "department", None).error
    assert of(scores, "retrieval", None).error is None


def test_an_audit_scores_texts_that_its_collection_does_not_hold(published, tmp_path, monkeypatch):
    monkeypatch.setenv("UNEMBED_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path / "cache"))
    asked = {
        "texts": GENERATORS.get("messages")(120).texts,
        "encoder": LeakyEncoder(),
        "games": ["attribute"],
        "attributes": {"half": [str(i % 2) for i in range(120)]},
        "utility": [{"name": "sentence-tasks", "texts": 100, "only": "subj"}],
        "defenses": [{"name": "gaussian", "scale": 20.0}],
        "folder": tmp_path / "run",
    }
    assert all("utility_subj.parquet is not in" in score.error for score in unembed.audit(**asked).utility)
    monkeypatch.setenv("UNEMBED_DATA", str(published))
    plain, noisy = unembed.audit(**asked).utility
    assert plain.estimate.low > 0.8
    assert noisy.loss.low > 0.1
