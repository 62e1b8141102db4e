"""Documents and a model for the stores of other libraries."""

from __future__ import annotations

import numpy as np

import deltavec as dv

TEXTS = [
    "a quiet room with a view of the sea",
    "breakfast was cold and the coffee weak",
    "the sea was loud at night",
    "staff at the desk were kind",
]
QUERY = "coffee at breakfast"


def small_model() -> dv.EmbeddingModel:
    words = sorted({word for text in TEXTS for word in text.split()})
    vectors = dv.WordVectors(words, np.random.default_rng(3).standard_normal((len(words), 8)))
    return dv.fit(TEXTS, vectors, "idf-sum")


def best_first(model: dv.EmbeddingModel) -> list[tuple[str, float]]:
    """The texts by their cosine to the query."""
    cosines = (model.embed(TEXTS) @ model.embed([QUERY])[0]).tolist()
    return sorted(zip(TEXTS, cosines, strict=True), key=lambda one: -one[1])
