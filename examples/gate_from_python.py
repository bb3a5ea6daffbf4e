"""The policy gate from Python: a run, rules, a baseline, an exit code.

Run: python examples/gate_from_python.py
"""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

import unembed
from unembed.gate import write_baseline

POLICY = unembed.Policy.model_validate(
    {
        "rules": [
            {"id": "topic-stays-private", "game": "attribute", "subject": "topic", "max": 0.05},
            {"id": "keywords", "game": "keyword", "max": 0.2, "severity": "warning"},
        ]
    }
)


def main() -> None:
    """Judge one run twice: without and with a baseline that accepts what was found."""
    with tempfile.TemporaryDirectory() as folder:
        messages = unembed.open_collection("generator:messages", rows=600)
        run = unembed.audit(
            messages,
            encoder={"name": "lsa", "components": 100},
            attributes="topic",
            groups="document",
            adversaries="insider",
            games=["keyword", "attribute"],
            threads=1,
        )
        answer = run.gate(POLICY)
        for outcome in answer.outcomes:
            print(f"{outcome.outcome:10} {outcome.rule}: {outcome.message}")
        print("exit code", answer.exit_code)

        today = datetime.date.today()
        accepted = Path(folder) / "accepted.toml"
        write_baseline(
            run.result,
            POLICY,
            accepted,
            reason="internal index; owners of the texts agreed",
            expires=today + datetime.timedelta(days=90),
        )
        print("exit code with the baseline", run.gate(POLICY, baseline=accepted).exit_code)


if __name__ == "__main__":
    main()
