"""Names, seeds and parameters: the small things everything else relies on."""

from dataclasses import field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from unembed.attacks import ATTACKS
from unembed.errors import PluginError, UnknownNameError
from unembed.params import Parametrised, learnt
from unembed.registry import Registry
from unembed.seeds import generator, seed_for


class TestRegistry:
    def test_nothing_is_imported_before_it_is_asked_for(self):
        registry = Registry("thing", {"a": "absent_module:Thing"})
        assert registry.names() == ["a"]
        with pytest.raises(ModuleNotFoundError):
            registry.get("a")

    def test_a_mistyped_name_gets_a_suggestion(self):
        with pytest.raises(UnknownNameError, match=r"did you mean .*'inversion/mlc'"):
            ATTACKS.get("inversion/mcl")

    def test_a_taken_name_is_refused(self):
        registry = Registry("thing", {"a": "json:loads"})
        with pytest.raises(PluginError, match="already registered"):
            registry.register("a", "json:dumps")

    def test_a_contract_is_checked_on_load(self):
        registry = Registry("thing", {"a": "json:loads"}, check=lambda o: "it is wrong")
        with pytest.raises(PluginError, match="does not keep its contract: it is wrong"):
            registry.get("a")

    def test_a_file_can_be_named(self, tmp_path):
        (tmp_path / "mine.py").write_text("class Thing: ...\n")
        registry = Registry("thing", {})
        assert registry.get(f"{tmp_path}/mine.py:Thing").__name__ == "Thing"
        with pytest.raises(UnknownNameError, match="did you mean 'Thing'"):
            registry.get(f"{tmp_path}/mine.py:Thin")
        with pytest.raises(PluginError, match="no such plug-in file"):
            registry.get(f"{tmp_path}/yours.py:Thing")

    def test_a_broken_file_names_itself(self, tmp_path):
        (tmp_path / "broken.py").write_text("1 / 0\n")
        with pytest.raises(PluginError, match=r"broken\.py can't be loaded: ZeroDivisionError"):
            Registry("thing", {}).get(f"{tmp_path}/broken.py:Thing")


class TestSeeds:
    @given(st.integers(0, 2**31), st.text(max_size=20), st.text(max_size=20))
    def test_a_seed_follows_from_its_identity_alone(self, seed, one, other):
        assert seed_for(seed, one) == seed_for(seed, one)
        assert (seed_for(seed, one) == seed_for(seed, other)) == (one == other)

    def test_joined_names_are_not_confused(self):
        assert seed_for(0, "a", "bc") != seed_for(0, "ab", "c")

    def test_another_seed_gives_other_numbers(self):
        assert not np.array_equal(generator(0, "x").random(4), generator(1, "x").random(4))


class TestParameters:
    @pytest.mark.parametrize("name", ATTACKS.names())
    def test_clone_works(self, name):
        made = ATTACKS.get(name)(seed=5)
        assert clone(made).get_params() == made.get_params()

    def test_an_unknown_parameter_gets_a_suggestion(self):
        with pytest.raises(UnknownNameError, match="did you mean 'epochs'"):
            ATTACKS.get("inversion/mlc")().set_params(epoch=3)


class TestFieldsAsParameters:
    def test_fields_make_the_constructor_and_what_is_learnt_is_none_of_it(self):
        class Made(Parametrised):
            scale: float = 1.0
            centre_: float = learnt()

        assert Made(scale=2.0).get_params() == {"scale": 2.0}
        assert not hasattr(Made(), "centre_")
        assert repr(Made(scale=2.0)) == "Made(scale=2.0)"

    def test_a_class_below_adds_its_own(self):
        class Above(Parametrised):
            scale: float = 1.0

        class Below(Above):
            seed: int = 0

        assert Below(seed=3).get_params() == {"scale": 1.0, "seed": 3}

    def test_a_field_may_be_given_by_position_and_may_cease_to_be_a_parameter(self):
        class Above(Parametrised):
            place: str = field(kw_only=False)
            seed: int = 0

        class Below(Above):
            place: str = field(default="here", kw_only=False)
            seed: int = field(default=7, init=False)

        assert Above("there", seed=1).get_params() == {"place": "there", "seed": 1}
        with pytest.raises(TypeError):
            Above("there", 1)
        assert Below().get_params() == {"place": "here"}
        assert Below("there").seed == 7

    def test_a_constructor_that_somebody_wrote_stays_theirs_and_their_heirs(self):
        class Written(Parametrised):
            centre_: float = learnt()

            def __init__(self, path, *, seed=0):
                self.path, self.seed = path, seed

        class Heir(Written):
            pass

        for made in (Written("x"), Heir("x", seed=1)):
            assert made.path == "x"
            assert not hasattr(made, "centre_")
        assert Heir("x").get_params() == {"path": "x", "seed": 0}
