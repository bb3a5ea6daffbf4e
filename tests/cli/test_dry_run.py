"""``--dry-run``: how long an audit would take, from a trial of the encoder and the plan."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from command_line import SMALL, Result

Run = Callable[..., Result]


def planned(run: Run, *arguments: object) -> tuple[dict[str, Any], str]:
    done = run("audit", *arguments, "--dry-run", "--json")
    assert done.code == 0, done.err
    return json.loads(done.out), " ".join(done.err.split())


def test_what_the_cache_holds_is_not_encoded_again(run: Run, messages: Path, tmp_path: Path) -> None:
    command = ("--texts", messages, "--column", "text", *SMALL, "-d", tmp_path / "run")
    before, said = planned(run, *command)
    asked = sum(before["texts"].values()) + sum(before["queries"].values())
    assert 0 < before["time"]["trial_texts"] <= 64 < before["time"]["texts_to_encode"] <= asked
    assert before["time"]["encoding_seconds"] > 0
    assert f"from a trial of {before['time']['trial_texts']} of" in said
    assert "the attacks' share is a rough guess" in said
    assert not list(Path(os.environ["UNEMBED_CACHE"]).rglob("*")), "a trial keeps nothing"
    assert run("audit", *command).code == 0
    after, said = planned(run, *command)
    assert (after["time"]["texts_to_encode"], after["time"]["encoding_seconds"]) == (0, 0)
    assert "no text to encode" in said


def test_more_pairs_and_more_measurements_take_longer(run: Run, messages: Path) -> None:
    def measuring(*more: object) -> float:
        plan, _ = planned(run, "--texts", messages, "--column", "text", "--encoder", "hashing", *more)
        return float(plan["time"]["measuring_seconds"])

    whole = measuring()
    assert measuring("--max-texts", 100) < whole
    assert measuring("--game", "keyword") < whole
    assert measuring("--references", "none") < whole
    assert measuring("--jobs", 2) < whole


def test_stored_vectors_are_not_encoded(run: Run, messages: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.random.default_rng(0).standard_normal((300, 16)))
    plan, said = planned(run, "--texts", messages, "--column", "text", "--vectors", tmp_path / "v.npy")
    assert plan["time"]["texts_to_encode"] == plan["time"]["trial_texts"] == 0
    assert "no text to encode" in said


def test_a_question_about_training_is_planned_as_it_is_played(run: Run, messages: Path, tmp_path: Path) -> None:
    learnt = tmp_path / "learnt.csv"
    learnt.write_text("text\n" + "\n".join(f"Word{n} stood beside word{n + 1}. So did word{n + 2}." for n in range(60)))
    asked = ("--texts", messages, "--column", "text", "--trained-on", learnt, "--game", "membership-pair")
    plan, _ = planned(
        run, *asked, "--encoder", "hashing", "--adversary", "insider", "--attack", "membership/pair-reader"
    )
    assert [cell["label"] for cell in plan["cells"]] == ["insider · membership/pair-reader"]
