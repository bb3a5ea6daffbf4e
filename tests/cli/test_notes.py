"""What a measurement left out stands in the terminal, not only in the report."""

from pathlib import Path

from command_line import ONCE, write_csv

from unembed.corpora.patterns import parse_pattern
from unembed.seeds import generator

#: Which digit stands where: an id can be read from such a vector.
DIGITS = '''
import numpy as np
from unembed.encoders.base import EncoderCard

class Digits:
    """One number per place and digit."""
    @property
    def card(self):
        return EncoderCard("digits", "digits", "digits-1", 160, False)
    def encode(self, texts, *, role="document"):
        out = np.zeros((len(texts), 160), dtype=np.float32)
        for row, text in enumerate(texts):
            for place, digit in enumerate([c for c in text.rpartition(" ")[2] if c.isdigit()][:16]):
                out[row, 10 * place + int(digit)] = 1
        return out
'''


def test_ids_with_a_wrong_check_digit_are_counted_in_the_terminal(run, tmp_path: Path) -> None:
    cards = parse_pattern("card").generate(120, generator(0, "cards")).texts
    spoilt = [card[:-1] + str((int(card[-1]) + 1) % 10) for card in cards[:20]]
    rows = [[f"Message {i}: please book it to {card}."] for i, card in enumerate([*spoilt, *cards[20:]])]
    texts = write_csv(tmp_path / "cards.csv", [["text"], *rows])
    (tmp_path / "digits.py").write_text(DIGITS)
    done = run(
        *("attack", "pattern/fields", "--texts", texts, "--column", "text", "--pattern", "card"),
        *("--encoder", f"{tmp_path / 'digits.py'}:Digits", "--set", "pattern.pairs=200", *ONCE, "-d", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    left_out = [line for line in done.out.splitlines() if "left out: wrong check digit" in line]
    assert len(left_out) == 2, done.out
    assert sum(int(line.split(": ")[1].split()[0]) for line in left_out) == 20
    assert not any(card in done.out for card in cards)


def test_a_label_with_a_single_example_is_counted_in_the_terminal(run, tmp_path: Path) -> None:
    rows = [[f"Text {i} about {'trains' if i % 2 else 'ships'} and more", "ab"[i % 2]] for i in range(60)]
    texts = write_csv(tmp_path / "texts.csv", [["text", "author"], *rows, ["One more about nothing", "c"]])
    done = run(
        *("attack", "attribute/linear", "--texts", texts, "--column", "text", "--attribute", "author"),
        *("--encoder", "hashing", "-d", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert "1 of 3 values are left out" in done.out
