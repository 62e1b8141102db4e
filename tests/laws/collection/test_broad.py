"""A broad search finds what a look at all documents and all their neighbors finds."""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv

WORDS = ["storm", "flood", "sea", "beach", "town", "hall", "room", "quiet", "north", "pool"]


def slow(collection, query, k):
    """The k best rows and their scores, from the scores of all documents."""
    everything = replace(query, k=len(collection), broad=False)
    [found] = collection.best([replace(everything, filter=None, negated=[])])
    [hits] = collection.best([everything])
    scores = np.zeros(len(collection))
    scores[found.numbers] = found.scores
    vectors = collection.vectors()
    near = dv.neighbors(vectors, 10).ids
    totals = scores + 0.2 * scores[near].sum(axis=1) / 10 * vectors.any(axis=1)
    order = hits.numbers[np.lexsort((hits.numbers, -totals[hits.numbers]))][:k]
    return order, totals[order]


@pytest.mark.filterwarnings("ignore::deltavec.errors.LowCoverageWarning")
@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["hybrid", "keyword", "semantic"]),
    st.integers(1, 6),
    st.sampled_from([None, "id != '3'", "id < '2'"]),
    st.booleans(),
)
def test_a_broad_search_adds_the_scores_of_neighbors(seed, by, k, filter, is_negated):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 7))) for _ in range(60)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectors = dv.WordVectors(WORDS, rng.standard_normal((len(WORDS), 4)))
        model = dv.fit(texts, vectors, "idf-sum")
        collection = dv.build_collection(model, texts, Path(folder) / "c.idx")
        text = " ".join(rng.choice(WORDS, 3)) + (" -pool" if is_negated else "")
        query = replace(collection.query(text, k, by=by, filter=filter), broad=True)
        rows, scores = slow(collection, query, k)
        [found] = collection.best([query])
    assert found.scores.tolist() == pytest.approx(scores.tolist(), abs=1e-12)
    if len(scores) < 2 or np.diff(scores).max() < -1e-9:  # rounding may order equal sums otherwise
        assert found.numbers.tolist() == rows.tolist()
