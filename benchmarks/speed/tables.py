"""Word tables as users have them: the words of the corpus, and many more that it never uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

import numpy as np
import pyarrow as pa

import deltavec as dv
from deltavec.core.learning.vocabulary_builder import WordCounts
from speed.zipf import word

# One recipe stands for all: each is a table and an offset by then, read by the same kernel.
RECIPE = "idf-sum-pca"
MIN_COUNT = 2


def frequent(counts: WordCounts) -> list[str]:
    """The words that occur at least twice, the most frequent first."""
    return counts.frequent(MIN_COUNT)[0].words


def sized(words: Sequence[str], size: int) -> list[str]:
    """So many words: the most frequent ones, and behind them made-up ones that never occur."""
    kept = list(words[:size])
    return kept + list(islice(unused(set(words)), size - len(kept)))


def unused(taken: set[str]) -> Iterator[str]:
    """Made-up words that are not among those taken."""
    return (made_up for rank in count() if (made_up := f"qx{word(rank)}x") not in taken)


def random_vectors(words: Sequence[str], dimensions: int) -> dv.WordVectors:
    """Vectors drawn at random: speed does not depend on what they say."""
    rng = np.random.default_rng(0)
    return dv.WordVectors(words, rng.standard_normal((len(words), dimensions), dtype=np.float32))


def fitted(column: pa.Array, words: Sequence[str], dimensions: int) -> dv.EmbeddingModel:
    """The model of these documents over a table of these words."""
    return dv.fit(column, random_vectors(words, dimensions), RECIPE)
