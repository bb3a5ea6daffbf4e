"""Audits that ask what an encoder learnt from: which texts are asked about, and who learns from which."""

from collections import Counter

import numpy as np
import pytest

from unembed.corpora.training import POSITION
from unembed.errors import NothingRanError, UsageError
from unembed.report.questions import section_of
from unembed.runner.execute import audit
from unembed.runner.prepare import LEARNT, learning_texts, read_texts, split_sides, training_side
from unembed.runner.spec import build_spec, merge

WORDS = [f"word{number}" for number in range(300)]


def write(path, documents, sentences, seed):
    """Made-up documents, a sentence per row, each about words of its own."""
    rng = np.random.default_rng(seed)
    rows = ["document,text"]
    for document in range(documents):
        own = rng.choice(WORDS, size=30, replace=False)
        rows += [f"{path.stem} {document},{' '.join(rng.choice(own, size=8))}" for _ in range(sentences)]
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write(folder / "held.csv", 60, 12, 1)
    write(folder / "learnt.csv", 90, 12, 2)
    return folder


def spec_for(place, tmp_path, **changes):
    base = {
        "data": {"texts": str(place / "held.csv"), "column": "text", "group": "document"},
        "training": {"texts": str(place / "learnt.csv"), "column": "text"},
        "encoder": {"name": "lsa", "components": 20},
        "adversaries": ["insider"],
        "games": ["membership-pair"],
        "attacks": ["membership/pair-similarity"],
        "run": {"folder": str(tmp_path / "run"), "no_cache": True},
    }
    return build_spec(merge(base, changes))


def test_an_audit_about_nothing_else_asks_about_neighbours_of_both_kinds(place, tmp_path):
    run, _ = audit(spec_for(place, tmp_path))
    assert [f.game for f in run.findings] == ["membership-pair"]
    finding = run.findings[0]
    assert {"auc", "advantage", "found_at_1_percent_false_alarms"} <= set(finding.secondary)
    assert {floor.kind for floor in finding.floors} == {"prior", "shuffled", "random", "texts"}
    cards = {card.role: card for card in run.data}
    assert cards["corpus"].facts["joined by texts of the training side"] == 60 * 12
    assert 0 < cards["target"].facts[LEARNT] < cards["target"].rows
    assert finding.cost.learns_from == "pairs, or runs of pairs, of sentences"
    assert "what the model learnt from" in section_of(finding).sentences(run, finding)[0]
    told = " ".join(finding.notes)
    assert "neighbours are texts of one document" in told


def test_documents_stay_whole_where_there_are_more_texts_than_are_used(place, tmp_path):
    spec = spec_for(place, tmp_path, data={"max_texts": 200}, max_targets=60)
    texts = read_texts(spec)
    sizes = Counter(texts.corpus.column("document"))
    assert set(sizes.values()) == {12}
    assert {name.split()[0] for name in sizes} == {"held", "learnt"}
    stood = np.array(texts.corpus.column(POSITION))
    first = np.array(texts.corpus.column("document"))
    assert (np.diff(stood)[first[1:] == first[:-1]] == 1).all()
    target = split_sides(spec, texts).target
    assert set(Counter(target.column("document")).values()) == {12}
    assert 60 <= len(target) < 72


def test_a_fitted_encoder_learns_from_what_it_is_said_to_have_learnt_from(place, tmp_path):
    spec = spec_for(place, tmp_path)
    sides = split_sides(spec, read_texts(spec))
    side = training_side(spec, sides)
    held = np.array([name.startswith("learnt") for name in sides.target.column("document")])
    assert np.array_equal(side.holds(sides.target.texts), held)
    wanted = [line.split(",")[1] for line in (place / "learnt.csv").read_text().splitlines()[1:]]
    assert list(learning_texts(spec, sides)) == wanted


def test_both_ways_to_say_it_are_one_too_many(place, tmp_path):
    with pytest.raises(UsageError, match="leave one of them out"):
        read_texts(spec_for(place, tmp_path, encoder={"fit_on": str(place / "learnt.csv")}))


def test_a_model_that_learnt_from_everything_is_not_asked(place, tmp_path):
    with pytest.raises(NothingRanError, match="learnt from all texts under attack or from none"):
        audit(spec_for(place, tmp_path, training=None))


def test_chunks_of_training_texts_count_as_learnt_from(place, tmp_path):
    chunked = {"group": None, "chunk": 4, "chunk_overlap": 0}
    spec = spec_for(place, tmp_path, data=chunked)
    sides = split_sides(spec, read_texts(spec))
    learnt = training_side(spec, sides).holds(sides.target.texts)
    assert 0.2 < learnt.mean() < 0.8
