"""Attacks on patterns: sizes and embeddings as printed, what ours adds, bad input."""

import numpy as np
import pytest

from unembed.attacks.pattern.fields import PatternFields, units_of
from unembed.attacks.pattern.positions import PatternPositions, sinusoids
from unembed.attacks.pattern.shared import PatternShared
from unembed.attacks.pattern.whitening import Whitener
from unembed.corpora.patterns import parse_pattern
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.pattern import PatternGame, PatternKnowledge, PatternTruth
from unembed.seeds import generator


def one_hot_world(format, n, targets=100, width=64, noise=0.05, ask=()):
    """Vectors from which every part can be read linearly."""
    pattern = parse_pattern(format)
    labels = pattern.labels(pattern.generate(n + targets, generator(0, "world")).values)
    rng = np.random.default_rng(1)
    vectors = noise * rng.standard_normal((len(labels), width))
    for column, part in enumerate(pattern.parts):
        vectors += rng.standard_normal((len(part.labels), width))[labels[:, column]]
    asked = pattern.parts_of(pattern.asked_fields(ask))
    vectors = vectors.astype(np.float32)
    return (
        PatternKnowledge(vectors[:n], labels[:n], pattern, asked),
        vectors[n:],
        PatternTruth(labels[n:][:, asked], pattern, asked),
    )


def scores_of(attack, world):
    knowledge, vectors, truth = world
    return PatternGame().judge(truth, attack.fit(knowledge).run(vectors), 0)


def test_networks_of_a_date_have_the_printed_sizes():
    pattern = parse_pattern("citizen-id")
    assert [units_of(pattern, int(i)) for i in pattern.parts_of(["birth"])] == [400, 25, 200]
    assert units_of(pattern, int(pattern.parts_of(["province"])[0])) == 4 * 31
    knowledge, _, _ = one_hot_world("citizen-id", 60)
    fitted = PatternFields(epochs=1, min_steps=0).fit(knowledge)
    assert [(head.in_features, head.out_features) for head in fitted.model_.heads] == [(400, 110), (25, 12), (200, 31)]


def test_position_embedding_is_that_of_the_appendix():
    table = sinusoids(3, 8)
    assert table[1, 4] == pytest.approx(np.sin(2 / 10_000 ** (4 / 8)))
    assert table[2, 5] == pytest.approx(np.cos(3 / 10_000 ** (5 / 8)))


@pytest.mark.parametrize(
    "attack",
    [PatternFields(min_steps=600), PatternShared(min_steps=400), PatternPositions(min_steps=3000)],
    ids=lambda a: a.facts.name,
)
def test_positions_of_a_run_are_read(attack):
    scores = scores_of(attack, one_hot_world("{sequence:[ACGT]6}", 800))
    assert min(s.estimate.value for s in scores.slices if s.kind == "part") > 0.8


def test_the_check_digit_helps_ours_to_the_whole():
    world = one_hot_world("{a:digits2}{b:digits2}{check:luhn}", 1500, noise=2.5, targets=300)
    attack = PatternShared(min_steps=400)
    ours = scores_of(attack, world)
    blind = whole_hits_without_check(attack, world)
    assert ours.secondary["whole_top1"].value > blind + 0.02


def whole_hits_without_check(attack, world):
    from unembed.games.pattern_ranking import best_wholes
    from unembed.games.pattern_scores import whole_hits

    _, vectors, truth = world
    known = attack.probabilities(vectors)
    return whole_hits(best_wholes([known[int(p)] for p in truth.asked]), truth.labels, 1).mean()


def test_whitening_finds_what_lies_in_weak_directions():
    rng = np.random.default_rng(0)
    strong = rng.standard_normal((2000, 5)) @ rng.standard_normal((5, 30)) * 100
    vectors = (strong + rng.standard_normal((2000, 30))).astype(np.float32)
    white = Whitener().fit(vectors)
    rows = white.transform(vectors)
    assert np.allclose(np.cov(rows.T), np.eye(white.width), atol=0.15)
    dead = np.zeros((10, 4), dtype=np.float32)
    assert Whitener().fit(dead).transform(dead).shape == (10, 4)


def test_bad_vectors_and_parameters_are_refused():
    knowledge, vectors, _ = one_hot_world("date", 80)
    fitted = PatternFields(epochs=1, min_steps=0).fit(knowledge)
    with pytest.raises(CannotMeasureError, match="dimensions"):
        fitted.run(vectors[:, :5])
    with pytest.raises(CannotMeasureError, match="secrets"):
        fitted.fit(PatternKnowledge(knowledge.vectors[:5], knowledge.labels, knowledge.pattern, knowledge.asked))
    with pytest.raises(UsageError, match="400,100"):
        PatternPositions(hidden="wide").fit(knowledge)
