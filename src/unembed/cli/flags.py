"""The options of ``audit`` and ``attack``, as data: one field an option, in the panels of the help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from unembed.cli.completion import of_kind

TEXTS, VECTORS, THREAT = "Texts", "Vectors", "Who attacks, and how"
RUN, OUTPUT, POLICY = "Running", "Output", "Policy"

F = TypeVar("F")
Strings = list[str] | None


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
        str | None,
        typer.Option(
            help="File or folder of texts (csv, tsv, jsonl, parquet, arrow, txt), or generator:NAME.",
            rich_help_panel=TEXTS,
        ),
    ] = None
    column: Annotated[str | None, typer.Option(help="Column with the text.", rich_help_panel=TEXTS)] = None
    attribute: Annotated[
        Strings, typer.Option(help="Sensitive column to infer; repeat for several.", rich_help_panel=TEXTS)
    ] = None
    group: Annotated[
        str | None,
        typer.Option(help="Split by this column: a document or author stays on one side.", rich_help_panel=TEXTS),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            help="Split by this column of dates: the adversary holds the earlier part.", rich_help_panel=TEXTS
        ),
    ] = None
    id: Annotated[str | None, typer.Option(help="Column with unique ids.", rich_help_panel=TEXTS)] = None
    split: Annotated[str | None, typer.Option(help="Split of a data set folder.", rich_help_panel=TEXTS)] = None
    format: Annotated[
        str | None, typer.Option(help="Format, if the file's name does not tell.", rich_help_panel=TEXTS)
    ] = None
    encoding: Annotated[str | None, typer.Option(help="Text encoding, if not found out.", rich_help_panel=TEXTS)] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Delimiter of a csv file; 'tab' for a tab.", rich_help_panel=TEXTS),
    ] = None
    max_texts: Annotated[
        str | None,
        typer.Option(help="Sample at most so many texts (default 10000), or 'all'.", rich_help_panel=TEXTS),
    ] = None
    chunk: Annotated[
        int | None,
        typer.Option(
            help="Cut texts into chunks of at most so many words, as retrieval systems do.", rich_help_panel=TEXTS
        ),
    ] = None
    chunk_overlap: Annotated[
        int | None,
        typer.Option(help="Words that neighbouring chunks share (default: a tenth of --chunk).", rich_help_panel=TEXTS),
    ] = None
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder: a name of 'unembed list encoders', NAME:VALUE or file.py:Class (default minilm).",
            autocompletion=of_kind("encoders"),
            rich_help_panel=VECTORS,
        ),
    ] = None
    encoder_option: Annotated[
        Strings,
        typer.Option(
            help="Option of the encoder as NAME=VALUE; repeat for several.",
            metavar="NAME=VALUE",
            rich_help_panel=VECTORS,
        ),
    ] = None
    fit_on: Annotated[
        str | None,
        typer.Option(help="Text file that tf-idf or LSA learns from (default: the texts).", rich_help_panel=VECTORS),
    ] = None
    vectors: Annotated[
        str | None,
        typer.Option(help="File of vectors, one per row of the texts, in their order.", rich_help_panel=VECTORS),
    ] = None
    vectors_column: Annotated[
        str | None, typer.Option(help="Column or array in the file of vectors.", rich_help_panel=VECTORS)
    ] = None
    allow_remote: Annotated[
        bool | None,
        typer.Option(
            "--allow-remote", help="Let texts leave this machine (endpoint encoders).", rich_help_panel=VECTORS
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CommonFlags(TextFlags):
    """Everything ``audit`` and ``attack`` share."""

    external: Annotated[
        str | None,
        typer.Option(
            help="Public text of another kind, for the outsider (default generator:public-text).",
            rich_help_panel=THREAT,
        ),
    ] = None
    external_column: Annotated[
        str | None, typer.Option(help="Column with the public text.", rich_help_panel=THREAT)
    ] = None
    adversary: Annotated[
        Strings,
        typer.Option(
            help="Adversary: outsider, insider, weights; repeat.",
            autocompletion=of_kind("adversaries"),
            rich_help_panel=THREAT,
        ),
    ] = None
    keyword: Annotated[
        Strings,
        typer.Option(help="Word the keyword game asks for; repeat (default: proposed).", rich_help_panel=THREAT),
    ] = None
    pattern: Annotated[
        Strings,
        typer.Option(
            help="Secret of known form to read back: citizen-id, iban, phone … or a format such as "
            "'{birth:date}-{seq:digits3}'; repeat.",
            metavar="NAME|FORMAT",
            rich_help_panel=THREAT,
        ),
    ] = None
    names: Annotated[
        str | None,
        typer.Option(
            help="File of people's names, one per line: can they be read back, also where they do not belong?",
            rich_help_panel=THREAT,
        ),
    ] = None
    names_column: Annotated[
        str | None, typer.Option(help="Column with the names, where the file is a table.", rich_help_panel=THREAT)
    ] = None
    find_names: Annotated[
        bool | None,
        typer.Option(
            "--find-names",
            help="The file holds first names: look for names in the texts with its help.",
            rich_help_panel=THREAT,
        ),
    ] = None
    set_: Annotated[
        Strings,
        typer.Option(
            "--set",
            help="Parameter of an attack or a game, e.g. inversion/mlc.epochs=5; repeat.",
            metavar="NAME.PARAM=VALUE",
            rich_help_panel=THREAT,
        ),
    ] = None
    defense: Annotated[
        Strings,
        typer.Option(
            help="Defense to attack as well, with parameters after commas; repeat. "
            "'A then B' is one variant with B behind A.",
            metavar="NAME[,PARAM=VALUE…]",
            autocompletion=of_kind("defenses"),
            rich_help_panel=THREAT,
        ),
    ] = None
    utility: Annotated[
        Strings,
        typer.Option(
            help="What the vectors are good for, scored with and without each defense: retrieval, column,column=NAME "
            "or file.py:Class; repeat.",
            metavar="NAME[,PARAM=VALUE…]",
            autocompletion=of_kind("utility"),
            rich_help_panel=THREAT,
        ),
    ] = None
    share: Annotated[
        float | None,
        typer.Option(help="Share of the texts the insider holds (default 0.5).", rich_help_panel=THREAT),
    ] = None
    curve: Annotated[
        str | None,
        typer.Option(
            help="Fewer of the insider's pairs: shares or numbers, e.g. 0.1,0.3 (default), 'log' or 'none'.",
            rich_help_panel=THREAT,
        ),
    ] = None
    max_targets: Annotated[
        int | None,
        typer.Option(help="Attack at most so many vectors (default 2000).", rich_help_panel=THREAT),
    ] = None
    quick: Annotated[
        bool | None,
        typer.Option(
            "--quick", help="Fewer texts and targets, wider intervals, the same questions.", rich_help_panel=RUN
        ),
    ] = None
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Learn again so often from part of the pairs, and put their luck into the intervals "
            "(default 5 where it takes seconds).",
            rich_help_panel=RUN,
        ),
    ] = None
    no_calibration: Annotated[
        bool,
        typer.Option(
            "--no-calibration",
            help="Plant no leaks to learn how small a leak would have been found; then 'no leak found' is never said.",
            rich_help_panel=RUN,
        ),
    ] = False
    references: Annotated[
        Strings,
        typer.Option(
            help="Encoder to compare the findings with: bag-of-words, lsa, random (these by default), or a name as for "
            "--encoder; repeat; 'none' for none.",
            metavar="NAME",
            autocompletion=of_kind("encoders"),
            rich_help_panel=RUN,
        ),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice (default 0).", rich_help_panel=RUN)] = (
        None
    )
    threads: Annotated[int | None, typer.Option(help="Threads of one attack (default 2).", rich_help_panel=RUN)] = None
    device: Annotated[
        str | None, typer.Option(help="auto, cpu, cuda or cuda:N (default auto).", rich_help_panel=RUN)
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(help="Attacks at a time; -1: one per core (default 1).", rich_help_panel=RUN),
    ] = None
    backend: Annotated[
        str | None, typer.Option(help="loky, threading, ray or dask (default loky).", rich_help_panel=RUN)
    ] = None
    cell_timeout: Annotated[
        str | None,
        typer.Option(
            help="Give up a measurement after this time (90, 90s, 10m, 1h); it counts as failed (default: no limit).",
            metavar="TIME",
            rich_help_panel=RUN,
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            help="End the audit after this time (10m, 1h); the same command again goes on (default: no limit).",
            metavar="TIME",
            rich_help_panel=RUN,
        ),
    ] = None
    cache: Annotated[Path | None, typer.Option(help="Folder of the vector cache.", rich_help_panel=RUN)] = None
    no_cache: Annotated[
        bool | None, typer.Option("--no-cache", help="Neither read nor keep vectors.", rich_help_panel=RUN)
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what would run and what an endpoint would cost, then stop.", rich_help_panel=RUN
        ),
    ] = False
    out: Annotated[
        Path | None,
        typer.Option("--out", "-d", help="Run folder (default: one under unembed-runs/).", rich_help_panel=OUTPUT),
    ] = None
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Report by its ending: .html .md .json .csv .junit.xml .sarif; repeat.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    title: Annotated[str | None, typer.Option(help="Title of the report.", rich_help_panel=OUTPUT)] = None
    samples: Annotated[
        bool | None,
        typer.Option(
            "--samples", help="Show recovered text in the report instead of masking it.", rich_help_panel=OUTPUT
        ),
    ] = None
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Summary as JSON on stdout, the rest on stderr.", rich_help_panel=OUTPUT),
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no summary.", rich_help_panel=OUTPUT)
    ] = False
    max_excess: Annotated[
        float | None,
        typer.Option(
            help="Policy in one number: no finding may exceed guessing by more (0 to 1).", rich_help_panel=POLICY
        ),
    ] = None
    detects: Annotated[
        float | None,
        typer.Option(
            help="With --max-excess: a leak of this size above guessing must not be missed (0 to 1).",
            rich_help_panel=POLICY,
        ),
    ] = None
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML).", rich_help_panel=POLICY)] = None
    baseline: Annotated[Path | None, typer.Option(help="File of accepted findings (TOML).", rich_help_panel=POLICY)] = (
        None
    )
    allow_unmeasured: Annotated[
        bool | None,
        typer.Option(
            "--allow-unmeasured",
            help="What could not be measured fails nothing, if anything else was.",
            rich_help_panel=POLICY,
        ),
    ] = None
    exit_zero: Annotated[
        bool,
        typer.Option("--exit-zero", help="End with 0 whatever a finished audit found.", rich_help_panel=POLICY),
    ] = False


@dataclass(frozen=True, kw_only=True)
class AuditFlags(CommonFlags):
    """``audit``: everything, and a file of it."""

    audit_file: Annotated[
        Path | None, typer.Argument(help="Audit file (TOML); options win over it.", show_default=False)
    ] = None
    game: Annotated[
        Strings,
        typer.Option(
            help="Question: inversion, keyword, reassembly, attribute, number, names, pattern; repeat.",
            autocompletion=of_kind("games"),
            rich_help_panel=THREAT,
        ),
    ] = None
    attack: Annotated[
        Strings,
        typer.Option(
            help="Attack of 'unembed list attacks', or file.py:Class; repeat.",
            autocompletion=of_kind("attacks"),
            rich_help_panel=THREAT,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AttackFlags(CommonFlags):
    """``attack``: one attack alone."""

    name: Annotated[
        str,
        typer.Argument(help="Attack of 'unembed list attacks', or file.py:Class.", autocompletion=of_kind("attacks")),
    ]
