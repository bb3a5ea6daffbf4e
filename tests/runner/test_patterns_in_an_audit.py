"""Patterns in an audit: which are played, on whose secrets, and what the result and the reports show."""

from dataclasses import replace

import pytest
from planning import planned

from unembed.corpora.patterns import parse_pattern
from unembed.encoders.base import EncoderCard
from unembed.errors import UsageError
from unembed.games.threat import Capability
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.runner.execute import audit
from unembed.runner.plan import ask
from unembed.runner.prepare import read_sides
from unembed.runner.spec import build_spec, merge
from unembed.seeds import generator
from unembed.testing.toys import TOY_WORDS

CARD = EncoderCard("toy", "toy", "digest", 48, False)
FORMAT = f"{{first:one({'|'.join(TOY_WORDS[:6])})}} {{second:one({'|'.join(TOY_WORDS[6:12])})}}"
ENCODER = """
from unembed.testing.toys import LeakyEncoder
encode = LeakyEncoder().encode
"""


@pytest.fixture
def place(tmp_path):
    secrets = parse_pattern(FORMAT).generate(300, generator(0, "texts")).texts
    texts = [f"{TOY_WORDS[20 + i % 9]}, {secret}, number {i}" for i, secret in enumerate(secrets)]
    (tmp_path / "toy.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "leaky.py").write_text(ENCODER)
    return tmp_path


def spec_for(place, **changes):
    base = {
        "data": {"texts": str(place / "toy.txt")},
        "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
        "adversaries": ["insider"],
        "games": ["pattern"],
        "pattern": {"formats": [FORMAT], "pairs": 400},
        "run": {"folder": str(place / "run"), "no_cache": True},
        "params": {
            "pattern/shared": {"epochs": 3, "min_steps": 100, "hidden": 32},
            "pattern/fields": {"epochs": 5, "min_steps": 200},
        },
    }
    return build_spec(merge(base, changes))


def test_secrets_of_the_collection_are_read_and_masked(place):
    run, _ = audit(spec_for(place, threads=1))
    assert run.status == "complete"
    assert {f.attack for f in run.findings} == {"pattern/fields", "pattern/shared"}
    fields = next(f for f in run.findings if f.attack == "pattern/fields")
    assert fields.status == "leak"
    assert fields.cost.pairs > 100
    assert {s.name for s in fields.slices if s.kind == "part"} == {"first", "second"}
    assert fields.subject == FORMAT
    assert "apple" not in str([s.model_dump() for f in run.findings for s in f.samples])
    html, markdown = render_html(run), render_markdown(run)
    assert "Can a number or code of known form be read back from a vector?" in html
    assert 'class="heat-cell"' in html
    assert "| first |" in markdown


def test_samples_are_shown_when_asked_for_part_by_part(place):
    run, _ = audit(spec_for(place, samples=True, attacks=["pattern/fields"]))
    samples = [s for f in run.findings for s in f.samples]
    assert samples
    assert all(word.partition("=")[0] in ("first", "second") for s in samples for word in (*s.truth, *s.recovered))
    assert all(hit == (word in s.truth) for s in samples for word, hit in zip(s.recovered, s.hits, strict=True))


def test_where_the_texts_hold_none_the_challenger_writes_some(place):
    spec = spec_for(place, pattern={"formats": ["passport"], "pairs": 60}, params={"pattern": {"planted": 40}},
                    attacks=["pattern/fields"])  # fmt: skip
    run, _ = audit(spec)
    (finding,) = run.findings
    assert finding.cost.targets == 40
    assert any("wrote some down itself" in note for note in finding.notes)
    assert all(s.target.startswith("made up ") for s in finding.samples)


def test_made_up_secrets_are_read_once_where_the_collection_adds_nothing(place):
    both = {"adversaries": ["outsider", "insider"], "attacks": ["pattern/fields"]}
    made_up = spec_for(place, pattern={"formats": ["passport"]}, **both)
    plan = planned(made_up, CARD, "")
    assert [c.identity.adversary for c in plan.cells] == ["outsider"]
    assert any(s.adversary == "insider" and "would be the outsider's" in s.reason for s in plan.skipped)
    held = spec_for(place, **both)
    assert len(planned(held, CARD, "").cells) == 2


def test_without_a_format_the_game_is_listed_as_left_out(place):
    spec = spec_for(place, games=["keyword", "pattern"], pattern={"formats": []})
    skipped = ask(spec, read_sides(spec)).skipped
    assert any(s.what == "pattern" and "--pattern" in s.reason for s in skipped)


def test_whoever_attacks_a_pattern_knows_its_format_and_nobody_else_is_given_it(place):
    spec = spec_for(place, games=["keyword", "pattern"], keyword={"words": ["copper"]})
    cells = planned(spec, CARD, "").cells
    for cell in cells:
        knows = Capability.FORMAT in cell.identity.capabilities
        assert knows == (cell.identity.game.name == "pattern")


def test_a_wrong_format_is_an_error_before_anything_runs(place):
    with pytest.raises(UsageError, match="never closed"):
        spec_for(place, pattern={"formats": ["{a:digits3"]})
    with pytest.raises(UsageError, match="go with a pattern"):
        spec_for(place, pattern={"formats": [], "sentences": ["{secret}"]})


def test_stored_vectors_without_such_secrets_are_left_out_with_the_reason(place):
    spec = spec_for(place, pattern={"formats": ["iban"]})
    asked = ask(spec, replace(read_sides(spec), can_encode=False))
    assert not asked.questions
    assert any(s.what == "pattern iban" and "without the encoder" in s.reason for s in asked.skipped)
