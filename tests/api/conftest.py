"""Small worlds for the front door: invented messages, vectors that show their topic, and settings that take seconds."""

import numpy as np
import pytest
from small_audit import SMALL

from unembed.corpora.generators import GENERATORS


@pytest.fixture(scope="session")
def messages():
    return GENERATORS.get("messages")(240, seed=1, authors=6)


@pytest.fixture(scope="session")
def texts(messages):
    return messages.texts


@pytest.fixture(scope="session")
def topics(messages):
    return messages.columns["topic"]


@pytest.fixture(scope="session")
def vectors(topics):
    """Vectors that show the topic of their text among noise."""
    rng = np.random.default_rng(0)
    known = sorted(set(topics))
    shown = np.eye(len(known), 12)[[known.index(t) for t in topics]]
    return (shown * 2 + rng.standard_normal((len(topics), 12))).astype(np.float32)


@pytest.fixture
def small():
    return dict(SMALL)
