"""The checks behind ``check_attack`` and its siblings: raise AssertionError with a sentence, or return None.

They test behaviour the rest of unembed relies on, on a small world where the right answer is known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import hstack, issparse

from unembed.attacks.base import check_attack_class
from unembed.collections import Collection
from unembed.defenses import DEFENSES
from unembed.defenses.base import CleansTexts, Invertible, Owned, Sized, check_defense_class, with_key
from unembed.encoders.base import EncoderCard
from unembed.games import GAMES
from unembed.games.base import Deal, Lineup, Material
from unembed.games.inversion import PieceGuess
from unembed.games.play import play
from unembed.games.rounds import play_round
from unembed.games.rows import random_like, text_rows
from unembed.testing.toys import (
    LeakyEncoder,
    SpoiledEncoder,
    behind_a_map,
    toy_adversary,
    toy_corpus,
    toy_game,
    toy_material,
)
from unembed.testing.trials import World, toy_trials

Check = Callable[[Any], None]


def check_attack(attack: Any) -> None:
    """An attack class keeps the contract, learns, is deterministic, and beats the floors where it must."""
    for check in attack_checks():
        check(attack)


def check_defense(defense: Any) -> None:
    """A defense class keeps the contract: rows kept, finite, deterministic, input untouched."""
    for check in defense_checks():
        check(defense)


def check_encoder(encoder: Any, texts: Sequence[str] | None = None) -> None:
    """An encoder (an instance, fitted if it needs to be) keeps the contract."""
    for check in encoder_checks(texts):
        check(encoder)


def check_collection(collection: Collection) -> None:
    """A collection holds what it says: ids that differ, columns of full length, a vector for each id, in any order."""
    corpus, stored = collection.corpus, collection.stored
    require(len(corpus) > 0, "there is no text in it")
    require(len(set(corpus.ids)) == len(corpus.ids), "two texts have the same id")
    require(collection.can_encode or stored is not None, "there are no vectors, and none can be made")
    if stored is None:
        return
    vectors = stored.vectors_for(corpus.ids)
    wanted = (len(corpus), stored.card.dimension)
    require(vectors.shape == wanted, f"the vectors are {vectors.shape}, not {wanted}")
    require(vectors.dtype == np.float32, f"the vectors are {vectors.dtype}, not float32")
    require(bool(np.isfinite(vectors).all()), "the vectors hold NaN or infinite values")
    backwards = stored.vectors_for(corpus.ids[::-1])
    require(bool(np.array_equal(backwards, vectors[::-1])), "vectors do not follow the order of the ids asked for")


def attack_checks() -> Iterator[Check]:
    """Every check of an attack class, for test suites that want one test each."""
    yield from (attack_contract, constructor_stores_parameters, attack_succeeds_on_leaky_vectors)
    yield from (attack_is_deterministic, attack_survives_dead_dimensions, attack_is_at_floor_on_random_vectors)


def defense_checks() -> Iterator[Check]:
    """Every check of a defense class."""
    yield from (defense_contract, constructor_stores_parameters, defense_transforms)
    yield from (defense_keys, defense_is_kept, defense_tells_its_size, defense_cleans)


def encoder_checks(texts: Sequence[str] | None = None) -> Iterator[Check]:
    """Every check of an encoder."""
    sample = list(texts or ("a short text", "another, somewhat longer text about the sea", "a short text", "x"))

    def shape_and_type(encoder: Any) -> None:
        card = encoder.card
        require(isinstance(card, EncoderCard), f"card is {type(card).__name__}, not EncoderCard")
        vectors = encoder.encode(sample)
        require(vectors.shape == (len(sample), card.dimension), f"{vectors.shape} is not [n, {card.dimension}]")
        require(vectors.dtype == np.float32, f"vectors are {vectors.dtype}, not float32")
        require(bool(issparse(vectors)) == card.sparse, "card.sparse does not tell what encode returns")
        require(bool(np.isfinite(_dense(vectors)).all()), "vectors hold NaN or infinite values")

    def same_text_same_vector(encoder: Any) -> None:
        vectors = _dense(encoder.encode(sample))
        require(np.allclose(vectors[0], vectors[2], atol=1e-5), "one text got two vectors in one call")
        again = _dense(encoder.encode(sample[::-1]))[::-1]
        require(np.allclose(vectors, again, atol=1e-4), "the vector of a text depends on its neighbours")

    def nothing_in_nothing_out(encoder: Any) -> None:
        empty = encoder.encode([])
        require(empty.shape == (0, encoder.card.dimension), f"no texts gave {empty.shape}")

    def normalised_as_stated(encoder: Any) -> None:
        if encoder.card.normalised:
            norms = np.linalg.norm(_dense(encoder.encode(sample[:2])), axis=1)
            require(bool(np.allclose(norms[norms > 0], 1, atol=1e-3)), f"card says unit norm, norms are {norms}")

    yield from (shape_and_type, same_text_same_vector, nothing_in_nothing_out, normalised_as_stated)


def attack_contract(attack: Any) -> None:
    """Class-level facts and methods are there."""
    problem = check_attack_class(attack)
    require(problem is None, f"{attack}: {problem}")
    require("seed" in attack.param_names(), f"{attack.__name__} has no parameter 'seed': it can't be repeated")


def defense_contract(defense: Any) -> None:
    """Class-level facts and methods are there."""
    problem = check_defense_class(defense)
    require(problem is None, f"{defense}: {problem}")


def constructor_stores_parameters(thing: Any, **needed: Any) -> None:
    """The constructor stores its parameters under their own names and does nothing else; ``needed`` have no default."""
    signature = inspect.signature(thing.__init__)
    defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
    made = thing(**needed)
    for name, value in defaults.items():
        stored = getattr(made, name, "nothing")
        require(stored is value or stored == value, f"{thing.__name__}.{name} is stored as {stored!r}, not {value!r}")
    extra = set(vars(made)) - set(signature.parameters)
    require(not extra, f"the constructor of {thing.__name__} sets more than its parameters: {sorted(extra)}")


def attack_succeeds_on_leaky_vectors(attack: Any) -> None:
    """Where everything can be read back, the attack reads back more than the floor."""
    game = _game_for(attack)
    played = play(game, attack(seed=1), _deal_for(attack), seed=1)
    require(played.check.passed, f"{attack.__name__} fails its check: {played.check.reason}")
    require(
        played.excess.low > 0.05, f"{attack.__name__} is at the floor on vectors that hide nothing: {played.excess}"
    )


def attack_is_deterministic(attack: Any) -> None:
    """The same seed gives the same guess, bit for bit."""
    deal = _trials(attack, "leaky") or _game_for(attack).deal(_material_for(attack, known=300, targets=100))
    first, second = (_dense(attack(seed=3).fit(deal.knowledge).run(deal.vectors)) for _ in range(2))
    require(bool(np.array_equal(first, second)), f"{attack.__name__} gives different guesses for one seed")


def attack_survives_dead_dimensions(attack: Any) -> None:
    """Constant, zero and huge dimensions are normal input."""
    game = _game_for(attack)
    deal = _trials(attack, "spoiled") or game.deal(_material_for(attack, SpoiledEncoder()))
    played = play_round(game, attack(seed=1), deal, seed=1)
    require(played.excess.low > 0.05, f"{attack.__name__} breaks on constant, zero or huge dimensions")


def attack_is_at_floor_on_random_vectors(attack: Any) -> None:
    """Vectors that know nothing give nothing: a result above the floor here is a leak of the truth."""
    game = _game_for(attack)
    deal = _trials(attack, "blind") or game.deal(_blind(attack))
    played = play_round(game, attack(seed=1), deal, seed=1)
    require(played.excess.low < 0.05, f"{attack.__name__} beats the floor on random vectors: {played.excess}")


def defense_transforms(defense: Any) -> None:
    """As many finite rows out as in, the same for the same seed and id, and the input is left alone."""
    vectors, ids, owned = _to_defend()
    before = vectors.copy()
    fitted = _fitted(defense)
    first, second = (np.asarray(made.transform(vectors, ids)) for made in (fitted, defense(seed=2).fit(vectors, owned)))
    require(bool(np.array_equal(vectors, before)), f"{defense.__name__} changes its input")
    require(len(first) == len(vectors), f"{defense.__name__} gives {len(first)} rows for {len(vectors)}")
    require(bool(np.isfinite(first).all()), f"{defense.__name__} gives NaN or infinite values")
    require(bool(np.array_equal(first, second)), f"{defense.__name__} gives different vectors for one seed")
    backwards = np.asarray(fitted.transform(vectors[::-1][:7], ids[::-1][:7]))
    same = bool(np.allclose(backwards, first[::-1][:7], atol=1e-5))
    require(same, f"{defense.__name__}: what a record becomes depends on the order of calls, not on its id alone")


def defense_keys(defense: Any) -> None:
    """Another key changes what the facts say it decides, and nothing where they say that it decides nothing."""
    vectors, ids, _ = _to_defend()
    fitted = _fitted(defense)
    first, other = (np.asarray(made.transform(vectors, ids)) for made in (fitted, with_key(fitted, 3)))
    changed = not np.array_equal(first, other)
    keyed = defense.facts.keyed
    require(
        changed == (keyed is not None),
        f"{defense.__name__} says it is keyed by {keyed}; another key changes it: {changed}",
    )
    renamed = np.asarray(fitted.transform(vectors, [f"other {i}" for i in ids]))
    own = not np.array_equal(first, renamed)
    require(own == (keyed == "noise"), f"{defense.__name__}: only noise of each record's own may depend on its id")


def defense_is_kept(defense: Any) -> None:
    """A fitted defense lies in a folder without pickle and gives the same vectors when it is loaded."""
    from tempfile import TemporaryDirectory

    from unembed.defenses.chain import Chain
    from unembed.defenses.saving import load_chain, save_chain

    vectors, ids, owned = _to_defend()
    with TemporaryDirectory() as folder, DEFENSES.lending("a defense under test", defense):
        chain = Chain([defense()], ["a defense under test"]).fit(vectors, 5, owned, ids)
        save_chain(chain, Path(folder) / "kept")
        loaded = load_chain(Path(folder) / "kept")
    same = np.array_equal(np.asarray(chain.transform(vectors, ids)), np.asarray(loaded.transform(vectors, ids)))
    require(same, f"{defense.__name__} gives other vectors after it was saved and loaded")


def defense_tells_its_size(defense: Any) -> None:
    """What it says of its stored vectors is true, and an owner who undoes it comes nearer to the plain vectors."""
    vectors, ids, _ = _to_defend()
    fitted = _fitted(defense)
    made = np.asarray(fitted.transform(vectors, ids))
    if isinstance(fitted, Sized):
        width = fitted.stored_dimension(vectors.shape[1])
        require(made.shape[1] == width, f"{defense.__name__} says it stores {width} numbers, not {made.shape[1]}")
        require(fitted.stored_bytes(vectors.shape[1]) > 0, f"{defense.__name__} says its vectors need no bytes")
    if isinstance(fitted, Invertible):
        back = np.asarray(fitted.inverse(made, ids))
        require(back.shape == vectors.shape, f"{defense.__name__}: what is undone has another shape than the vectors")
        error = np.linalg.norm(back - vectors) / np.linalg.norm(vectors)
        require(bool(error < 0.9), f"{defense.__name__}: undone vectors are {error:.2f} off, no better than zeros")


def defense_cleans(defense: Any) -> None:
    """A defense on texts gives one text per text, the same in any company, and leaves vectors as they are."""
    if not issubclass(defense, CleansTexts):
        return
    made: Any = defense(seed=2)
    vectors, ids, owned = _to_defend()
    texts = [*owned.texts[:20], "", "Write to anna.smith@example.org or call +44 20 7946 0018."]
    cleaned = made.clean(texts)
    right = len(cleaned) == len(texts) and all(isinstance(text, str) for text in cleaned)
    require(right, f"{defense.__name__} does not give one text for each text")
    alone = [made.clean([text])[0] for text in reversed(texts)][::-1]
    require(cleaned == alone, f"{defense.__name__}: what becomes of a text depends on the other texts")
    same = np.array_equal(np.asarray(made.fit(vectors, owned).transform(vectors, ids)), vectors)
    require(same, f"{defense.__name__} changes texts and vectors: it can do one of the two")


@lru_cache(maxsize=4)
def _fitted(defense: Any) -> Any:
    """A defense that has learnt, for all checks that only look at it: some take seconds to learn."""
    vectors, _, owned = _to_defend()
    return defense(seed=2).fit(vectors, owned)


def _to_defend() -> tuple[Any, list[str], Owned]:
    """Vectors with their ids, and texts whose words they hold."""
    corpus = toy_corpus(300)
    encoder = LeakyEncoder(dimension=16)
    vectors = np.asarray(encoder.encode(corpus.texts), dtype=np.float32)
    return vectors, list(corpus.ids), Owned(corpus.texts, dict(corpus.columns), encoder.encode)


def require(condition: bool, message: str) -> None:
    """Fail with a sentence where something is not as it must be."""
    if not condition:
        raise AssertionError(message)


def _game_for(attack: Any) -> Any:
    """Its game in the toy world, asked so that the answers hold what it reads."""
    return toy_game(attack.facts.game).set_params(**dict(attack.facts.of_game))


def _blind(attack: Any) -> Material:
    """The toy world with noise in the place of all vectors."""
    rng = np.random.default_rng(5)

    def noise(texts: Sequence[str]) -> Any:
        if attack.facts.reads_texts:
            return random_like(text_rows(texts), rng)
        return rng.standard_normal((len(texts), 48)).astype(np.float32)

    material = _material_for(attack)
    return replace(
        material,
        target_vectors=noise(material.target.texts),
        known_vectors=noise(material.known.texts),
        encode=noise,
        lineup=Lineup("noise", {"other noise": noise, "more noise": noise}),
    )


def _deal_for(attack: Any) -> Deal[Any, Any]:
    """Its game in the toy world, dealt: of texts, or for games of membership of what models answer."""
    return _trials(attack, "leaky") or _game_for(attack).deal(_material_for(attack))


def _trials(attack: Any, world: World) -> Deal[Any, Any] | None:
    """Its game of membership, asked so that the answers hold what it reads; None where its game is another one."""
    return toy_trials(attack.facts.game, world, dict(attack.facts.of_game), attack=attack.facts.name)


def _material_for(attack: Any, encoder: LeakyEncoder | None = None, known: int = 600, targets: int = 200) -> Material:
    """The toy world as an attack needs it: with the model if it uses the weights, as texts if it reads them.

    The shape of a cloud of points is known from many only, so a world behind a secret map is larger.
    """
    adversary = toy_adversary(attack.facts.requires)
    if GAMES.get(attack.facts.game).facts.needs_map:
        return behind_a_map(toy_material(adversary=adversary, encoder=encoder, known=1500, targets=1500))
    material = toy_material(adversary=adversary, encoder=encoder, known=known, targets=targets)
    return material.reading() if attack.facts.reads_texts else material


def _dense(values: Any) -> Any:
    if isinstance(values, PieceGuess):
        values = hstack([values.words, values.pieces])
    return values.toarray() if issparse(values) else np.asarray(values)
