"""The policy gate from Python: a run, rules, a baseline, an exit code.

Run: python examples/gate_from_python.py
"""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

from unembed.audit.execute import audit
from unembed.audit.spec import build_spec
from unembed.gate import Policy, judge, write_baseline

POLICY = Policy.model_validate(
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
        spec = build_spec(
            {
                "data": {
                    "texts": "generator:messages",
                    "max_texts": 600,
                    "attributes": ["topic"],
                    "group": "document",
                },
                "encoder": {"name": "lsa", "components": 100},
                "adversaries": ["insider"],
                "games": ["keyword", "attribute"],
                "threads": 1,
                "run": {"folder": folder, "no_cache": True},
            }
        )
        run, path = audit(spec)
        answer = judge(run, POLICY)
        for outcome in answer.outcomes:
            print(f"{outcome.outcome:10} {outcome.rule}: {outcome.message}")
        print("exit code", answer.exit_code)

        today = datetime.date.today()
        accepted = write_baseline(
            run,
            POLICY,
            Path(path) / "accepted.toml",
            reason="internal index; owners of the texts agreed",
            expires=today + datetime.timedelta(days=90),
        )
        print("exit code with the baseline", judge(run, POLICY, accepted).exit_code)


if __name__ == "__main__":
    main()
