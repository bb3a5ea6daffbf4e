"""An audit as a library: give texts, look at the findings.

Run: python examples/library_audit.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import unembed


def main() -> None:
    """Audit invented messages as a small LSA index would store them."""
    messages = unembed.open_collection("generator:messages", rows=600)
    run = unembed.audit(
        messages,
        encoder={"name": "lsa", "components": 100},
        attributes="topic",
        groups="document",
        adversaries="insider",
        curve=[],
        threads=1,
    )
    print(run.verdict.sentence)
    for finding in run.findings:
        value, floor = finding.estimate, finding.floor
        print(
            f"{finding.attack:20} {finding.metric:18} {value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"
            f"  guessing {floor.value:.2f}  {finding.status}"
        )
    with tempfile.TemporaryDirectory() as folder:
        written = [run.report(Path(folder) / "report.html"), run.save(folder)]
        print("files:", ", ".join(path.name for path in written))


if __name__ == "__main__":
    main()
