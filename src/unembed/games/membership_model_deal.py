"""How the game of membership in a model is dealt in an audit: would a classifier trained here give away its texts?

The challenger trains classifiers of a column on halves of the vectors under attack, as whoever uses the store would.
The adversary trains shadow classifiers on its own labelled vectors. Nothing but vectors is needed, so it can be asked
behind any defense.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Deal, Material
from unembed.games.columns import NUMERIC_BINS, as_labels
from unembed.games.membership_model import FEWEST_TRIALS, ModelKnowledge, ModelTrials
from unembed.games.membership_model_trials import ClassifierTrials, Side
from unembed.shadows.classifiers import ClassifierTrainer, classifier_trainer

if TYPE_CHECKING:
    from unembed.games.membership_model import MembershipModelGame

#: Texts of a class that either side needs.
FEWEST_OF_CLASS = 4


def deal_in_audit(game: MembershipModelGame, material: Material) -> Deal[ModelKnowledge, ModelTrials]:
    """Train classifiers on both sides, and ask them about the texts they may have learnt from."""
    _check(game)
    both = (material.known.column(game.column), material.target.column(game.column))
    known, target, binned = as_labels(*both, ranges=True)
    often = [Counter(value for value in side if value is not None) for side in (known, target)]
    classes = sorted(value for value in often[0] if min(side[value] for side in often) >= FEWEST_OF_CLASS)
    if len(classes) < 2:
        raise CannotMeasureError(
            f"column '{game.column}' has {len(classes)} value(s) with at least {FEWEST_OF_CLASS} texts on either side: "
            "two are needed to train a classifier"
        )
    index = {value: number for number, value in enumerate(classes)}
    sides = []
    for values, vectors, groups in (
        (target, material.target_vectors, material.groups),
        (known, material.known_vectors, material.known_groups),
    ):
        rows = np.array([row for row, value in enumerate(values) if value in index], dtype=np.int64)
        labels = np.array([index[str(values[row])] for row in rows], dtype=np.int64)
        owners = None if groups is None else [groups[row] for row in rows]
        sides.append((rows, Side(vectors[rows], labels, owners)))
    (rows, targets), (_, own) = sides
    if min(len(targets), len(own)) < 2 * FEWEST_TRIALS:
        raise CannotMeasureError(
            f"{len(targets)} targets and {len(own)} texts of the adversary have a value of column '{game.column}': "
            f"{2 * FEWEST_TRIALS} of each are needed"
        )
    notes = [f"a classifier of {len(classes)} values of '{game.column}', learnt from half of {len(targets):,} texts"]
    if binned:
        notes.append(f"numeric column cut into {NUMERIC_BINS} ranges of equal size")
    if game.pool == "own" and len(own) < len(targets):
        notes.append(f"shadow models learn from half of {len(own):,} texts, fewer than the model under attack")
    trials = ClassifierTrials(targets, own, len(classes), game.shadows, game.models, game.pool, material.seed)
    return trials.deal(_trainer(game), keep=material.keep, rows=rows, notes=notes)


def _trainer(game: MembershipModelGame) -> ClassifierTrainer:
    """The classifier that the game's parameters ask for."""
    own = {"hidden": game.hidden, "epochs": game.epochs} if game.classifier == "perceptron" else {}
    return classifier_trainer(game.classifier, **own)


def _check(game: MembershipModelGame) -> None:
    """Refuse parameters that make no game."""
    if game.answers != "classifier":
        raise UsageError(
            "an audit trains a classifier: 'answers' of the game 'membership-model' can be nothing else there"
        )
    if not game.column:
        raise UsageError("the game 'membership-model' needs a column to train a classifier for (--attribute COLUMN)")
    if game.pool not in ("own", "targets"):
        raise UsageError(f"'pool' of the game 'membership-model' is 'own' or 'targets', not '{game.pool}'")
    for name in ("shadows", "models", "hidden", "epochs"):
        if getattr(game, name) < 1:
            raise UsageError(f"'{name}' of the game 'membership-model' is at least 1, not {getattr(game, name)}")
