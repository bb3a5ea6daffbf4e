"""``unembed defend``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from unembed.cli.flags import AuditFlags, Strings, policy_option, run_option, spread

EXAMPLE = 'unembed defend --texts notes.csv --column text --quick --target "leak <= 0.2"'


@dataclass(frozen=True, kw_only=True)
class DefendFlags(AuditFlags):
    """``defend``: an audit of many defenses, and what is asked of them."""

    target: Annotated[
        Strings,
        policy_option(
            "What may still leak: 'inversion.content_f1 <= 0.2', 'attribute(author) <= 0.3', or 'leak <= 0.2' for all "
            "questions, as a share of what is possible above guessing; repeat: all must hold.",
            metavar="GAME.METRIC <= LIMIT",
        ),
    ] = None
    max_utility_loss: Annotated[
        float | None,
        policy_option("What may be lost of any use of the vectors, as a share of what plain ones score (0 to 1)."),
    ] = None
    full_grid: Annotated[
        bool, run_option("Measure every setting on all texts instead of dropping the weak ones early.", "--full-grid")
    ] = False


@spread(DefendFlags)
def defend(flags: DefendFlags) -> int:
    """Find the defense that brings a leak under a limit at the least loss of usefulness.

    Tries many settings of many defenses (or those of --defense) against attackers who know the defense, from few
    texts to all, and shows what leaks beside what is lost. With a limit, the fitted defense that meets it at the
    least price is written to a folder; unembed.load_defense gives it back. Without --utility, neighbours kept in a
    search count. Exit code 1: no defense meets the limits.
    """
    from pathlib import Path

    from unembed.cli.entry import command_line
    from unembed.cli.output import Voice, complain
    from unembed.cli.preflight import check_request
    from unembed.cli.progress import Bar
    from unembed.cli.request import audit_request
    from unembed.cli.summary import run_summary, show_files
    from unembed.errors import UsageError
    from unembed.frontier.defend import Wish
    from unembed.frontier.defend import defend as search
    from unembed.frontier.target import read_target
    from unembed.gate.exit_codes import COULD_NOT_MEASURE, VIOLATED
    from unembed.report import write_report
    from unembed.report.frontier import sentence
    from unembed.runner.execute import DEFAULT_FOLDER

    if flags.max_utility_loss is not None and not 0 <= flags.max_utility_loss <= 1:
        raise UsageError(f"--max-utility-loss is a share from 0 to 1, not {flags.max_utility_loss}")
    if flags.dry_run:
        raise UsageError("--dry-run plans one audit: use it with unembed audit")
    wish = Wish(tuple(map(read_target, flags.target or ())), flags.max_utility_loss, flags.full_grid)
    spec, given = audit_request(flags)
    folder = Path(spec.run.folder) if spec.run.folder else DEFAULT_FOLDER / "defend"
    spec = spec.model_copy(update={"run": spec.run.model_copy(update={"folder": str(folder)})})
    outputs: Sequence[Path] = flags.output or ()
    check_request(spec, outputs)
    voice = Voice(as_json=flags.as_json, quiet=flags.quiet)
    with Bar(quiet=voice.quiet) as bar:
        found = search(spec, wish, spec_given=given, command=command_line(), progress=bar)
        written = [folder / "report.html", *outputs]
        for done, path in enumerate(written, start=1):
            write_report(found.run, path)
            bar("writing reports", done, len(written))
    _show(voice, found)
    show_files(voice, None, written)
    choice = found.choice
    code = 0 if choice is None or choice.met else VIOLATED
    if choice is not None:
        voice.line(sentence(choice, wish.targets, wish.max_loss))
    if found.defense is not None:
        voice.line(f"Defense: {found.defense}")
    if not any(p.known for p in found.points if p.variant is not None):
        complain("no defense could be measured: nothing is known of any of them")
        code = COULD_NOT_MEASURE
    voice.data(_summary(found, run_summary(found.run, found.folder, written, code)))
    return 0 if flags.exit_zero else code


def _show(voice: Any, found: Any) -> None:
    from unembed.cli.output import table
    from unembed.report.frontier import HEAD, rows

    for number, done in enumerate(found.rounds, start=1):
        left = sum(one.kept for one in done.tried)
        voice.line(f"Round {number}: {len(done.tried)} settings on {done.texts:,} texts; {left} go on.")
    voice.line()
    voice.show(table(HEAD, rows(found.run), right=(5, 6)))


def _summary(found: Any, told: dict[str, Any]) -> dict[str, Any]:
    from unembed.cli.output import nan_to_none
    from unembed.report.frontier import flat_rows

    choice = found.choice
    return {
        **told,
        "frontier": nan_to_none(flat_rows(found.run)),
        "rounds": [one.model_dump() for one in found.rounds],
        "defense": str(found.defense) if found.defense else None,
        "chosen": choice.point.variant if choice is not None and choice.met else None,
        "missed_by": None if choice is None or choice.missed_by == float("inf") else choice.missed_by,
    }
