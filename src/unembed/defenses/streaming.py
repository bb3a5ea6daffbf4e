"""A fitted chain over vectors of any size, in bounded memory: from a store's pages, or from a file into a file.

Pages are put together and cut again at multiples of what a matrix product takes, so a record gets the same bits however
a store cuts its pages, and the same as in one call over everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from unembed.collections.nearest import Batches, in_batches
from unembed.defenses.base import dense
from unembed.defenses.chain import Chain
from unembed.defenses.tiles import ROWS
from unembed.encoders.base import DenseVectors, first_unusable
from unembed.encoders.vector_files import VectorTable
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.writing import written_aside

#: Bytes of the vectors in one block.
_BLOCK_BYTES = 8 << 20


def block_rows(dimension: int) -> int:
    """Rows of one block of vectors of this dimension."""
    return max(1, _BLOCK_BYTES // (4 * dimension * ROWS)) * ROWS


def defended(chain: Chain, pages: Batches) -> Iterator[tuple[list[str], DenseVectors]]:
    """Ids and defended vectors, block by block, of pages of any size such as ``every_vector`` gives of a store."""
    for ids, vectors in _blocks(pages):
        made = chain.transform(vectors, ids)
        yield ids, np.ascontiguousarray(dense(made, "a pass over blocks"), dtype=np.float32)


def defend_file(
    chain: Chain,
    vectors: VectorTable,
    out: Path,
    *,
    ids: Sequence[object] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int]:
    """Put a file of vectors behind a defense, into a ``.npy`` file that appears whole or not at all.

    Args:
        chain: The fitted defense.
        vectors: The vectors as they come from the encoder; memory-mapped where their format allows.
        out: The file to write; it must be another one than that of the vectors.
        ids: The records' ids, one per row; row numbers if there are none.
        progress: Told the rows done and their number after each block.

    Returns:
        Rows and dimension of what was written.
    """
    rows, width = vectors.shape[0], 0
    if ids is not None and len(ids) != rows:
        raise UsageError(f"there are {len(ids):,} ids for {rows:,} vectors: there must be one per vector")
    if out.exists() and out.samefile(vectors.path):
        raise UsageError(f"{out} holds the vectors themselves: name another file to write")
    done = 0
    with written_aside(out) as file:
        for _, made in defended(chain, in_batches(vectors, ids, block_rows(vectors.shape[1]))):
            if (bad := first_unusable(made)) is not None:
                raise CannotMeasureError(f"what the defense makes of row {done + bad[0]} can't be stored: {bad[1]}")
            if not done:
                width = made.shape[1]
                _write_header(file, rows, width)
            file.write(made.astype("<f4", copy=False).data)
            done += len(made)
            if progress is not None:
                progress(done, rows)
        if done != rows:
            raise DataError(f"{vectors.path}: {rows:,} vectors gave {done:,}")
    return rows, width


def _write_header(file: IO[bytes], rows: int, width: int) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(file, header)


def _blocks(pages: Batches) -> Iterator[tuple[list[str], DenseVectors]]:
    """The same rows in blocks of one size; the last one holds the rest. What comes as a whole block is not copied."""
    names: list[str] = []
    block = np.empty((0, 0), dtype=np.float32)
    dimension: int | None = None
    for ids, page in pages:
        vectors = dense(page, "a pass over blocks")
        if len(ids) != len(vectors):
            raise UsageError(f"a page has {len(ids):,} ids for {len(vectors):,} vectors: there must be one per vector")
        if dimension not in (None, vectors.shape[1]):
            raise DataError(f"the vectors have {dimension} and {vectors.shape[1]} dimensions: a defense takes one kind")
        dimension = int(vectors.shape[1])
        size, start = block_rows(dimension), 0
        while start < len(vectors):
            end = min(len(vectors), start + size - len(names))
            if end - start == size:
                yield [str(one) for one in ids[start:end]], vectors[start:end]
            else:
                if not names:
                    block = np.empty((size, dimension), dtype=np.float32)
                block[len(names) : len(names) + end - start] = vectors[start:end]
                names += [str(one) for one in ids[start:end]]
                if len(names) == size:
                    yield names, block
                    names = []
            start = end
    if names:
        yield names, block[: len(names)]
