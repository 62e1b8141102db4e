"""Models and word vectors from the user's own corpus, wherever its documents are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from deltavec.core import fitting
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY
from deltavec.core.learning.corpora import LocalCorpus
from deltavec.core.learning.ppmi import DIMENSIONS, WINDOW, ppmi_vectors
from deltavec.core.text.batches import Tokenizer, as_corpus, require_reiterable
from deltavec.core.vectors import WordVectors
from deltavec.io.corpus.corpus import as_documents

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def reading_corpus(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The function, whose parameter `corpus` may be a path or a table too."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run(*given: Parameters.args, **options: Parameters.kwargs) -> Result:
        bound = signature.bind(*given, **options)
        bound.arguments["corpus"] = as_documents(bound.arguments["corpus"])
        return function(*bound.args, **bound.kwargs)

    return run


fit = reading_corpus(fitting.fit)


@reading_corpus
def train_vectors(
    corpus: Any,
    *,
    dimensions: int = DIMENSIONS,
    window: int = WINDOW,
    min_count: int | None = None,
    seed: int = 0,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
) -> WordVectors:
    """Word vectors learned from a corpus: an SVD of its PPMI-weighted co-occurrence counts.

    It is quick, and gives the same bits every time. To use word2vec instead, train it with gensim
    and pass its vectors to `deltavec.load_vectors`.

    Parameters
    ----------
    corpus
        The documents: a list of strings, a column, or what `deltavec.read_corpus` gives. It is
        read twice.
    dimensions
        The length of a vector; fewer where the vocabulary is smaller.
    window
        How far to look to either side.
    min_count
        How often a word must occur; by default 5, 2 in a corpus below 300,000 words, 1 below
        3,000.
    seed
        Where random numbers begin.
    tokenizer
        ``words``, ``whitespace``, or a callable that turns a string into a list of words.
    threads
        How many cores to use; all of them by default.
    max_memory
        Bytes that counts may take; beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.

    Examples
    --------
    >>> vectors = train_vectors(["the sea is blue", "the sky is blue"] * 50, dimensions=4)
    >>> "sea" in vectors
    True
    """
    source = LocalCorpus(
        require_reiterable(as_corpus(corpus)),
        tokenizer=tokenizer,
        threads=threads,
        max_memory=max_memory,
        on_stage=on_stage,
    )
    return ppmi_vectors(
        source, dimensions=dimensions, window=window, min_count=min_count, seed=seed
    )
