"""A first alignment of two clouds of points by their third moments, with no pair between them.

Covariances leave open every sign and every mixture of directions that vary alike. Third moments do not: after each
side is scaled to the same spread along its principal directions, the table E[x_i x_j x_k] of one side must be that of
the other, turned. A few leading directions are tried with all their signs; what is settled there names pairs (i, j),
and each pair gives one slice of the table, a vector that both sides see, so that more directions follow by Procrustes.
Directions whose variances differ much are not mixed with each other.

Vectors whose directions are all symmetric, normal ones for instance, have no third moments: nothing can be found.

Cost: rows times the cube of the number of directions, seconds at 64.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

#: Directions that are aligned, those whose signs are tried, and rows that the moments are taken over.
DIRECTIONS, TRIED, MOST_ROWS = 64, 8, 50_000
#: Starts that are followed: so many at first, fewer with every step.
FOLLOWED = 24
#: By how many natural logarithms variances may differ between directions that are mixed.
MIXED = 0.5
#: Directions that vary less than this share of the first are noise of single precision.
LEAST_VARIANCE = 1e-14

Rows = NDArray[np.float32]
Matrix = NDArray[np.float64]
Table = NDArray[np.float32]


def start(ours: Rows, theirs: Rows) -> Matrix:
    """A map of ``theirs`` onto the leading directions of ``ours``; both are centred."""
    (values, axes), (their_values, their_axes) = principal(ours), principal(theirs)
    count = min(DIRECTIONS, len(values), len(their_values))
    values, axes = values[:count], axes[:, :count]
    their_values, their_axes = their_values[:count], their_axes[:, :count]
    table = third_moments(_spread(ours, values, axes))
    their_table = third_moments(_spread(theirs, their_values, their_axes))
    # In units of the first, because the two sides may be scaled differently.
    variances = (their_values / their_values[0])[:, None] / (values / values[0])
    alike = np.exp(-0.5 * np.square(np.log(variances) / MIXED))
    turn = _turned(table, their_table, alike)
    return np.asarray(their_axes @ turn @ axes.T)


def principal(rows: Rows) -> tuple[Matrix, Matrix]:
    """Variances and directions of centred rows, the largest first."""
    values, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64) / len(rows))
    values, axes = values[::-1], axes[:, ::-1]
    live = values > LEAST_VARIANCE * values[0]
    return values[live], axes[:, live]


def _spread(rows: Rows, values: Matrix, axes: Matrix) -> Rows:
    """Coordinates along the principal directions, each with variance one."""
    some = rows[:: -(-len(rows) // MOST_ROWS)]
    return np.asarray(some @ (axes / np.sqrt(values)).astype(np.float32))


def third_moments(rows: Rows) -> Table:
    """The mean product of every three coordinates."""
    count = rows.shape[1]
    table = np.empty((count, count, count), dtype=np.float32)
    for number in range(count):
        table[number] = rows.T @ (rows * rows[:, number : number + 1]) / len(rows)
    return table


def _turned(table: Table, their_table: Table, alike: Matrix) -> Matrix:
    """The turn of their directions onto ours under which the two tables agree best, from few directions to all."""
    most = len(alike)
    count = min(TRIED, most)
    signs = (np.diag(chosen) for chosen in itertools.product((1.0, -1.0), repeat=count))
    turns = _best([(agreement(table, their_table, turn), turn) for turn in signs])
    followed = FOLLOWED
    while True:
        settled = [_settled(table, their_table, turn, alike[:count, :count]) for turn in turns[:followed]]
        turns = _best([(agreement(table, their_table, turn), turn) for turn in settled])
        if count == most:
            return turns[0]
        count, followed = min(most, max(count + 2, count * 5 // 4)), max(2, min(6, followed - 1))


def _settled(table: Table, their_table: Table, turn: Matrix, alike: Matrix, rounds: int = 15) -> Matrix:
    """Slices of the tables named by directions that are known, and the turn that brings them together, in turns."""
    count = len(alike)
    for _ in range(rounds):
        known = len(turn)
        seen = _through(their_table[:count, :known, :known], turn)
        ours = table[:count, :known, :known]
        left, _, right = np.linalg.svd(alike * (seen.reshape(count, -1) @ ours.reshape(count, -1).T))
        previous, turn = turn, left @ right
        if known == count and np.abs(turn - previous).max() < 1e-4:
            break
    return turn


def agreement(table: Table, their_table: Table, turn: Matrix) -> float:
    """The cosine between our third moments and theirs, turned, over the directions that the turn knows."""
    count = len(turn)
    ours = table[:count, :count, :count]
    seen = turn.T.astype(np.float32) @ _through(their_table[:count, :count, :count], turn).reshape(count, -1)
    lengths = float(np.linalg.norm(ours) * np.linalg.norm(seen))
    return float(ours.reshape(count, -1).ravel() @ seen.ravel()) / lengths if lengths else 0.0


def _through(table: Table, turn: Matrix) -> Table:
    """The last two places of a table, turned."""
    narrow = turn.astype(np.float32)
    return np.asarray(narrow.T @ (table @ narrow))


def _best(scored: list[tuple[float, Matrix]]) -> list[Matrix]:
    """From the best on, without those that have come to the same."""
    kept: list[Matrix] = []
    for _, turn in sorted(scored, key=lambda pair: -pair[0])[: 4 * FOLLOWED]:
        if all(np.abs(turn - other).max() > 0.05 for other in kept):
            kept.append(turn)
    return kept
