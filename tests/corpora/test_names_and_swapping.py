"""Names: found by rules, swapped, taken out; words by class."""

from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora.names import find_names, read_names
from unembed.corpora.swapping import remove_name, scored_word, swap_name
from unembed.corpora.word_classes import word_classes
from unembed.corpora.words import words
from unembed.errors import DataError, UnknownNameError, UsageError

TEXTS = [
    "Yesterday Rose met Anna in the garden.",
    "A rose is a rose, and a rose smells.",
    "Then Anna Valdessi and Mr. Harker left. Harker was late.",
    "The Garden was closed; we saw Anna.",
]


class TestFinding:
    def test_a_listed_word_with_a_capital_inside_a_sentence_is_a_name(self):
        assert "anna" in find_names(TEXTS, ["Anna", "Rose"])

    def test_a_listed_word_that_is_mostly_a_plain_word_is_not(self):
        assert "rose" not in find_names(TEXTS, ["Anna", "Rose"])

    def test_last_names_follow_a_first_name_or_a_title(self):
        found = find_names(TEXTS, ["Anna"])
        assert {"valdessi", "harker"} <= set(found)
        assert "garden" not in found

    def test_the_most_frequent_name_comes_first(self):
        assert find_names(TEXTS, ["Anna"])[0] == "anna"

    def test_a_capital_at_the_start_of_a_sentence_is_no_sign(self):
        assert find_names(["Grace is a virtue. Grace helps, said Tom."], ["Grace"]) == ()

    def test_lower_cased_texts_have_only_the_list(self):
        lower = [t.lower() for t in TEXTS]
        assert set(find_names(lower, ["Anna", "Zoe", "The"])) == {"anna"}

    def test_no_list_no_texts(self):
        assert find_names([], ["Anna"]) == ()
        assert find_names(TEXTS, []) == ("harker",)

    def test_names_of_a_file(self, tmp_path):
        (tmp_path / "names.txt").write_text("Ada  Lovelace\nAda Lovelace\n\n1815\nBabbage\n")
        assert read_names(tmp_path / "names.txt") == ("Ada Lovelace", "Babbage")
        (tmp_path / "names.csv").write_text("who,age\nAda,36\n")
        assert read_names(tmp_path / "names.csv", "who") == ("Ada",)

    def test_a_file_without_a_name_is_an_error(self, tmp_path):
        (tmp_path / "names.txt").write_text("12\n34\n")
        with pytest.raises(DataError, match="it holds no name"):
            read_names(tmp_path / "names.txt")


class TestSwapping:
    @pytest.mark.parametrize(
        ("text", "old", "new", "expected"),
        [
            ("marvani: il mandato", "Marvani", "Tosca", "tosca: il mandato"),
            ("Marvani spoke, then MARVANI left.", "marvani", "tosca", "Tosca spoke, then TOSCA left."),
            ("Mario Marvani met Marvani", "Mario Marvani", "Ada Tosca", "Ada Tosca met Tosca"),
            ("mario marvani spoke", "Mario Marvani", "Tosca", "tosca spoke"),
            ("Marvanini stays", "Marvani", "Tosca", "Marvanini stays"),
        ],
    )
    def test_the_name_changes_and_the_case_stays(self, text, old, new, expected):
        assert swap_name(text, old, new) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [("Then Marvani, the banker", "Then, the banker"), ("Marvani spoke", "spoke"), ("marvani", "")],
    )
    def test_taking_a_name_out_tidies_up(self, text, expected):
        assert remove_name(text, "Marvani") == expected

    @given(st.lists(st.sampled_from(["anna", "Bruno", "the", "sea,", "BRUNO", "old"]), max_size=12))
    def test_swapping_changes_the_name_alone(self, parts):
        text = " ".join(parts)
        swapped = swap_name(text, "Bruno", "Carla")
        assert words(swapped) == ["carla" if w == "bruno" else w for w in words(text)]
        assert swap_name(swapped, "Carla", "Bruno") == swap_name(text, "Bruno", "bruno")
        assert words(remove_name(text, "Bruno")) == [w for w in words(text) if w != "bruno"]

    def test_the_last_word_is_scored(self):
        assert scored_word("Ada King Lovelace") == "lovelace"
        for bad in ("", "...", "Ada 3"):
            with pytest.raises(UsageError, match="name"):
                scored_word(bad)


class TestClasses:
    words = ("anna", "rose", "1999", "the")

    def test_rules_know_names_numbers_and_the_rest(self):
        assert word_classes(TEXTS, self.words, "rules", names=["Anna", "Rose"]) == ["names", "other", "numbers", ""]

    def test_without_a_list_there_are_no_names(self):
        assert word_classes(TEXTS, self.words, "rules") == ["other", "other", "numbers", ""]

    def test_an_unknown_way_is_refused(self):
        with pytest.raises(UnknownNameError, match="rules"):
            word_classes(TEXTS, self.words, "rule")

    @pytest.mark.skipif(find_spec("textblob") is not None, reason="textblob is installed")
    def test_a_tagger_that_is_not_installed_is_named(self):
        with pytest.raises(UsageError, match="pip install textblob"):
            word_classes(TEXTS, self.words, "textblob")

    def test_a_tagger_gives_parts_of_speech(self):
        pytest.importorskip("textblob", reason="needs the optional package textblob")
        found = word_classes(TEXTS, ("anna", "garden", "met", "the", "harbour"), "textblob")
        assert found == ["names", "nouns", "verbs", "", "nouns"]

    def test_the_tagger_is_for_english(self):
        with pytest.raises(UsageError, match="English"):
            word_classes(TEXTS, self.words, "textblob", language="it")
