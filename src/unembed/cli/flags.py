"""The options of ``audit`` and ``attack``, as data: one field per option, grouped by the panels of the help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from unembed.cli.completion import of_kind

F = TypeVar("F")
Strings = list[str] | None


def _options_of(panel: str) -> Callable[..., Any]:
    """How an option of a panel of the help is declared: its help, then its names where they are not the field's."""

    def option(help: str, *names: str, metavar: str | None = None, completed_by: str | None = None) -> Any:
        completion = of_kind(completed_by) if completed_by else None
        return typer.Option(*names, help=help, metavar=metavar, autocompletion=completion, rich_help_panel=panel)

    return option


text_option, vector_option = _options_of("Texts"), _options_of("Vectors")
threat_option, run_option = _options_of("Who attacks, and how"), _options_of("Running")
output_option, policy_option = _options_of("Output"), _options_of("Policy")


def spread(flags: type[F]) -> Callable[[Callable[[F], int]], Callable[..., int]]:
    """A verb from a function of one dataclass: every field of it becomes an option."""
    hints = get_type_hints(flags, include_extras=True)

    def wrap(command: Callable[[F], int]) -> Callable[..., int]:
        def verb(**given: Any) -> int:
            return command(flags(**given))

        parameters = [
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if f.default is MISSING else f.default,
                annotation=hints[f.name],
            )
            for f in fields(flags)  # type: ignore[arg-type]
        ]
        verb.__name__, verb.__doc__ = command.__name__, command.__doc__
        verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        verb.__annotations__ = {p.name: p.annotation for p in parameters}
        return verb

    return wrap


@dataclass(frozen=True, kw_only=True)
class TextFlags:
    """The texts under audit and where their vectors come from."""

    texts: Annotated[
        str | None, text_option("File or folder of texts (csv, tsv, jsonl, parquet, arrow, txt), or generator:NAME.")
    ] = None
    column: Annotated[str | None, text_option("Column with the text.")] = None
    attribute: Annotated[Strings, text_option("Sensitive column to infer; repeat for several.")] = None
    group: Annotated[str | None, text_option("Split by this column: a document or author stays on one side.")] = None
    time: Annotated[str | None, text_option("Split by this column of dates: the adversary holds the earlier part.")] = (
        None
    )
    id: Annotated[str | None, text_option("Column with unique ids.")] = None
    split: Annotated[str | None, text_option("Split of a data set folder.")] = None
    format: Annotated[str | None, text_option("Format, if the file's name does not show it.")] = None
    encoding: Annotated[str | None, text_option("Text encoding, if it is not detected.")] = None
    delimiter: Annotated[str | None, text_option("Delimiter of a csv file; 'tab' for a tab.")] = None
    max_texts: Annotated[
        str | None, text_option("Largest number of texts, drawn at random (default 10000), or 'all'.")
    ] = None
    chunk: Annotated[
        int | None, text_option("Cut texts into chunks of at most this many words, as retrieval systems do.")
    ] = None
    chunk_overlap: Annotated[
        int | None, text_option("Words that neighbouring chunks share (default: a tenth of --chunk).")
    ] = None
    encoder: Annotated[
        str | None,
        vector_option(
            "Encoder: a name of 'unembed list encoders', NAME:VALUE or file.py:Class (default minilm).",
            completed_by="encoders",
        ),
    ] = None
    encoder_option: Annotated[
        Strings, vector_option("Option of the encoder as NAME=VALUE; repeat for several.", metavar="NAME=VALUE")
    ] = None
    fit_on: Annotated[str | None, vector_option("Text file that tf-idf or LSA learns from (default: the texts).")] = (
        None
    )
    vectors: Annotated[str | None, vector_option("File of vectors, one per row of the texts, in their order.")] = None
    vectors_column: Annotated[str | None, vector_option("Column or array in the file of vectors.")] = None
    store: Annotated[
        str | None,
        vector_option(
            "Vector store that holds vectors, and texts unless --texts gives them by id: KIND:PLACE/NAME; "
            "'unembed stores' lists the kinds.",
            metavar="URL",
        ),
    ] = None
    allow_remote: Annotated[
        bool | None,
        vector_option(
            "Let texts leave this machine (endpoint encoders), or ask a store on another one.", "--allow-remote"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CommonFlags(TextFlags):
    """Everything ``audit`` and ``attack`` share."""

    trained_on: Annotated[
        str | None,
        threat_option(
            "Texts that the encoder itself was trained on: asks whether it can be told; the texts under audit are then "
            "those that were held out."
        ),
    ] = None
    trained_column: Annotated[str | None, threat_option("Column with the text that was trained on.")] = None
    external: Annotated[
        str | None, threat_option("Public text of another kind, for the outsider (default generator:public-text).")
    ] = None
    external_column: Annotated[str | None, threat_option("Column with the public text.")] = None
    adversary: Annotated[
        Strings, threat_option("Adversary: outsider, insider, weights; repeat.", completed_by="adversaries")
    ] = None
    keyword: Annotated[Strings, threat_option("Word the keyword game asks for; repeat (default: proposed).")] = None
    pattern: Annotated[
        Strings,
        threat_option(
            "Secret of known form to read back: citizen-id, iban, phone … or a format such as "
            "'{birth:date}-{seq:digits3}'; repeat.",
            metavar="NAME|FORMAT",
        ),
    ] = None
    names: Annotated[
        str | None,
        threat_option("File of people's names, one per line: can they be read back, also where they do not belong?"),
    ] = None
    names_column: Annotated[str | None, threat_option("Column with the names, where the file is a table.")] = None
    find_names: Annotated[
        bool | None,
        threat_option("The file holds first names: look for names in the texts with its help.", "--find-names"),
    ] = None
    set_: Annotated[
        Strings,
        threat_option(
            "Parameter of an attack or a game, e.g. inversion/mlc.epochs=5; repeat.",
            "--set",
            metavar="NAME.PARAM=VALUE",
        ),
    ] = None
    defense: Annotated[
        Strings,
        threat_option(
            "Defense to attack as well, with parameters after commas; repeat. "
            "'A then B' is one variant with B behind A.",
            metavar="NAME[,PARAM=VALUE…]",
            completed_by="defenses",
        ),
    ] = None
    utility: Annotated[
        Strings,
        threat_option(
            "What the vectors are good for, scored with and without each defense: retrieval, column,column=NAME "
            "or file.py:Class; repeat.",
            metavar="NAME[,PARAM=VALUE…]",
            completed_by="utility",
        ),
    ] = None
    share: Annotated[float | None, threat_option("Share of the texts the insider holds (default 0.5).")] = None
    curve: Annotated[
        str | None,
        threat_option("Fewer of the insider's pairs: shares or numbers, e.g. 0.1,0.3 (default), 'log' or 'none'."),
    ] = None
    max_targets: Annotated[int | None, threat_option("Attack at most this many vectors (default 2000).")] = None
    quick: Annotated[
        bool | None, run_option("Fewer texts and targets, wider intervals, the same questions.", "--quick")
    ] = None
    repeats: Annotated[
        int | None,
        run_option(
            "Repeat the learning this often on part of the pairs, so that intervals include the luck of the draw "
            "(default 5 where it takes seconds)."
        ),
    ] = None
    no_calibration: Annotated[
        bool,
        run_option(
            "Plant no leaks to learn how small a leak would have been found; then 'no leak found' is never said.",
            "--no-calibration",
        ),
    ] = False
    references: Annotated[
        Strings,
        run_option(
            "Encoder to compare the findings with: bag-of-words, lsa, random (these by default), or a name as for "
            "--encoder; repeat; 'none' for none.",
            metavar="NAME",
            completed_by="encoders",
        ),
    ] = None
    seed: Annotated[int | None, run_option("Seed of every random choice (default 0).")] = None
    threads: Annotated[int | None, run_option("Threads of one attack (default 2).")] = None
    device: Annotated[str | None, run_option("auto, cpu, cuda or cuda:N (default auto).")] = None
    jobs: Annotated[int | None, run_option("Attacks at a time; -1: one per core (default 1).")] = None
    backend: Annotated[str | None, run_option("loky, threading, ray or dask (default loky).")] = None
    cell_timeout: Annotated[
        str | None,
        run_option(
            "Give up a measurement after this time (90, 90s, 10m, 1h); it counts as failed (default: no limit).",
            metavar="TIME",
        ),
    ] = None
    budget: Annotated[
        str | None,
        run_option(
            "Time for the whole audit (10m, 1h): uses fewer texts if it would take longer, and ends it; the same "
            "command again goes on (default: 30m with --max-texts all, else 'none').",
            metavar="TIME",
        ),
    ] = None
    memory: Annotated[
        str | None,
        run_option(
            "Memory for the whole audit (4g): uses fewer texts if it would take more (default: no limit).",
            metavar="SIZE",
        ),
    ] = None
    cache: Annotated[Path | None, run_option("Folder of the vector cache.")] = None
    no_cache: Annotated[bool | None, run_option("Neither read nor keep vectors.", "--no-cache")] = None
    dry_run: Annotated[
        bool,
        run_option(
            "Show what would run, the minutes it takes, and what an endpoint would cost, then stop.", "--dry-run"
        ),
    ] = False
    out: Annotated[Path | None, output_option("Run folder (default: one under unembed-runs/).", "--out", "-d")] = None
    output: Annotated[
        list[Path] | None,
        output_option("Report by its ending: .html .md .json .csv .junit.xml .sarif; repeat.", "--output", "-o"),
    ] = None
    title: Annotated[str | None, output_option("Title of the report.")] = None
    samples: Annotated[
        bool | None, output_option("Show recovered text in the report instead of masking it.", "--samples")
    ] = None
    as_json: Annotated[bool, output_option("Summary as JSON on stdout, the rest on stderr.", "--json")] = False
    quiet: Annotated[bool, output_option("No progress and no summary.", "--quiet", "-q")] = False
    max_excess: Annotated[
        float | None, policy_option("Policy in one number: no finding may exceed guessing by more (0 to 1).")
    ] = None
    detects: Annotated[
        float | None,
        policy_option("With --max-excess: a leak of this size above guessing must not be missed (0 to 1)."),
    ] = None
    policy: Annotated[Path | None, policy_option("Policy file (TOML).")] = None
    baseline: Annotated[Path | None, policy_option("File of accepted findings (TOML).")] = None
    allow_unmeasured: Annotated[
        bool | None,
        policy_option(
            "Don't fail because of what could not be measured, as long as something was.", "--allow-unmeasured"
        ),
    ] = None
    exit_zero: Annotated[bool, policy_option("Exit with 0 whatever a finished audit found.", "--exit-zero")] = False


@dataclass(frozen=True, kw_only=True)
class AuditFlags(CommonFlags):
    """``audit``: everything, and a file of it."""

    audit_file: Annotated[
        Path | None, typer.Argument(help="Audit file (TOML); options win over it.", show_default=False)
    ] = None
    game: Annotated[
        Strings,
        threat_option(
            "Question: inversion, keyword, reassembly, attribute, number, names, pattern; repeat.", completed_by="games"
        ),
    ] = None
    attack: Annotated[
        Strings, threat_option("Attack of 'unembed list attacks', or file.py:Class; repeat.", completed_by="attacks")
    ] = None


@dataclass(frozen=True, kw_only=True)
class AttackFlags(CommonFlags):
    """``attack``: one attack alone."""

    name: Annotated[
        str,
        typer.Argument(help="Attack of 'unembed list attacks', or file.py:Class.", autocompletion=of_kind("attacks")),
    ]
