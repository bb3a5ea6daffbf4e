"""Damaged and odd input for the command line, generated from a number: the same number gives the same case.

    python tests/fuzz/fuzzer.py --cases 10000 [--first 0] [--jobs 2]

A case is a command and a file that was valid until it was changed: bytes flipped, cut out, doubled or moved, numbers
made huge, text put where it doesn't belong. It passes if the command ends with a documented exit code and, where it
fails, with one plain line: no traceback, nothing "unexpected", no word of the texts. Cases run in worker processes, so
that one that takes its process along is seen; a case that fails is named by its number, which belongs into
``kept.txt``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KEPT = Path(__file__).with_name("kept.txt")
#: Stands in every text and may stand in no message.
SECRET = "quixotry"
EXIT_CODES = {0, 1, 2, 3}
#: In a command: the damaged file.
FILE = "FILE"
AT_ONCE = 100
#: A hundred cases take some seconds: what takes so long hangs.
LONGEST_SECONDS = 300.0
ODD = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b'"', b"'", b",", b"\t", b"[" * 3000, b"{" * 3000, b'{"a":' * 2000),
    *(b"NaN", b"-Infinity", b"1e309", b"9" * 5000, b"-1", b"null", b"true", b"\xf0\x9f\x92\xa9", b"\xed\xa0\x80"),
    *(b"=cmd()", b"../../x", b"%s%n", b"\n" * 200, b"x" * 70_000),
)


Seed = tuple[Path, tuple[str, ...]]
Seeds = dict[str, Seed]


def make_seeds(folder: Path) -> Seeds:
    """Valid files of every kind that a user names, each with the command that reads it."""
    import gzip

    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq
    from safetensors.numpy import save_file

    texts = [f"{SECRET} number {i} of a list" for i in range(12)]
    rows = [{"text": t, "topic": f"t{i % 3}", "day": f"2024-01-{i + 1:02}"} for i, t in enumerate(texts)]
    csv = "text,topic,day\n" + "".join(f"{r['text']},{r['topic']},{r['day']}\n" for r in rows)
    table = pa.table({key: [r[key] for r in rows] for key in rows[0]})
    vectors = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
    (folder / "t.csv").write_text(csv)
    (folder / "t.tsv").write_text(csv.replace(",", "\t"))
    (folder / "t.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (folder / "t.txt").write_text("\n".join(texts))
    (folder / "t.csv.gz").write_bytes(gzip.compress(csv.encode()))
    pq.write_table(table, folder / "t.parquet")
    feather.write_feather(table, folder / "t.arrow", compression="uncompressed")
    np.save(folder / "v.npy", vectors)
    np.savez(folder / "v.npz", vectors=vectors)
    save_file({"vectors": vectors}, folder / "v.safetensors")
    (folder / "v.csv").write_text("\n".join(",".join(map(str, row)) for row in vectors.tolist()))
    (folder / "v.jsonl").write_text("\n".join(json.dumps(row) for row in vectors.tolist()))
    (folder / "audit.toml").write_text(
        '[data]\ntexts = "t.csv"\ncolumn = "text"\nattributes = ["topic"]\nmax_texts = 10\n'
        '[encoder]\nname = "hashing"\nfeatures = 16\n[run]\ncell_timeout = "10m"\n'
        '[[policy.rules]]\nid = "r"\ngame = "attribute"\nmax = 0.5\n[params.keyword]\nsamples = 20\n'
    )
    (folder / "baseline.toml").write_text(
        '[[accept]]\nrule = "max-excess"\ngame = "keyword"\nup_to = 0.5\nreason = "known"\nexpires = 2030-01-01\n'
    )
    (folder / "policy.toml").write_text('[[rules]]\nid = "r"\nmax = 0.5\ncompare = "high"\n')
    plan = ("audit", "--texts", FILE, "--column", "text", "--attribute", "topic", "--encoder", "hashing", "--dry-run")
    stored = ("audit", "--texts", str(folder / "t.csv"), "--column", "text", "--dry-run", "--vectors", FILE)
    judged = ("gate", str(_run_file(folder)))
    tables = ("t.csv", "t.tsv", "t.jsonl", "t.csv.gz", "t.parquet", "t.arrow")
    found = {f: (folder / f, plan) for f in tables}
    found["t.txt"] = (folder / "t.txt", ("audit", "--texts", FILE, "--encoder", "hashing", "--dry-run"))
    found |= {v: (folder / v, stored) for v in ("v.npy", "v.npz", "v.safetensors", "v.csv", "v.jsonl")}
    found |= {f"names {v}": (folder / v, ("fingerprint", FILE)) for v in ("v.npy", "v.safetensors")}
    found["audit.toml"] = (folder / "audit.toml", ("audit", FILE, "--dry-run"))
    found["policy.toml"] = (folder / "policy.toml", (*judged, "--policy", FILE))
    found["baseline.toml"] = (folder / "baseline.toml", (*judged, "--max-excess", "1", "--baseline", FILE))
    found["run.json"] = (folder / "run.json", ("report", FILE, "-o", str(folder / "r.md"), "-o", str(folder / "r.csv")))
    found["gate run.json"] = (folder / "run.json", ("gate", FILE, "--max-excess", "0.5"))
    return found


def _run_file(folder: Path) -> Path:
    """The result of a real audit of seconds."""
    from unembed.results.io import write_run
    from unembed.runner.execute import audit
    from unembed.runner.spec import build_spec

    data = {"texts": "generator:messages", "max_texts": 300, "attributes": ["topic"]}
    settings = {"games": ["attribute"], "attacks": ["attribute/linear"], "calibrate": False, "repeats": 0}
    where = {"folder": str(folder / "run"), "no_cache": True}
    encoder = {"name": "hashing", "features": 64}
    run, _ = audit(build_spec({"data": data, "encoder": encoder, "references": [], "run": where, **settings}))
    # Without its seal a changed file is read as far as it goes.
    document = run.model_dump(mode="json", exclude={"seal"})
    (folder / "run.json").write_text(json.dumps(document, indent=1))
    write_run(run, folder / "whole.json")
    return folder / "whole.json"


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes after one to four changes."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(made) + 1)
        size = min(rng.choice((1, 1, 2, 4, 8, 64, 500)), max(0, len(made) - at))
        change = rng.randrange(7)
        if change == 0 and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del made[at : at + size]
        elif change == 2:
            made[at:at] = made[at : at + size]
        elif change == 3:
            made[at : at + size] = rng.randbytes(size)
        elif change == 4:
            made[at:at] = rng.choice(ODD)
        elif change == 5:
            del made[at:]
        else:
            other = rng.randrange(len(made) + 1)
            made[at : at + size] = made[other : other + size]
    return bytes(made)


def run_case(number: int, seeds: Seeds, folder: Path) -> tuple[str, int, str | None]:
    """What was read, the exit code, and what is wrong with the outcome, or None."""
    rng = random.Random(number)
    name = rng.choice(sorted(seeds))
    return name, *run_with(damaged(seeds[name][0].read_bytes(), rng), seeds[name], folder)


def run_with(data: bytes, seed: Seed, folder: Path) -> tuple[int, str | None]:
    """The exit code of a seed's command with this file, and what is wrong with the outcome."""
    from unembed.cli import main

    path, command = seed
    file = folder / f"case{''.join(path.suffixes)}"
    file.write_bytes(data)
    arguments = [str(file) if part == FILE else part for part in command]
    told = io.StringIO()
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
            code = main(arguments)
    except BaseException as error:
        return -1, f"{type(error).__name__} came through"
    said = told.getvalue()
    problem = None
    if code not in EXIT_CODES:
        problem = f"exit code {code}"
    elif "unexpected" in said or "Traceback" in said:
        problem = said.strip()[:200]
    elif SECRET in said:
        problem = "a word of the texts is in the message"
    elif code == 2 and sum(line.startswith("error:") for line in said.splitlines()) != 1:
        problem = "not one line of error"
    return code, problem


@dataclass(frozen=True)
class Part:
    """Some cases that one worker runs one after the other, and the file for their outcomes."""

    numbers: range
    outcomes: Path


def run_part(part: Part) -> None:
    """Run the cases in a folder of their own."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        seeds = make_seeds(folder)
        found = [(number, *run_case(number, seeds, folder)) for number in part.numbers]
    part.outcomes.write_text(json.dumps(found))


def fuzz(first: int, cases: int, jobs: int) -> int:
    """Run many cases; returns how many fail."""
    from unembed.runner.processes import run_in_processes

    started = time.perf_counter()
    codes: Counter[tuple[str, int]] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        starts = range(first, first + cases, AT_ONCE)
        parts = [Part(range(i, min(i + AT_ONCE, first + cases)), Path(name) / f"{i}.json") for i in starts]
        for part, lost in run_in_processes(run_part, parts, jobs, LONGEST_SECONDS):
            if lost is not None:
                failed += 1
                print(f"cases {part.numbers[0]} to {part.numbers[-1]}: {lost}")
                continue
            for number, read, code, problem in json.loads(part.outcomes.read_text()):
                codes[read, code] += 1
                if problem:
                    failed += 1
                    print(f"case {number} ({read}): {problem}")
    for read in sorted({read for read, _ in codes}):
        print(f"{read:18}", {code: n for (other, code), n in sorted(codes.items()) if other == read})
    print(f"{sum(codes.values())} cases, {failed} failed; {time.perf_counter() - started:.0f} s")
    return failed


def main() -> int:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    return 1 if fuzz(given.first, given.cases, given.jobs) else 0


if __name__ == "__main__":
    import fuzzer  # under its own name, so that workers can import what they run

    sys.exit(fuzzer.main())
