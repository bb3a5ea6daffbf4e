"""``unembed attack``."""

from __future__ import annotations

from unembed.cli.flags import AttackFlags, spread

EXAMPLE = "unembed attack inversion/mlc --texts notes.csv --column text"


@spread(AttackFlags)
def attack(flags: AttackFlags) -> int:
    """Run one attack alone: an audit of a single question by a single attack.

    The adversary is the insider unless --adversary says otherwise.
    """
    from unembed.cli.auditing import run_as_flagged
    from unembed.cli.request import attack_request

    return run_as_flagged(flags, *attack_request(flags))
