"""``unembed gate``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed gate unembed-demo --policy policy.toml --baseline accepted.toml"


def gate(
    run: Annotated[Path, typer.Argument(help="Run folder, or its run.json.", show_default=False)],
    policy: Annotated[Path | None, typer.Option(help="Policy file, or an audit file with a policy.")] = None,
    max_excess: Annotated[
        float | None, typer.Option(help="Policy in one number: no finding may exceed guessing by more.")
    ] = None,
    detects: Annotated[
        float | None, typer.Option(help="With --max-excess: a leak of this size above guessing must not be missed.")
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="File of accepted findings.")] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(help="Accept what violates the policy now, at its present value, and write it here."),
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why it is accepted.")] = None,
    expires: Annotated[datetime | None, typer.Option(help="Last day of the acceptance.", formats=["%Y-%m-%d"])] = None,
    allow_unmeasured: Annotated[
        bool,
        typer.Option(
            "--allow-unmeasured", help="Don't fail because of what could not be measured, as long as something was."
        ),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Report with the policy's answer, by its ending; repeat."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer as JSON on stdout.")] = False,
) -> int:
    """Hold a finished run against a policy: 0 met, 1 violated, 3 inconclusive or not measured."""
    from unembed.cli.output import Voice
    from unembed.cli.policies import check_baseline, judged, limit_on_excess, read_policy
    from unembed.cli.preflight import check_folder, check_output
    from unembed.cli.summary import show_gate
    from unembed.errors import UsageError
    from unembed.gate import baseline as baselines
    from unembed.gate.judge import exit_code
    from unembed.gate.policy import Policy
    from unembed.report import write_report
    from unembed.results.io import read_run

    if (policy is None) == (max_excess is None):
        raise UsageError("name one policy: --policy FILE or --max-excess NUMBER")
    if detects is not None and max_excess is None:
        raise UsageError("--detects goes with --max-excess; in a policy file a rule has the key 'detects'")
    if write_baseline is not None and (reason is None or expires is None):
        raise UsageError("--write-baseline needs --reason TEXT and --expires YYYY-MM-DD")
    if write_baseline is None and (reason is not None or expires is not None):
        raise UsageError("--reason and --expires go with --write-baseline FILE")
    for path in output or []:
        check_output(path)
    rules = (
        read_policy(policy)
        if policy is not None
        else Policy.model_validate(limit_on_excess(max_excess if max_excess is not None else 0.0, detects))
    )
    accepted = check_baseline(baseline, rules) if baseline is not None else None
    result = read_run(run)
    voice = Voice(as_json=as_json)
    if write_baseline is not None and reason is not None and expires is not None:
        check_folder(write_baseline.parent, "folder of the baseline")
        accepted = baselines.write_baseline(result, rules, write_baseline, reason, expires.date(), keep=accepted)
        voice.line(f"Baseline: {write_baseline} ({len(accepted.accept)} accepted)")
    result = judged(result, rules, accepted, allow_unmeasured=allow_unmeasured)
    code = exit_code(result, allow_unmeasured=allow_unmeasured)
    for path in output or []:
        write_report(result, path)
        voice.line(f"Report: {path}")
    show_gate(voice, result)
    voice.data({**(result.gate.model_dump() if result.gate else {}), "exit_code": code})
    return code
