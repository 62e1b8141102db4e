"""What holds for prior vectors, whatever they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv

WORDS = ["sea", "wave", "beach", "sand", "room", "bed", "lamp", "quiet"]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1_000), known=st.integers(2, len(WORDS)))
def test_prior_vectors_may_be_turned_and_scaled(seed: int, known: int) -> None:
    rng = np.random.default_rng(seed)
    topics = np.split(np.array(WORDS), 2)
    documents = [" ".join(rng.choice(topics[i % 2], 6)) for i in range(24)]
    rows = rng.standard_normal((known, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    scales = rng.uniform(0.1, 9, (known, 1))
    recipe = dv.Recipe(form="spectral", dimensions=3, power_iterations=30)
    plain, turned = (
        dv.fit(documents, recipe=recipe, prior=dv.WordVectors(WORDS[:known], some))
        for some in (rows, scales * rows @ turn)
    )
    assert plain.notes["prior"] == turned.notes["prior"]  # too short to be asked
    a, b = (model.embed(documents) for model in (plain, turned))
    assert np.isfinite(a).all()
    # Float32 rows, and directions whose values are nearly equal.
    assert a @ a.T == pytest.approx(b @ b.T, abs=2e-2)
