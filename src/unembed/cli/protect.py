"""``unembed protect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed protect --defense kept-defense --vectors vectors.npy --ids notes.csv --id id -o protected.npy"


def protect(
    defense: Annotated[Path, typer.Option(help="Folder of a saved defense, its key among the files.")],
    vectors: Annotated[Path, typer.Option(help="File of the vectors (.npy is read without loading it).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, .npy; it must not be there yet.")],
    ids: Annotated[
        Path | None,
        typer.Option(help="File with one record per vector, in the same order; row numbers are the ids if not said."),
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column of that file with the records' ids.")] = None,
    vectors_column: Annotated[str | None, typer.Option(help="Column or array in the file of vectors.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout, the rest on stderr.")] = False,
) -> int:
    """Put stored vectors behind a saved defense, block by block: a file of any size needs little memory.

    Noise follows from the key and a record's id: the same record gets the same noise today and tomorrow.
    """
    from unembed.cli.output import Voice
    from unembed.cli.preflight import check_folder
    from unembed.cli.progress import Bar
    from unembed.corpora.readers import read_ids
    from unembed.defenses.saving import load_chain
    from unembed.defenses.streaming import defend_file
    from unembed.encoders.vector_files import open_vectors
    from unembed.errors import UsageError

    if (ids is None) != (id_column is None):
        raise UsageError("--ids FILE and --id COLUMN go together")
    if output.suffix.lower() != ".npy":
        raise UsageError(f"{output}: protected vectors are written as .npy, so the file's name must end in .npy")
    if output.exists():
        raise UsageError(f"{output} is there already: name another file")
    check_folder(output.parent, "folder of the protected vectors")
    chain = load_chain(defense)
    table = open_vectors(vectors, column=vectors_column)
    names = None if ids is None or id_column is None else read_ids(ids, id_column)
    voice = Voice(as_json=as_json)
    with Bar() as bar:
        rows, dimension = defend_file(
            chain, table, output, ids=names, progress=lambda done, total: bar("protecting vectors", done, total)
        )
    size = chain.stored_bytes(table.shape[1])
    voice.line(f"{rows:,} vectors of {dimension:,} numbers behind {' + '.join(chain.names)}: {output}")
    voice.line(f"A store that keeps this format takes {size:,.0f} bytes per vector, of {4 * table.shape[1]:,} before.")
    if chain.draws_noise and names is None:
        voice.line(
            "The noise follows from row numbers: where rows may change places, give ids with --ids FILE --id COLUMN."
        )
    voice.data(
        {
            "path": str(output),
            "rows": rows,
            "dimension": dimension,
            "defense": chain.names,
            "ids": "row numbers" if names is None else id_column,
            "stored_bytes": size,
        }
    )
    return 0
