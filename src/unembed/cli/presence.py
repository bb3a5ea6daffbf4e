"""``unembed presence``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unembed.cli.output import Voice
    from unembed.collections.looking import Looked

EXAMPLE = "unembed presence --texts letters.csv --vectors stored.npy --encoder minilm"
#: So many texts are listed in the terminal; the JSON document has all.
_SHOWN = 30


def presence(
    vectors: Annotated[
        Path | None, typer.Option(help="File of the stored vectors (.npy is read without loading it).")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Vector store to look in, KIND:PLACE/NAME; 'unembed stores' lists the kinds.", metavar="URL"),
    ] = None,
    text: Annotated[list[str] | None, typer.Option(help="A text to look for; repeat for several.")] = None,
    texts: Annotated[str | None, typer.Option(help="File of texts to look for.")] = None,
    column: Annotated[str | None, typer.Option(help="Column of that file.")] = None,
    vectors_column: Annotated[str | None, typer.Option(help="Column or array in the file of vectors.")] = None,
    encoder: Annotated[str, typer.Option(help="Encoder that made the vectors.")] = "minilm",
    encoder_option: Annotated[
        list[str] | None, typer.Option(help="Option of that encoder; repeat for several.", metavar="NAME=VALUE")
    ] = None,
    fit_on: Annotated[str | None, typer.Option(help="Text file that tf-idf, LSA or word vectors learn from.")] = None,
    outsiders: Annotated[
        str | None,
        typer.Option(help="File of texts of the same kind that are surely not stored; made-up text if not said."),
    ] = None,
    false_alarm: Annotated[
        float, typer.Option(help="How often a text that is not stored may be taken for a stored one.")
    ] = 0.01,
    allow_remote: Annotated[bool, typer.Option("--allow-remote", help="Ask a store on another machine.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout, the rest on stderr.")] = False,
) -> int:
    """Tell whether some texts are among stored vectors, exactly or nearly, at a stated false-alarm rate.

    The texts are encoded and compared with every stored vector, in one pass that holds a small part of the file in
    memory. What counts as near follows from texts that are not stored.
    """
    from unembed.cli.encoder_options import named_encoder
    from unembed.cli.lone_vectors import open_vectors_of
    from unembed.cli.output import Voice
    from unembed.collections.looking import look_for
    from unembed.collections.stores.collecting import every_vector
    from unembed.corpora.readers import read_corpus
    from unembed.errors import UsageError

    if bool(text) == bool(texts):
        raise UsageError("name what to look for: either --texts FILE or --text TEXT")
    if (vectors is None) == (store is None):
        raise UsageError("name where to look: either --vectors FILE or --store URL")
    if vectors_column is not None and vectors is None:
        raise UsageError("--vectors-column goes with --vectors; of a store, name the column with ?vectors=COLUMN")
    if column is not None and texts is None:
        raise UsageError("--column goes with --texts FILE")
    voice = Voice(as_json=as_json)
    wanted = list(text or ()) if texts is None else list(read_corpus(texts, column=column).texts)
    others = None if outsiders is None else read_corpus(outsiders).texts
    model = named_encoder(encoder, encoder_option or [], fit_on)
    with open_vectors_of(store, vectors, vectors_column, allow_remote=allow_remote) as place:
        found = look_for(wanted, every_vector(place), model, outsiders=others, false_alarm=false_alarm)
    _show(voice, found)
    return 0


def _show(voice: Voice, found: Looked) -> None:
    from unembed.cli.output import table

    rows = [
        (i + 1, f"{found.similarity[i]:.4f}", found.nearest[i], found.answers[i]) for i in range(len(found.answers))
    ]
    voice.show(table(("Text", "Similarity", "Nearest row", "Answer"), rows[:_SHOWN], right=(0, 1, 2)))
    if len(rows) > _SHOWN:
        voice.line(f"{len(rows) - _SHOWN:,} more; --json lists all.")
    voice.line(
        f"{found.count('stored'):,} stored, {found.count('nearly'):,} nearly, {found.count('not found'):,} not found "
        f"among {found.vectors:,} vectors."
    )
    voice.line(
        f"Nearly: similarity of {found.threshold:.4f} or more, which {100 * found.false_alarm:g} % of texts like the "
        f"{found.outsiders:,} outsiders reach."
    )
    if found.made_up:
        voice.line(
            "The outsiders are made-up text: for a true rate give --outsiders FILE of the same kind as your texts."
        )
    voice.data(
        {
            "vectors": found.vectors,
            "threshold": found.threshold,
            "false_alarm": found.false_alarm,
            "outsiders": found.outsiders,
            "made_up_outsiders": found.made_up,
            "texts": [
                {"text": number, "similarity": float(value), "nearest": str(name), "answer": answer}
                for number, value, name, answer in zip(
                    range(1, len(rows) + 1), found.similarity, found.nearest, found.answers, strict=True
                )
            ],
        }
    )
