"""``unembed fingerprint``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unembed.attacks.fingerprint import Identification, SignatureBook
    from unembed.cli.output import Voice

EXAMPLE = "unembed fingerprint stored.npy"
_LEARN = "Learn a signature"


def fingerprint(
    vectors: Annotated[
        list[Path] | None,
        typer.Argument(help="File of vectors; with --learn one for each kind of text. None: list what is known."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column or array in the file of vectors.")] = None,
    signatures: Annotated[
        Path | None, typer.Option(help="Your file of signatures, used beside those that come with unembed.")
    ] = None,
    false_alarm: Annotated[
        float, typer.Option(help="How often vectors of an unknown encoder may be given a name by mistake.")
    ] = 0.01,
    learn: Annotated[
        str | None,
        typer.Option(help="Learn a signature under this name into --signatures.", rich_help_panel=_LEARN),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="Encoder to learn from, with made-up text; instead of vectors.", rich_help_panel=_LEARN),
    ] = None,
    encoder_option: Annotated[
        list[str] | None,
        typer.Option(help="Option of that encoder; repeat for several.", metavar="NAME=VALUE", rich_help_panel=_LEARN),
    ] = None,
    fit_on: Annotated[
        str | None,
        typer.Option(help="Text file that tf-idf, LSA or word vectors learn from.", rich_help_panel=_LEARN),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a signature of that name.", rich_help_panel=_LEARN)
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout, the rest on stderr.")] = False,
) -> int:
    """Tell which encoder made some vectors, or that it is none of those known.

    The dimension chooses the candidates; the vectors together choose among them. Nothing but vectors is needed.
    """
    from unembed.cli.output import Voice
    from unembed.errors import UsageError

    voice = Voice(as_json=as_json)
    files = vectors or []
    if learn is not None:
        return _learn(voice, learn, files, column, signatures, encoder, encoder_option or [], fit_on, replace)
    if encoder or encoder_option or fit_on or replace:
        raise UsageError("--encoder, --encoder-option, --fit-on and --replace go with --learn NAME")
    book = _book(signatures)
    if not files:
        return _known(voice, book)
    if len(files) > 1:
        raise UsageError("give one file of vectors at a time: all of its vectors are identified together")
    from unembed.attacks.fingerprint import identify

    _show(voice, identify(_rows(files[0], column), book, false_alarm=false_alarm))
    return 0


def _book(path: Path | None) -> SignatureBook:
    """What comes with the package and the user's own, which win where names are the same."""
    from unembed.attacks.fingerprint import SignatureBook

    shipped = SignatureBook.shipped()
    if path is None:
        return shipped
    own = SignatureBook.read(path)
    return SignatureBook((*shipped.without(own.names()).signatures, *own.signatures))


def _rows(path: Path, column: str | None) -> Any:
    """At most as many rows as are looked at, evenly from the whole file."""
    import numpy as np

    from unembed.attacks.fingerprint.identify import MOST_VECTORS
    from unembed.encoders.vector_files import open_vectors

    table = open_vectors(path, column=column)
    wanted = min(len(table), MOST_VECTORS)
    return table[np.unique(np.linspace(0, len(table) - 1, wanted).astype(np.int64))]


def _learn(
    voice: Voice,
    name: str,
    files: list[Path],
    column: str | None,
    path: Path | None,
    encoder: str | None,
    options: list[str],
    fit_on: str | None,
    replace: bool,
) -> int:
    from unembed.attacks.fingerprint import SignatureBook, learn_from_encoder, learn_from_vectors
    from unembed.cli.encoder_options import named_encoder
    from unembed.errors import UsageError
    from unembed.writing import write_atomically

    if path is None:
        raise UsageError("--learn writes into a file of yours: name it with --signatures FILE")
    if bool(files) == bool(encoder):
        raise UsageError("--learn takes either files of vectors or --encoder NAME")
    if not encoder and (options or fit_on):
        raise UsageError("--encoder-option and --fit-on go with --encoder NAME")
    book = SignatureBook.read(path) if path.exists() else SignatureBook()
    if name in book.names() and not replace:
        raise UsageError(f"{path} has a signature '{name}' already: choose another name, or add --replace")
    if encoder:
        learnt = learn_from_encoder(name, named_encoder(encoder, options, fit_on))
    else:
        learnt = learn_from_vectors(name, [_rows(file, column) for file in files])
    write_atomically(path, book.added(learnt, replace=replace).text(), shared=True)
    voice.line(f"Learnt '{learnt.name}', {learnt.dimension} dimensions, from {learnt.facts['vectors']} vectors.")
    if len(files) == 1:
        voice.line("One kind of text only: on other text its vectors may not be recognised. Give a file for each kind.")
    voice.line(f"Written: {path}")
    voice.data({"name": learnt.name, "dimension": learnt.dimension, "signatures": str(path), **learnt.facts})
    return 0


def _known(voice: Voice, book: SignatureBook) -> int:
    from unembed.cli.output import table

    ordered = sorted(book.signatures, key=lambda s: (s.dimension, s.name))
    voice.show(table(("Dimensions", "Encoder"), [(s.dimension, s.name) for s in ordered], right=(0,)))
    voice.data([{"name": s.name, "dimension": s.dimension, **s.facts} for s in ordered])
    return 0


def _show(voice: Voice, found: Identification) -> None:
    from dataclasses import asdict

    from unembed.attacks.fingerprint.identify import ENOUGH_VECTORS
    from unembed.cli.output import nan_to_none, table

    voice.line(f"{found.name or 'None of those known'}: {found.reason}.")
    facts = [f"{found.dimension} dimensions", "unit length" if found.unit_length else "not of unit length"]
    if found.zero_vectors:
        facts.append(f"{found.zero_vectors} zero vectors left out")
    voice.line(f"{found.vectors} vectors, {', '.join(facts)}; strangers are named at a rate of {found.false_alarm:g}.")
    if found.name and found.vectors < ENOUGH_VECTORS:
        voice.line("So few vectors may be those of an unknown encoder that resembles this one: ask with ten or more.")
    if found.candidates:
        rows = [
            (c.name, f"{c.score:.3f}", f"{c.needed:.3f}", "yes" if c.fits else "no", f"{c.behind:,.0f}")
            for c in found.candidates
        ]
        voice.show(table(("Encoder", "Score", "Needed", "Fits", "Nats behind"), rows, right=(1, 2, 4)))
    document = asdict(found)
    for shown, candidate in zip(document["candidates"], found.candidates, strict=True):
        shown["fits"] = candidate.fits
    voice.data(nan_to_none(document))
