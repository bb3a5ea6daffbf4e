"""``unembed demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unembed.cli.output import Voice

EXAMPLE = "unembed demo --out demo"
TEXTS = 2000


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run and its reports.")] = Path("unembed-demo"),
    open_report: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the report in a browser when done.")
    ] = False,
    encoder: Annotated[str, typer.Option(help="Encoder to audit.")] = "minilm",
    texts: Annotated[int, typer.Option(help="How many messages to invent.", min=100)] = TEXTS,
    seed: Annotated[int, typer.Option(help="Seed of the messages and of the audit.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Summary as JSON on stdout, the rest on stderr.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
    write_data: Annotated[
        Path | None,
        typer.Option(help="Only write the invented messages to this csv file, to follow the tutorial with."),
    ] = None,
) -> int:
    """Audit the vectors of invented customer messages: a whole audit in minutes, without data of your own.

    Nobody in the messages exists, and nothing is sent anywhere.
    """
    from unembed.cli.auditing import run_and_report
    from unembed.cli.output import Voice
    from unembed.cli.preflight import check_request
    from unembed.runner.spec import build_spec

    voice = Voice(as_json=as_json, quiet=quiet)
    if write_data is not None:
        return _write_data(voice, write_data, texts, seed)
    given = {
        "title": "Demo: messages of invented customers",
        "quick": True,
        "samples": True,  # nobody in these texts exists, so there is nobody to protect
        "seed": seed,
        "data": {
            "texts": "generator:messages",
            "max_texts": texts,
            "attributes": ["topic", "author"],
            "group": "document",
        },
        "encoder": {"name": encoder},
        "run": {"folder": str(out)},
    }
    spec, outputs = build_spec(given), [out / "report.md"]
    check_request(spec, outputs)
    code = run_and_report(spec, given, outputs=outputs, voice=voice)
    voice.line()
    voice.line("Next, with texts of your own: unembed audit --texts FILE --column NAME --quick")
    if open_report:
        typer.launch((out / "report.html").resolve().as_uri())
    return code


def _write_data(voice: Voice, path: Path, texts: int, seed: int) -> int:
    """The messages that the demo audits, as a file of one's own would look."""
    import csv
    import io

    from unembed.collections import Wanted, open_collection
    from unembed.errors import UsageError
    from unembed.writing import write_atomically

    if path.suffix != ".csv":
        raise UsageError(f"{path}: the messages are written as csv, so the file's name must end in .csv")
    if path.exists():
        raise UsageError(f"{path} is there already: name another file")
    corpus = open_collection(Wanted("generator:messages", max_rows=texts, seed=seed)).corpus
    columns = [name for name in corpus.columns if name != "secrets"]
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow(["text", *columns])
    rows.writerows(zip(corpus.texts, *(corpus.columns[name] for name in columns), strict=True))
    write_atomically(path, out.getvalue())
    voice.line(f"{len(corpus):,} invented messages with {', '.join(columns)}: {path}")
    voice.line(f"Next: unembed audit --texts {path} --column text --attribute topic --group document --quick")
    voice.data({"path": str(path), "rows": len(corpus), "columns": ["text", *columns]})
    return 0
