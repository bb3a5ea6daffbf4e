"""Texts longer than what the encoder reads: counted, said, and cut into chunks that stay together."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from unembed.corpora.chunks import ORIGIN
from unembed.corpora.words import words
from unembed.encoders import ENCODERS
from unembed.errors import CannotMeasureError, UsageError
from unembed.report.coverage import advice, sentence
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.runner.coverage import WHOLE_TEXTS, with_coverage
from unembed.runner.execute import audit
from unembed.runner.prepare import open_encoder, read_sides
from unembed.runner.spec import build_spec, merge
from unembed.seeds import generator
from unembed.testing.toys import TOY_WORDS

ENCODER = '''
import numpy as np
from unembed.corpora.words import word_spans
from unembed.encoders.base import Seen
from unembed.testing.toys import LeakyEncoder


class ShortSighted(LeakyEncoder):
    """Reads the first 20 words."""

    def encode(self, texts, *, role="document"):
        return super().encode([t[:end] for t, end in zip(texts, self.seen(texts).characters)], role=role)

    def seen(self, texts, *, role="document"):
        spans = [word_spans(t) for t in texts]
        tokens = np.array([len(s) for s in spans], dtype=np.int64)
        ends = [len(t) if len(s) <= 20 else s[19][2] for t, s in zip(texts, spans)]
        return Seen(20, tokens, np.minimum(tokens, 20), np.array(ends, dtype=np.int64))
'''
TEXTS = 80


@pytest.fixture
def place(tmp_path):
    """80 texts, every second one of 70 words and the others of 10; three texts per document, two sides."""
    rng = generator(3, "long texts")
    (tmp_path / "short.py").write_text(ENCODER)
    with (tmp_path / "texts.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "key", "document", "day", "side"])
        for i in range(TEXTS):
            said = rng.choice(TOY_WORDS, size=70 if i % 2 else 10)
            told = ". ".join(" ".join(["It", *part]) for part in np.array_split(said, 7))
            table.writerow([told, f"k{i}", f"d{i // 3}", f"2024-01-{1 + i // 4:02d}", "ab"[i % 2]])
    return tmp_path


def spec_for(place, **changes):
    base = {
        "data": {"texts": str(place / "texts.csv"), "column": "text", "id": "key"},
        "encoder": {"name": f"{place / 'short.py'}:ShortSighted"},
        "adversaries": ["insider"],
        "games": ["inversion"],
        "attacks": ["inversion/mlc"],
        "params": {"inversion/mlc": {"epochs": 3}},
        "curve": [],
        "threads": 1,
        "run": {"folder": str(place / "run"), "no_cache": True},
    }
    return build_spec(merge(base, changes))


def test_cut_texts_stand_in_the_result_and_in_every_report(place):
    run, folder = audit(spec_for(place))
    cards = {card.role: card for card in run.data}
    own = [cards[role].coverage for role in ("target", "adversary")]
    assert sum(c.texts for c in own) == TEXTS
    assert sum(c.longer for c in own) == TEXTS // 2
    # 77 words in a long text and 17 in a short one, with the seven "It" of each.
    assert sum(c.tokens for c in own) == TEXTS // 2 * (77 + 17)
    assert sum(c.unread for c in own) == TEXTS // 2 * 57
    told = "The encoder reads the first 20 tokens of a text. 40 of 80 texts (50 %) are longer; 61 % of all tokens were"
    assert sentence(run).startswith(told)
    assert told in render_html(run)
    assert "40 of 80 texts" in render_markdown(run)
    assert advice(run) == "--chunk 10 splits them as a retrieval system would."
    assert json.loads((folder / "run.json").read_text())["data"][1]["coverage"]["limit"] == 20


def test_words_beyond_the_cut_are_told_apart_from_words_missed(place):
    run, _ = audit(spec_for(place))
    finding = run.findings[0]
    beyond = [note for note in finding.notes if "beyond what the encoder reads" in note]
    assert len(beyond) == 1
    assert finding.secondary["content_f1_seen"].value > finding.secondary_floors["content_f1_seen"]
    whole, _ = audit(spec_for(place, encoder={"name": "hashing"}, run={"folder": str(place / "whole")}))
    assert sentence(whole) is None, "an encoder that counts every word leaves nothing out"
    assert "content_f1_seen" not in whole.findings[0].secondary
    assert not [note for note in whole.findings[0].notes if "beyond" in note]


def test_keywords_beyond_the_cut_are_counted(place):
    changes = {"games": ["keyword"], "attacks": ["keyword/svm"], "params": {}, "keyword": {"words": ["apple"]}}
    run, _ = audit(spec_for(place, **changes))
    (note,) = [note for note in run.findings[0].notes if "only beyond what the encoder reads" in note]
    assert note.startswith("in ")


@pytest.mark.parametrize(
    ("how", "together"),
    [({}, ORIGIN), ({"group": "document"}, "document"), ({"time": "day"}, ORIGIN), ({"attributes": ["side"]}, ORIGIN)],
    ids=["by text", "by group", "by time", "with an attribute"],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chunks_of_one_text_stay_on_one_side(place, how, together, seed):
    spec = spec_for(place, data={"chunk": 12, "chunk_overlap": 3, **how}, seed=seed)
    sides = read_sides(spec)
    target, known = sides.target, sides.known["inside"]
    assert not set(target.column(ORIGIN)) & set(known.column(ORIGIN))
    assert not set(target.column(together)) & set(known.column(together))
    assert spec.data.together == together
    assert max(len(words(t)) for t in [*target.texts, *known.texts]) <= 12
    card = next(c for c in sides.cards if c.role == "corpus")
    assert card.facts["texts before chunking"] == TEXTS
    assert card.rows > TEXTS
    assert {i.rpartition("#")[0] for i in target.ids} == set(target.column(ORIGIN))


def test_chunks_are_read_whole_and_form_groups(place):
    run, _ = audit(spec_for(place, data={"chunk": 15}))
    rows = sum(card.rows for card in run.data if card.role in ("target", "adversary"))
    assert rows > TEXTS
    assert sentence(run) == f"The encoder reads the first 20 tokens of a chunk; none of the {rows} chunks is longer."
    assert advice(run) is None
    assert run.findings[0].estimate.method == "cluster jackknife"
    assert not [note for note in run.findings[0].notes if "beyond" in note]
    assert all(sample.target.partition("#")[2].isdigit() for sample in run.findings[0].samples)


def test_chunks_that_are_still_too_long_are_said_to_be(place):
    spec = spec_for(place, data={"chunk": 30})
    sides = read_sides(spec)
    coverage = next(c.coverage for c in with_coverage(sides, open_encoder(spec, sides)).cards if c.role == "target")
    assert coverage.longer > 0


def test_an_encoder_that_can_not_say_what_it_reads_is_unknown_only_where_texts_are_long(place):
    (place / "mine.py").write_text("from unembed.testing.toys import LeakyEncoder\nencode = LeakyEncoder().encode\n")
    mine = {"name": f"callable:{place / 'mine.py'}:encode", "version": "1"}
    run, _ = audit(spec_for(place, encoder=mine))
    assert sentence(run) is None, "no text has more than 200 words"
    (place / "texts.csv").write_text(
        "text,key\n" + "\n".join(f"{' '.join(f'{w}{i}' for w in TOY_WORDS * 8)},k{i}" for i in range(40))
    )
    words_once = {"inversion": {"min_count": 1}}
    run, _ = audit(spec_for(place, encoder=mine, params=words_once, run={"folder": str(place / "long")}))
    assert sentence(run) == (
        "How much of a text the encoder reads is not known. 40 of 40 texts (100 %) have more than 200 words."
    )


def test_every_encoder_reads_whole_texts_or_can_say_or_is_unknown():
    limited = {name for name in ENCODERS if hasattr(ENCODERS.get(name), "seen")}
    assert set(ENCODERS) == limited | WHOLE_TEXTS | {"callable", "vectors", "endpoint"}
    assert not limited & WHOLE_TEXTS


def test_chunks_need_an_encoder_and_more_than_one_text(place):
    with pytest.raises(UsageError, match="one per text"):
        spec_for(place, data={"vectors": "v.npy", "chunk": 10})
    with pytest.raises(UsageError, match="add chunk"):
        spec_for(place, data={"chunk_overlap": 10})
    with pytest.raises(UsageError, match="from 0 to 5 words"):
        spec_for(place, data={"chunk": 10, "chunk_overlap": 6})
    (place / "texts.csv").write_text("text,key\n" + " ".join(f"w{i}" for i in range(500)) + ",k\n")
    with pytest.raises(CannotMeasureError, match="from one text"):
        read_sides(spec_for(place, data={"chunk": 10}))
