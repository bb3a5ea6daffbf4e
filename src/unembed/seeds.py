"""Random numbers by identity: a seed depends on what it is for, never on what ran before it.

Adding a cell, an attack or a keyword therefore changes no other result.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np


def seed_for(seed: int, *identity: str | int) -> int:
    """A 63-bit seed for the thing named by ``identity`` under the run's seed."""
    payload = json.dumps([seed, *identity], ensure_ascii=True).encode()
    return int.from_bytes(hashlib.sha256(payload).digest()[:8], "big") >> 1


def generator(seed: int, *identity: str | int) -> np.random.Generator:
    """A numpy generator for the thing named by ``identity`` under the run's seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed_for(seed, *identity))))
