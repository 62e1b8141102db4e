"""Learning from a corpus: the default fit, word vectors by ppmi, counting; gensim's word2vec."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from run import Given, Step
from texts import count_words, read_column

import deltavec as dv


def steps(given: Given) -> dict[str, Step]:
    """Fits of all documents."""
    column = read_column(Path(given.corpus))
    words, probe = count_words(column), column[:20]
    vectors = dv.train_vectors(column[:2_000], dimensions=50)

    def spectral() -> dict[str, Any]:
        model = dv.fit(column, threads=given.threads)
        answer = {"numbers": model.embed(probe).ravel().tolist()}
        return {"items": words, "answer": answer}

    def ppmi() -> dict[str, Any]:
        dv.train_vectors(column, threads=given.threads)
        return {"items": words}

    def paper() -> dict[str, Any]:
        dv.fit(column, vectors, "idf-delta-pca", threads=given.threads)
        return {"items": words}

    return {
        "words, spectral": spectral,
        "words, train_vectors by ppmi": ppmi,
        "words, idf-delta-pca": paper,
    }


def peers(given: Given) -> dict[str, Step]:
    """Gensim's word2vec with its defaults, from a list of words."""
    if not find_spec("gensim"):
        return {}
    from gensim.models import Word2Vec

    column = read_column(Path(given.corpus))
    words = count_words(column)
    listed = [text.lower().split() for text in column.to_pylist()]

    def word2vec() -> dict[str, Any]:
        Word2Vec(listed, vector_size=100, workers=given.threads)
        return {"items": words}

    return {"gensim word2vec": word2vec}
