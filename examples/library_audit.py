"""An audit as a library: say what to do, run it, look at the findings.

Run: python examples/library_audit.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from unembed.audit.execute import audit
from unembed.audit.spec import build_spec
from unembed.report import write_report


def main() -> None:
    """Audit invented messages as a small LSA index would store them."""
    with tempfile.TemporaryDirectory() as folder:
        spec = build_spec(
            {
                "title": "Library example",
                "data": {
                    "texts": "generator:messages",
                    "max_texts": 600,
                    "attributes": ["topic"],
                    "group": "document",
                },
                "encoder": {"name": "lsa", "components": 100},
                "adversaries": ["insider"],
                "curve": [],
                "threads": 1,
                "run": {"folder": folder, "no_cache": True},
            }
        )
        run, path = audit(spec)
        print(run.verdict.sentence)
        for finding in run.findings:
            value, floor = finding.estimate, finding.floor
            print(
                f"{finding.attack:20} {finding.metric:18} {value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"
                f"  guessing {floor.value:.2f}  {finding.status}"
            )
        write_report(run, Path(path) / "report.html")
        print("files:", ", ".join(sorted(p.name for p in Path(path).iterdir())))


if __name__ == "__main__":
    main()
