"""Made-up vectors with a shape, as text has one: topics of unequal size, in directions that vary unequally."""

import numpy as np


def skewed_cloud(count, *, world, draw, dimension=48):
    """``count`` vectors of the world ``world``: topics of unequal size, some of them spread widely, and a mean.

    Clouds of one world with another ``draw`` hold other vectors of the same kind.
    """
    made, drawn = np.random.default_rng(world), np.random.default_rng([world, draw])
    turn = np.linalg.qr(made.standard_normal((dimension, dimension)))[0] * np.geomspace(3, 0.4, dimension)[:, None]
    centres = made.gamma(0.5, size=(60, dimension)) @ turn
    shares = made.dirichlet(np.full(60, 2.0))
    around = made.uniform(0.2, 0.6, 60)
    topics = drawn.choice(60, size=count, p=shares)
    near = drawn.standard_normal((count, dimension)) @ turn * around[topics][:, None]
    return (1.0 + centres[topics] + near).astype(np.float32)


def turn_of(dimension, seed):
    """A secret rotation."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((dimension, dimension)))[0]


def share_recovered(guess, plain):
    """How often a recovered vector comes nearest to its own plain one."""
    apart = np.square(plain).sum(axis=1) - 2 * np.asarray(guess, dtype=np.float64) @ plain.T
    return float((apart.argmin(axis=1) == np.arange(len(plain))).mean())
