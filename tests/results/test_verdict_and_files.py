"""The verdict in words, and result files that can be read back."""

import json

import pytest

from unembed.errors import DataError, UsageError
from unembed.games import GAMES
from unembed.games.claims import claim_of
from unembed.games.threat import ADVERSARIES
from unembed.metrics.estimate import Estimate, undefined
from unembed.results.io import read_run
from unembed.results.schema import Cost, Detects, Finding, Floor, Trust, json_schema, without_times
from unembed.results.verdict import verdict
from unembed.runner.assemble import adversary_card

WHO = [adversary_card(who) for who in ADVERSARIES.values()]


def finding(adversary="insider", game="keyword", value=0.9, floor=0.5, status="leak", level="high", **more):
    def estimate(v):
        return Estimate(v, v - 0.02, v + 0.02, 100)

    facts = {
        "id": f"{game}-{adversary}",
        "cell": "c",
        "game": game,
        "attack": f"{game}/x",
        "adversary": adversary,
        "encoder": "e",
        "metric": "m",
        "estimate": estimate(value),
        "floors": [Floor(kind="prior", estimate=estimate(floor))],
        "floor": estimate(floor),
        "excess": estimate(value - floor),
        "headroom": (value - floor) / (1 - floor),
        "status": status,
        "level": level,
        "trust": Trust(trusted=True, reason="ok"),
        "cost": Cost(capabilities=[], pairs=1, queries=0, targets=1, fit_seconds=1, run_seconds=1),
        "seed": 0,
    }
    found = Finding(**{**facts, **more})
    return found.model_copy(update={"claim": claim_of(GAMES.get(game), found)})


def safe(adversary="insider", size=0.05, **more):
    facts = {
        "status": "no-leak-found",
        "level": "none",
        "value": 0.5,
        "detects": Detects(size=size, kinds=["axis"], tried={f"{size:g}": [10, 10]}),
    }
    return finding(adversary, **{**facts, **more})


def test_the_weakest_adversary_that_succeeds_is_named():
    found = verdict([finding("insider"), finding("outsider", value=0.7, level="moderate")], WHO)
    assert found.adversary == "outsider"
    assert found.level == "high"
    weak, strong = found.sentence.split(". ", 1)
    assert "public text of another kind and access to the encoder" in weak
    assert "part of the collection" not in weak
    assert "part of the collection" in strong, "a graver leak to a stronger adversary is told too"


def test_of_a_stronger_adversary_the_two_gravest_answers_are_told():
    more = [finding(game="keyword"), finding(game="attribute", subject="topic", value=0.8), finding(game="inversion")]
    found = verdict([finding("outsider", value=0.6), *more], WHO)
    assert found.findings == ["keyword-outsider", "keyword-insider", "inversion-insider"]
    assert found.sentence.count("part of the collection") == 1


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("outsider", "a copy of the vectors, public text of another kind and access to the encoder"),
        ("insider", "a copy of the vectors, part of the collection and access to the encoder"),
        ("weights", "a copy of the vectors, part of the collection, access to the encoder and the model's weights"),
    ],
)
def test_an_adversary_is_described_by_all_it_holds(name, held):
    sentence = verdict([finding(name)], WHO).sentence
    assert sentence.startswith(f"Somebody with {held} can ")
    assert "only" not in sentence


def test_without_the_encoder_no_access_to_it_is_claimed():
    insider = adversary_card(ADVERSARIES["insider"])
    alone = insider.model_copy(update={"capabilities": [c for c in insider.capabilities if c != "query access"]})
    sentence = verdict([finding("insider")], [alone]).sentence
    assert sentence.startswith("Somebody with a copy of the vectors and part of the collection can ")


def test_balanced_figures_are_called_balanced_and_the_plain_one_stands_beside_them():
    figures = {
        "secondary": {"accuracy": Estimate(0.93, 0.91, 0.95, 100)},
        "secondary_floors": {"accuracy": 0.92},
    }
    told = verdict([finding(game="attribute", subject="ill", value=0.7, **figures)], WHO).sentence
    assert "can tell 'ill' with a balanced accuracy of 70%, every value counted alike (guessing: 50%)" in told
    assert "which is 93% of all texts (always naming the most frequent value: 92%)" in told
    assert "for 70% of texts" not in told
    same = {**figures, "secondary": {"accuracy": Estimate(0.7, 0.68, 0.72, 100)}}
    assert "of all texts" not in verdict([finding(game="attribute", subject="ill", value=0.7, **same)], WHO).sentence
    assert "occurs in a text with a balanced accuracy of 90%" in verdict([finding(game="keyword")], WHO).sentence


def test_a_search_is_told_at_the_real_share_of_the_word():
    shares = {"prevalence": 0.031, "precision_among_first_n": 0.22, "looked_through_to_find_half": 0.08}
    told = verdict([finding(secondary={k: Estimate(v, v, v, 100) for k, v in shares.items()})], WHO).sentence
    assert "3.1% of all texts hold such a word, and of as many texts, the surest first, 22% do" in told
    assert "half of those with the word are found in 8% of all (guessing: 50%)" in told


def test_words_read_back_are_told_with_what_guessing_gets_right():
    shares = {"content_recall": 0.3, "content_precision": 0.4, "texts_half_recovered": 0.12}
    told = verdict(
        [
            finding(
                game="inversion",
                secondary={k: Estimate(v, v, v, 100) for k, v in shares.items()},
                secondary_floors={"content_precision": 0.05},
            )
        ],
        WHO,
    ).sentence
    assert "can read back 30% of the meaningful words and at least half of them of 12% of the texts" in told
    assert "(40% of the words they name are right; guessing: 5%)" in told


def test_names_are_told_as_what_was_asked():
    told = verdict([finding(game="names", value=0.41, floor=0.04)], WHO).sentence
    assert "can read back 41% of the names that were put into other people's sentences (guessing: 4%)" in told


def test_no_leak_is_not_called_safe_and_says_what_would_have_been_found():
    found = verdict([safe("insider", size=0.075), safe("outsider", game="attribute", subject="author", size=0.1)], WHO)
    assert found.level == "none"
    assert found.sentence.startswith("No leak was found in this collection (2 measurements).")
    assert "keyword: a leak of 7.5 points above guessing (insider)" in found.sentence
    assert "attribute (author): a leak of 10 points above guessing (outsider)" in found.sentence
    assert "no proof of safety" in found.sentence
    assert found.findings == ["keyword-insider", "attribute-outsider"]
    assert "(1 measurement)" in verdict([safe()], WHO).sentence


@pytest.mark.parametrize("detects", [None, Detects(size=None, kinds=[], tried={"0.6": [0, 2]})])
def test_none_is_never_said_where_it_is_not_known_what_would_have_been_found(detects):
    found = verdict([safe(detects=detects, reason="")], WHO)
    assert found.level == "unknown"
    assert "1 of 1 measurement is inconclusive: it is not known how small a leak" in found.sentence


@pytest.mark.parametrize("measured", [finding(), safe()])
def test_what_could_not_be_measured_is_counted_in_the_sentence(measured):
    broken = finding("insider", game="inversion", status="could-not-measure", level="unknown")
    found = verdict([measured, broken], WHO, failed={None: 2})
    assert "3 of 4 measurements could not be made." in found.sentence
    assert found.level == ("high" if measured.status == "leak" else "unknown")
    assert "could not be made" not in verdict([measured], WHO).sentence


def test_nothing_measured_is_not_called_safe():
    found = verdict([finding(status="could-not-measure", level="unknown")], WHO)
    assert found.level == "unknown"
    assert "could be measured" in found.sentence
    assert verdict([], WHO).level == "unknown"
    assert verdict([], WHO, failed={None: 3}).level == "unknown"


def test_inconclusive_is_said_with_its_reasons():
    wide = "the interval is too wide to tell; more targets narrow it"
    doubts = [finding(status="inconclusive", level="unknown", value=0.53, reason=wide, id=i) for i in ("a", "b")]
    found = verdict([*doubts, safe("outsider")], WHO)
    assert found.level == "unknown"
    assert f"2 of 3 measurements are inconclusive: {wide}." in found.sentence, "one reason is said once"
    assert "no proof of safety" in found.sentence
    assert found.findings == ["a", "b"]


def of_encoder(**changes):
    facts = {"game": "pattern", "subject": "iban", "about": "encoder", "value": 0.6, "floor": 0.1}
    return finding(**{**facts, "secondary": {"whole_top1": Estimate(0.125, 0.1, 0.15, 100)}, **changes})


TOLD = (
    "No text holds a secret of the form 'iban'; of texts that did, this encoder would give away 60% of the parts, "
    "12.5% of the whole secrets (guessing: 10%)."
)


def test_what_an_encoder_would_give_away_is_told_and_raises_no_level():
    found = verdict([of_encoder(), safe()], WHO)
    assert (found.level, found.adversary) == ("none", None)
    assert found.sentence.startswith("No leak was found in this collection (1 measurement).")
    assert found.sentence.endswith(TOLD)
    leaks = verdict([of_encoder(), finding(level="low", value=0.55)], WHO)
    assert (leaks.level, leaks.findings) == ("low", ["keyword-insider"])
    assert leaks.sentence.endswith(TOLD)


def test_a_run_about_the_encoder_alone_says_nothing_of_the_collection():
    found = verdict([of_encoder()], WHO)
    assert found.level == "unknown"
    assert found.sentence == f"Nothing was measured on the texts of this collection. {TOLD}"


def test_a_secret_that_texts_do_hold_counts():
    assert verdict([of_encoder(about="collection")], WHO).level == "high"


def test_a_defended_finding_does_not_speak_for_the_plain_vectors():
    found = verdict([finding(defense="noise", adaptive=True)], WHO)
    assert found.level == "unknown"


def test_a_point_of_a_curve_does_not_speak_for_the_whole():
    assert verdict([finding(curve=True)], WHO).level == "unknown"


def test_a_yardstick_alone_says_nothing_of_vectors():
    found = verdict([finding(status="yardstick", level="unknown")], WHO)
    assert found.level == "unknown"
    assert "Only yardsticks" in found.sentence


def test_a_value_that_could_not_be_measured_survives_the_file():
    made = finding(estimate=undefined(), headroom=float("nan"))
    back = Finding.model_validate_json(made.model_dump_json())
    assert back.estimate.value != back.estimate.value
    assert back.headroom != back.headroom


def test_times_are_left_out_of_comparisons():
    data = {"a": {"fit_seconds": 1, "created_at": "x", "value": 3}, "b": [{"seconds": 2}]}
    assert without_times(data) == {"a": {"value": 3}, "b": [{}]}


def test_schema_is_printable_and_names_the_version():
    schema = json.loads(json.dumps(json_schema()))
    assert schema["properties"]["schema_version"]["default"] == 2


def test_bad_result_files(tmp_path):
    with pytest.raises(UsageError, match="no result file"):
        read_run(tmp_path / "absent")
    (tmp_path / "run.json").write_text('{"title": 3}')
    with pytest.raises(DataError, match="not a result file"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        read_run(tmp_path)


class TestVariants:
    def test_a_defense_that_works_is_told_and_changes_nothing_about_plain_vectors(self):
        blind, known = safe(defense="blank", adaptive=False), safe(defense="blank", adaptive=True)
        found = verdict([finding(), blind, known], WHO)
        assert found.level == "high"
        (behind,) = found.variants
        assert (behind.variant, behind.level) == ("blank", "none")

    def test_whoever_does_not_know_a_defense_decides_nothing(self):
        blind = safe(defense="noise", adaptive=False)
        found = verdict([finding(), blind, finding(defense="noise", adaptive=True)], WHO)
        assert [(v.variant, v.level) for v in found.variants] == [("noise", "high")]

    def test_what_is_read_without_knowing_a_defense_is_read_all_the_same(self):
        found = verdict([finding(defense="noise", adaptive=False), safe(defense="noise", adaptive=True)], WHO)
        assert [(v.variant, v.level) for v in found.variants] == [("noise", "high")]

    def test_what_broke_off_behind_a_defense_is_never_safe(self):
        found = verdict([finding(), safe(defense="blank", adaptive=True)], WHO, failed={"blank": 1, "lost": 2})
        assert [(v.variant, v.level) for v in found.variants] == [("blank", "unknown"), ("lost", "unknown")]
        assert "1 of 2 measurements could not be made" in found.variants[0].sentence
