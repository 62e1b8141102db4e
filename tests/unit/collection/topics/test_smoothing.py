"""Documents moved towards their neighbors."""

from __future__ import annotations

import numpy as np

from deltavec.collection.topics.clusters import smooth_rows


def rows(count: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((count, 6))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_noise_around_middles_becomes_less() -> None:
    middles = np.repeat(np.eye(6, dtype=np.float32)[:3], 20, axis=0)
    noisy = middles + 0.3 * rows(60)
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    moved = smooth_rows(noisy, np.ones(60, bool))
    assert (moved * middles).sum(axis=1).mean() > (noisy * middles).sum(axis=1).mean()


def test_opposite_documents_have_a_direction() -> None:
    both = np.array([[1, 0], [-1, 0]], np.float32)
    assert smooth_rows(both, np.ones(2, bool)).tolist() == both.tolist()
