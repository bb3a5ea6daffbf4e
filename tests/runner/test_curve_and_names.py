"""The points of the curve, and names in an audit: who plays, what is skipped, what the result may show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning import planned

from unembed.encoders.base import EncoderCard
from unembed.errors import UsageError
from unembed.runner.checking import check_spec
from unembed.runner.curve import curve_sizes, log_spaced
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec, merge
from unembed.testing.toys import TOY_WORDS

CARD = EncoderCard("toy", "toy", "digest", 48, False)
ENCODER = """
from unembed.testing.toys import LeakyEncoder
encode = LeakyEncoder().encode
"""


class TestCurve:
    @given(st.integers(1, 10**6), st.integers(1, 12), st.integers(1, 500))
    def test_log_spaced_numbers_grow_to_the_whole(self, n, points, least):
        found = log_spaced(n, points, least=least)
        assert found[-1] == n
        assert len(found) <= points
        assert found == sorted(set(found))
        assert found[0] == (n if points == 1 else min(least, n))

    def test_log_spaced_numbers_have_even_ratios(self):
        assert log_spaced(10_000, 3, least=100) == [100, 1000, 10_000]
        with pytest.raises(UsageError):
            log_spaced(100, 0)

    def test_shares_numbers_and_log(self):
        assert curve_sizes([0.3, 0.1], 1000) == [100, 300]
        assert curve_sizes([200, 0.1, 5000, 0.01], 1000) == [100, 200]
        assert curve_sizes([], 1000) == []
        assert curve_sizes("log", 1000) == log_spaced(1000)[:-1]

    @pytest.mark.parametrize("curve", ["log", [0.1, 500], [50], []])
    def test_what_an_audit_file_may_say(self, curve):
        assert build_spec({"data": {"texts": "x"}, "curve": curve}).curve == curve

    @pytest.mark.parametrize("curve", ["linear", [0], [1], [49], [1.5], [-3], ["a"]])
    def test_what_it_may_not(self, curve):
        with pytest.raises(UsageError, match="curve"):
            build_spec({"data": {"texts": "x"}, "curve": curve})


@pytest.fixture
def place(tmp_path):
    names = ("Anna", "Bruno", "Carla", "Dario")
    texts = []
    for i in range(400):
        first, second, third = (TOY_WORDS[(i * k + i // 30) % 30] for k in (1, 7, 11))
        texts.append(f"{first} and {second} by {names[i % 4]} with {third} {i % 37}")
    (tmp_path / "toy.csv").write_text("text\n" + "\n".join(texts) + "\n")
    (tmp_path / "names.txt").write_text("\n".join((*names, "Zenobia")) + "\n")
    (tmp_path / "leaky.py").write_text(ENCODER)
    return tmp_path


def spec_for(place, **changes):
    base = {
        "data": {"texts": str(place / "toy.csv"), "column": "text"},
        "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
        "adversaries": ["insider"],
        "games": ["names"],
        "names": {"file": str(place / "names.txt")},
        "attacks": ["inversion/mlc"],
        "run": {"folder": str(place / "run"), "no_cache": True},
    }
    return build_spec(merge(base, changes))


class TestNames:
    def test_attacks_of_inversion_play_names(self, place):
        spec = spec_for(place, games=["inversion", "names"], curve=[])
        plan = planned(spec, CARD, "")
        assert [(c.identity.game.name, c.identity.attack.name) for c in plan.cells] == [
            ("inversion", "inversion/mlc"),
            ("names", "inversion/mlc"),
        ]

    def test_without_a_file_of_names_it_is_listed_as_not_tested(self, place):
        spec = build_spec({"data": {"texts": str(place / "toy.csv")}, "adversaries": ["insider"]})
        plan = planned(spec, CARD, "")
        assert "names" not in {c.identity.game.name for c in plan.cells}
        assert [s.reason for s in plan.skipped if s.what == "names"] == ["no list of names was given (--names FILE)"]

    def test_an_outsider_without_a_word_for_the_names_is_listed_as_not_tested(self, place):
        spec = spec_for(place, adversaries=["outsider", "insider"], external={"rows": 200})
        plan = planned(spec, CARD, "")
        assert [c.identity.adversary for c in plan.cells] == ["insider"]
        assert [s for s in plan.skipped if s.what == "names" and s.adversary == "outsider"]

    def test_names_nobody_holds_can_not_be_measured(self, place):
        (place / "names.txt").write_text("Zenobia\nYorick\n")
        run, _ = audit(spec_for(place))
        assert [c.status for c in run.cells] == ["failed"]
        assert "of 2 names 0 stand in 5 targets" in run.cells[0].error
        assert not run.findings

    def test_an_attack_of_another_game_is_refused(self, place):
        spec = spec_for(place, attacks=["keyword/svm"])
        with pytest.raises(UsageError, match="plays the game 'keyword'"):
            check_spec(spec)

    def test_names_are_found_with_a_list_of_first_names(self, place):
        spec = spec_for(place, names={"file": str(place / "names.txt"), "find": True})
        plan = planned(spec, CARD, "")
        assert sorted(plan.cells[0].identity.game.params["names"]) == ["anna", "bruno", "carla", "dario"]

    def test_a_column_without_a_file_is_refused(self):
        with pytest.raises(UsageError, match="file of names"):
            build_spec({"data": {"texts": "x"}, "names": {"find": True}})

    def test_names_are_found_back_and_masked(self, place):
        run, folder = audit(spec_for(place))
        assert [c.status for c in run.cells] == ["done"], run.cells[0].error
        finding = run.findings[0]
        assert finding.status == "leak"
        assert {f.kind for f in finding.floors} == {"prior", "shuffled", "random", "without"}
        assert [s.kind for s in finding.slices] == ["name"] * 4
        shown = (folder / "run.json").read_text().lower()
        assert not [n for n in ("anna", "bruno", "carla", "dario", "zenobia") if n in shown]
