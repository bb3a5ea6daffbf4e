"""Fitted encoders pass the suite for recipes, and the suite finds the faults it is there for."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from unembed.artifacts import Artifacts, texts_digest
from unembed.artifacts.encoders import EncoderRecipe, recipe_for
from unembed.errors import CannotMeasureError
from unembed.testing import check_recipe
from unembed.testing.recipes import recipe_checks
from unembed.testing.toys import toy_corpus

TEXTS = toy_corpus(40).texts
ENCODERS = {
    "tfidf": ({}, {"max_df": 0.9}),
    "lsa": ({"components": 8}, {"components": 9}),
}


def fitted(name, options, texts=TEXTS):
    recipe = recipe_for(name, options, texts)
    assert recipe is not None
    return recipe


def vectors(encoder):
    made = encoder.encode(TEXTS[:5])
    return encoder.card.as_dict(), made.toarray() if encoder.card.sparse else made


@pytest.mark.parametrize("name", ENCODERS)
def test_fitting_an_encoder_keeps_the_contract(name):
    options, others = ENCODERS[name]
    changed = [fitted(name, others), fitted(name, options, TEXTS[1:]), fitted(name, options, TEXTS[::-1])]
    check_recipe(fitted(name, options), vectors, changed)


def test_an_edited_plug_in_is_another_recipe(tmp_path):
    file = tmp_path / "mine.py"
    body = "from unembed.encoders.bag_of_words import TfidfEncoder\nclass Mine(TfidfEncoder):\n    number = {}\n"
    found = []
    for number in (1, 2):
        file.write_text(body.format(number))
        found.append(fitted(f"{file}:Mine", {}).identity)
    assert found[0] != found[1]


def test_what_need_not_be_fitted_is_no_artifact(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text("sea 1 2\nland 3 4\n")
    assert recipe_for("hashing", {}, TEXTS) is None
    assert recipe_for(f"glove:{table}", {}, TEXTS) is None


def test_without_the_texts_it_is_loaded_and_not_made(tmp_path):
    elsewhere = EncoderRecipe("tfidf", {}, texts_digest(TEXTS))
    with pytest.raises(CannotMeasureError, match="run the same command again"):
        Artifacts(tmp_path).get(elsewhere)
    made = Artifacts(tmp_path).get(fitted("tfidf", {}))
    assert Artifacts(tmp_path).get(elsewhere).card == made.card


@dataclass(frozen=True)
class Sum:
    """A sum over passes, with a checkpoint after each."""

    number: int = 1
    passes: int = 2

    @property
    def identity(self):
        return {"number": self.number, "passes": self.passes}

    def make(self, place):
        checkpoint = place / "checkpoint.json"
        done, total = json.loads(checkpoint.read_text()) if checkpoint.exists() else (0, 0.0)
        for i in range(done, self.passes):
            total += self.number / 3
            self.keep([i + 1, total], checkpoint)
        return total

    def keep(self, state, checkpoint):
        aside = checkpoint.with_suffix(".aside")
        aside.write_text(json.dumps(state))
        aside.replace(checkpoint)

    def save(self, made, place):
        (place / "sum.json").write_text(json.dumps(made))

    def load(self, place):
        return json.loads((place / "sum.json").read_text())


class Careless(Sum):
    """Writes its checkpoint in place."""

    def keep(self, state, checkpoint):
        checkpoint.write_text(json.dumps(state))


class Hasty(Sum):
    """Takes a checkpoint for the end."""

    def make(self, place):
        checkpoint = place / "checkpoint.json"
        return json.loads(checkpoint.read_text())[1] if checkpoint.exists() else super().make(place)


class Lossy(Sum):
    """Loses digits on the disk."""

    def save(self, made, place):
        super().save(round(made, 1), place)


class Unseeded(Sum):
    """Random on its own."""

    def make(self, place):
        return super().make(place) + random.SystemRandom().random()


class Forgetful(Sum):
    """Does not name all it is made of."""

    @property
    def identity(self):
        return {"number": self.number}


class OfThisProcess(Sum):
    """Is named otherwise in every process."""

    @property
    def identity(self):
        return {**super().identity, "process": os.getpid()}


NUMBERS = itertools.count()


class OfThisMoment(Sum):
    """Is named otherwise every time."""

    @property
    def identity(self):
        return {**super().identity, "asked": next(NUMBERS)}


class NotPlain(Sum):
    """Is named by an object."""

    @property
    def identity(self):
        return {**super().identity, "where": Path("here")}


class Pickled(Sum):
    """Lies on the disk as a pickle, which may run code when it is opened."""

    def save(self, made, place):
        (place / "sum.pickle").write_bytes(pickle.dumps(complex(made)))

    def load(self, place):
        return pickle.loads((place / "sum.pickle").read_bytes()).real


class Fatal(Sum):
    """Ends its process."""

    def make(self, place):
        os._exit(1)


FAULTS = {
    Careless: ("nothing_half_is_taken_for_whole", "begun again, it can't be made: JSONDecodeError"),
    Hasty: ("nothing_half_is_taken_for_whole", "begun again, it behaves in another way"),
    OfThisProcess: ("nothing_half_is_taken_for_whole", "identity is another one in another process"),
    Pickled: ("nothing_half_is_taken_for_whole", "load opens a pickle: builtins.complex"),
    Fatal: ("nothing_half_is_taken_for_whole", "the process that makes it dies"),
    Lossy: ("load_gives_what_was_saved", "loaded, it behaves in another way"),
    Unseeded: ("same_identity_same_thing", "made twice, it behaves in two ways"),
    Forgetful: ("identity_names_every_input", "although an input is another"),
    NotPlain: ("identity_names_every_input", "not plain JSON data"),
    OfThisMoment: ("what_is_kept_is_not_made_again", "it was made 2 times"),
}


def changes(recipe):
    return [replace(recipe, number=3), replace(recipe, passes=1)]


def test_a_sound_recipe_passes():
    check_recipe(Sum(), float, changes(Sum()))


@pytest.mark.parametrize("broken", FAULTS, ids=lambda c: c.__name__)
def test_a_broken_recipe_fails(broken):
    name, message = FAULTS[broken]
    check = next(c for c in recipe_checks(float, changes(broken())) if c.__name__ == name)
    with pytest.raises(AssertionError, match=message):
        check(broken())


def test_a_suite_without_a_changed_input_fails():
    with pytest.raises(AssertionError, match="'changed' is empty"):
        check_recipe(Sum(), float, [])
