"""Points, targets, halving and the choice, on made-up findings; and one real search."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unembed
from unembed.defenses import DEFENSES
from unembed.errors import UsageError
from unembed.frontier import halving
from unembed.frontier.points import Point, pareto
from unembed.frontier.shelf import settings_of, shelf
from unembed.frontier.target import choose, layers, read_target
from unembed.metrics.estimate import Estimate, undefined
from unembed.runner.spec import DefenseSpec


def estimate(value, half=0.0):
    return Estimate(value, value - half, value + half, 100)


def point(name, leak, loss, half=0.0, **more):
    return Point(name, estimate(leak, half), None, undefined(), estimate(loss, half), None, **more)


def test_the_front_is_what_nothing_beats():
    good, better, worse = point("a", 0.5, 0.1), point("b", 0.2, 0.4), point("c", 0.6, 0.3)
    assert pareto([good, better, worse]) == [good, better]
    assert layers([worse, good, better]) == [[good, better], [worse]]


pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30)


@given(pairs)
def test_every_point_is_on_the_front_or_beaten_by_one_that_is(values):
    points = [point(str(i), *pair) for i, pair in enumerate(values)]
    front = pareto(points)
    assert front
    for one in points:
        assert one in front or any(f.leak.value <= one.leak.value and f.loss.value <= one.loss.value for f in front)


@given(pairs, st.integers(1, 30))
def test_halving_keeps_as_many_as_asked_and_earlier_layers_first(values, count):
    points = [point(str(i), *pair) for i, pair in enumerate(values)]
    chosen = halving.best(points, count)
    assert len(chosen) == len(set(chosen)) == min(count, len(points))
    depth = {p: number for number, layer in enumerate(layers(points)) for p in layer}
    left = [p for p in points if p not in chosen]
    assert not left or max(depth[p] for p in chosen) <= min(depth[p] for p in left)


def reading(value, floor=0.0):
    """A finding as far as a target looks at one."""
    return SimpleNamespace(
        game="inversion",
        subject=None,
        metric="content_f1",
        estimate=estimate(value),
        floor=estimate(floor),
        secondary={},
    )


def test_what_a_target_names_decides_who_goes_on():
    """Against another question both do nothing, and there the first one is no worse and cheaper."""
    useless = point("useless", 0.8, 0.1, strongest=(reading(0.5),))
    useful = point("useful", 0.8, 0.3, strongest=(reading(0.1),))
    assert halving.best([useless, useful], 1) == [useless]
    targets = [read_target("inversion <= 0.2")]
    assert layers([useless, useful], targets) == [[useless, useful]]
    worse = point("worse", 0.7, 0.4, strongest=(reading(0.3),))
    assert layers([useful, worse], targets) == [[useful], [worse]]
    assert layers([useful, worse]) == [[useful, worse]]


def test_on_a_sample_where_less_is_read_a_limit_lies_as_far_between_guessing_and_the_plain_vectors():
    """Of what is read above guessing the limit leaves a half, on the whole and on the sample."""
    whole, small = (
        point(None, 0.5, 0.0, strongest=(reading(value, blind),)) for value, blind in ((0.5, 0.1), (0.2, 0.1))
    )
    moved = read_target("inversion <= 0.3").on_a_sample(small, whole)
    assert moved.most == pytest.approx(0.15)
    assert read_target("leak <= 0.25").on_a_sample(point(None, 0.2, 0.0), whole).most == pytest.approx(0.1)
    nothing = point(None, 0.0, 0.0)
    assert read_target("leak <= 0.25").on_a_sample(nothing, whole).most == 0.25


def test_what_was_not_measured_never_goes_before_what_was():
    lost = Point("lost", undefined(), None, undefined(), undefined(), None, unmeasured=1)
    assert halving.best([lost, point("a", 1, 1)], 1)[0].variant == "a"
    assert not choose([lost], [read_target("leak <= 1")], None).met


def test_rounds_grow_by_three_up_to_the_whole():
    assert halving.sizes(20_000, 60) == [2222, 6666, 20_000]
    assert halving.sizes(20_000, 5) == [20_000]
    assert halving.sizes(1000, 60) == [1000]


def test_the_choice_is_the_least_loss_that_meets_the_limit_for_sure():
    cheap = point("cheap", 0.19, 0.1, 0.02)  # its interval reaches beyond the limit
    dear, dearer = point("dear", 0.15, 0.2, 0.02), point("dearer", 0.05, 0.5, 0.02)
    assert choose([cheap, dear, dearer], [read_target("leak <= 0.2")], None).point is dear
    assert choose([cheap, dear, dearer], [], 0.3).point is dear
    missed = choose([cheap, dear], [read_target("leak <= 0.1")], None)
    assert not missed.met
    assert missed.point is dear
    assert missed.missed_by == pytest.approx(0.07)


@pytest.mark.parametrize(
    "wrong", ["", "leak", "leak < ", "leak <= 2", "leak <= x", "leak >= 0.1", "a b <= 0.1", "<= 1"]
)
def test_a_target_that_can_not_be_read_says_how_one_is_written(wrong):
    with pytest.raises(UsageError, match=r"expected GAME\.METRIC"):
        read_target(wrong)


def test_targets_name_games_subjects_and_metrics():
    target = read_target(" attribute(author).balanced_accuracy<=0.25 ")
    assert (target.game, target.subject, target.metric, target.most) == (
        "attribute",
        "author",
        "balanced_accuracy",
        0.25,
    )
    assert str(target) == "attribute(author).balanced_accuracy <= 0.25"


def test_the_shelf_names_what_is_there_and_a_bare_name_stands_for_its_settings():
    for (step,) in shelf():
        assert set(step.params) <= set(DEFENSES.get(step.name)().get_params())
    bare, told = [DefenseSpec(name="rounding")], [DefenseSpec(name="gaussian", scale=3.0)]
    found = settings_of([bare, told])
    assert len(found) > 2
    assert found[-1] == told
    assert len({str(chain) for chain in shelf()}) == len(shelf())


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    from unembed.corpora.generators.messages import generate_messages

    texts = generate_messages(400, seed=3)
    return unembed.defend(
        list(texts.texts),
        encoder={"name": "lsa", "components": 24},
        attributes={"topic": list(texts.column("topic"))},
        folder=folder / "found",
        target="attribute(topic) <= 0.6",
        games="attribute",
        attacks="attribute/linear",
        adversaries="insider",
        references=[],
        calibrate=False,
        repeats=0,
        threads=1,
        defenses=[{"name": "gaussian", "scale": s} for s in (0.1, 1.0, 6.0)],
    ), folder


def test_a_sample_is_asked_only_what_the_limits_name_and_learnt_from_quickly():
    from unembed.frontier.defend import Wish, _smaller
    from unembed.runner.spec import build_spec

    asked = build_spec(
        {
            "data": {"texts": "notes.csv"},
            "games": ["inversion", "attribute", "keyword"],
            "attacks": ["inversion/portfolio", "keyword/svm"],
        }
    )

    tried = [[DefenseSpec(name="neighbours", learning_rate=1e-4)]]

    def small(*targets):
        return _smaller(asked, Wish(tuple(map(read_target, targets))), tried, 900, Path("round"))

    one = small("inversion.content_f1 <= 0.2")
    assert one.attacks == ["inversion/portfolio"]
    assert one.params["inversion/portfolio"]["quick"] is True
    assert one.defenses == [[DefenseSpec(name="neighbours", steps=150, learning_rate=1e-4)]]
    for every in (small(), small("inversion <= 0.1", "leak <= 0.2")):
        assert every.attacks == asked.attacks


def test_a_search_ends_with_a_defense_that_meets_the_limit(searched):
    found, _ = searched
    assert found.met
    assert [p.variant for p in found.points] == [None, "gaussian(scale=0.1)", "gaussian(scale=1)", "gaussian(scale=6)"]
    leaks = [p.leak.value for p in found.points]
    assert leaks[1] > leaks[3]
    chosen = found.defense
    assert chosen is not None
    (finding,) = next(p for p in found.points if p.variant == chosen.name).strongest
    assert finding.estimate.high <= 0.6
    assert chosen.name in found.sentence


def test_the_defense_is_the_same_in_a_fresh_process(searched):
    import subprocess
    import sys

    found, folder = searched
    vectors = np.random.default_rng(0).standard_normal((5, 24)).astype(np.float32)
    np.save(folder / "plain.npy", vectors)
    code = (
        "import sys, numpy as np, unembed\n"
        "d = unembed.load_defense(sys.argv[1]); v = np.load(sys.argv[2])\n"
        "sys.stdout.buffer.write(d.transform(v, ['a', 'b', 'c', 'd', 'e']).tobytes())"
    )
    told = [sys.executable, "-c", code, str(folder / "found" / "defense"), str(folder / "plain.npy")]
    done = subprocess.run(told, capture_output=True, check=True)
    assert done.stdout == found.defense.transform(vectors, ["a", "b", "c", "d", "e"]).tobytes()


def test_frame_picture_and_report_show_every_variant(searched):
    found, folder = searched
    frame = found.to_frame()
    assert list(frame["variant"])[1:] == ["gaussian(scale=0.1)", "gaussian(scale=1)", "gaussian(scale=6)"]
    assert (frame["leak_low"] <= frame["leak"]).all()
    assert "polyline" in str(found.plot())
    page = found.report(folder / "report.html").read_text()
    assert "Which defense, at what price?" in page
    assert all(name in page for name in frame["variant"][1:])


def test_an_object_from_load_defense_goes_into_an_audit(searched, tmp_path):
    found, _ = searched
    run = unembed.audit(
        "generator:messages",
        encoder={"name": "lsa", "components": 24},
        attributes="topic",
        games="attribute",
        attacks="attribute/linear",
        adversaries="insider",
        references=[],
        calibrate=False,
        repeats=0,
        max_texts=400,
        defenses=[found.defense],
    )
    assert {f.defense for f in run.findings} == {None, found.defense.name}


def test_a_limit_that_nothing_meets_says_by_how_much(searched):
    found, _ = searched
    missed = choose(found.points[1:], [read_target("attribute(topic) <= 0.001")], None)
    assert not missed.met
    assert 0 < missed.missed_by < math.inf


def test_a_target_about_what_is_not_measured_is_refused(searched):
    from unembed.frontier.target import check_targets

    found, _ = searched
    with pytest.raises(UsageError, match=r"there is: attribute\(topic\)"):
        check_targets([read_target("inversion <= 0.1")], found.points[0], found.run)
    with pytest.raises(UsageError, match="balanced_accuracy"):
        check_targets([read_target("attribute.nonsense <= 0.1")], found.points[0], found.run)
