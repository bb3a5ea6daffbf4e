"""``unembed audit``."""

from __future__ import annotations

from unembed.cli.flags import AuditFlags, spread

EXAMPLE = "unembed audit --texts notes.csv --column text --attribute author --group document --quick"


@spread(AuditFlags)
def audit(flags: AuditFlags) -> int:
    """Measure what the vectors of your texts give away, to whom, at what price.

    Plays every question against every adversary, writes a run folder with the result and a report, and goes
    on where it stopped when the same command is run again. Settings come from options, from an audit file
    (TOML), or from both.
    """
    from unembed.cli.auditing import run_as_flagged
    from unembed.cli.request import audit_request

    return run_as_flagged(flags, *audit_request(flags))
