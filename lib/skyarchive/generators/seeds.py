"""Randomness that depends only on what it is for, so a period comes out the same whatever else is made."""

import hashlib

import numpy as np


def stream(seed: int, *purpose: object) -> np.random.Generator:
    """A generator of its own for (seed, purpose...), the same in every process."""
    text = "\x1f".join(str(part) for part in (seed, *purpose))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "little"))
