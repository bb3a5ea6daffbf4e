"""What all auditing verbs do: check, run or only plan, write the reports, say what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unembed.cli.dry_run import plan_only
from unembed.cli.entry import command_line
from unembed.cli.flags import CommonFlags
from unembed.cli.lone_vectors import tell_alone
from unembed.cli.output import Voice, complain
from unembed.cli.preflight import check_request
from unembed.cli.progress import Bar
from unembed.cli.summary import run_summary, show_files, show_run
from unembed.errors import NoTextsError
from unembed.gate.exit_codes import COULD_NOT_MEASURE
from unembed.gate.judge import exit_code, unmeasured
from unembed.report import write_report
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec


def run_as_flagged(flags: CommonFlags, spec: AuditSpec, given: dict[str, Any]) -> int:
    """Run or only plan the audit that these options ask for."""
    voice = Voice(as_json=flags.as_json, quiet=flags.quiet)
    outputs = flags.output or ()
    check_request(spec, outputs)
    try:
        if flags.dry_run:
            return plan_only(spec, voice)
        return run_and_report(spec, given, outputs=outputs, voice=voice, exit_zero=flags.exit_zero)
    except NoTextsError as error:
        complain(str(error))
        tell_alone(voice, spec.data, str(error))
        return error.exit_code


def run_and_report(
    spec: AuditSpec,
    given: dict[str, Any],
    *,
    outputs: Sequence[Path] = (),
    voice: Voice,
    exit_zero: bool = False,
) -> int:
    """Run an audit, write its reports and tell; returns the exit code."""
    with Bar(quiet=voice.quiet) as bar:
        run, folder = audit(spec, spec_given=given, command=command_line(), progress=bar)
        written = [folder / "report.html", *outputs]
        bar("writing reports", 0, len(written))
        for done, path in enumerate(written, start=1):
            write_report(run, path)
            bar("writing reports", done, len(written))
    code = 0 if exit_zero else exit_code(run, allow_unmeasured=spec.allow_unmeasured)
    show_run(voice, run)
    show_files(voice, folder, written)
    voice.data(run_summary(run, folder, written, code))
    if run.status == "nothing-ran":
        causes = dict.fromkeys(c.error for c in run.cells if c.error)
        complain(f"nothing could be measured: {next(iter(causes), 'every attack failed its own check')}")
    elif code == COULD_NOT_MEASURE and run.gate is None:
        count = len(unmeasured(run))
        complain(
            f"{count} of {len(run.cells)} measurements failed or can't be trusted: nothing is known of what they ask; "
            "--allow-unmeasured accepts that"
        )
    return code
