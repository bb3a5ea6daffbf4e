"""What a measurement left out stands in the terminal, not only in the report."""

from pathlib import Path

from command_line import write_csv

from unembed.corpora.patterns import parse_pattern
from unembed.seeds import generator


def test_ids_with_a_wrong_check_digit_are_counted_in_the_terminal(run, tmp_path: Path) -> None:
    cards = parse_pattern("card").generate(120, generator(0, "cards")).texts
    spoilt = [card[:-1] + str((int(card[-1]) + 1) % 10) for card in cards[:20]]
    rows = [[f"Message {i}: please book it to {card}."] for i, card in enumerate([*spoilt, *cards[20:]])]
    texts = write_csv(tmp_path / "cards.csv", [["text"], *rows])
    done = run(
        *("attack", "pattern/fields", "--texts", texts, "--column", "text", "--pattern", "card"),
        *("--encoder", "hashing", "--set", "pattern.pairs=200", "-d", tmp_path / "run"),
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
