"""``unembed attack``."""

from __future__ import annotations

from unembed.cli.flags import AttackFlags, spread

EXAMPLE = "unembed attack inversion/mlc --texts notes.csv --column text"


@spread(AttackFlags)
def attack(flags: AttackFlags) -> int:
    """Run one attack alone: an audit of a single question by a single attack.

    The adversary is the insider unless --adversary says otherwise.
    """
    from unembed.cli.carry_out import carry_out
    from unembed.cli.output import Voice
    from unembed.cli.request import attack_request

    spec, given = attack_request(flags)
    return carry_out(
        spec,
        given,
        outputs=flags.output or (),
        voice=Voice(as_json=flags.as_json, quiet=flags.quiet),
        dry_run=flags.dry_run,
        exit_zero=flags.exit_zero,
    )
