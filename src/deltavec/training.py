"""Word vectors from the user's own corpus: co-occurrence (ppmi), or word2vec."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deltavec.core.cooccurrence import DEFAULT_MEMORY, ids_of
from deltavec.core.discovery import learned_vocabulary
from deltavec.core.passes import thread_count
from deltavec.core.ppmi import ppmi_vectors
from deltavec.core.scratch import spilling
from deltavec.core.texts import (
    Chunked,
    Tokenizer,
    as_chunked,
    as_texts,
    require_tokenizer,
    rereadable,
)
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

METHODS = ("ppmi", "word2vec")


def train_vectors(
    corpus: Any,
    *,
    method: str = "ppmi",
    dimensions: int | None = None,
    window: int | None = None,
    min_count: int | None = None,
    epochs: int = 5,
    skip_gram: bool = False,
    seed: int = 0,
    tokenizer: Tokenizer = "words",
    threads: int | None = None,
    max_memory: int = DEFAULT_MEMORY,
    on_stage: Callable[[str], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> WordVectors:
    """Word vectors learned from a corpus.

    Parameters
    ----------
    corpus
        The documents: a list of strings, a column, or what `deltavec.read_corpus` gives. It is
        read twice.
    method
        ``ppmi``: which words stand near each other, factorised; quick, and the same bits every
        time. ``word2vec``: gensim's, with the defaults of the original tool.
    dimensions
        The length of a vector; 300 for ppmi (fewer where the vocabulary is smaller), 100 for
        word2vec.
    window
        How far to look to either side; 20 for ppmi, 5 for word2vec.
    min_count
        How often a word must occur; by default 5, 2 in a corpus below 300,000 words, 1 below
        3,000.
    epochs
        How often word2vec passes over the corpus.
    skip_gram
        Skip-gram instead of CBOW, for word2vec.
    seed
        Where random numbers begin.
    tokenizer
        ``words``, ``whitespace``, or a callable that turns a string into a list of words.
    threads
        How many cores to use; all of them by default. word2vec repeats exactly only with 1.
    max_memory
        Bytes that ppmi's counts may take; beyond, they are kept in temporary files.
    on_stage
        Called with a word or two when each stage begins.
    on_progress
        Called with the share of word2vec's training that is done, after each epoch.

    Examples
    --------
    >>> vectors = train_vectors(["the sea is blue", "the sky is blue"] * 50, dimensions=4)
    >>> "sea" in vectors
    True
    """
    require_parameters(method, dimensions, window, min_count, epochs, max_memory)
    chunked = rereadable(as_chunked(corpus))
    require_tokenizer(tokenizer)
    if method == "word2vec":
        return word2vec_vectors(
            chunked,
            dimensions=dimensions or 100,
            window=window or 5,
            min_count=min_count,
            epochs=epochs,
            skip_gram=skip_gram,
            seed=seed,
            tokenizer=tokenizer,
            threads=threads,
            on_stage=on_stage,
            on_progress=on_progress,
        )
    with spilling(max_memory) as allocate:
        return ppmi_vectors(
            chunked,
            dimensions=dimensions or 300,
            window=window or 20,
            min_count=min_count,
            seed=seed,
            tokenizer=tokenizer,
            threads=threads,
            max_memory=max_memory,
            allocate=allocate,
            on_stage=on_stage,
        )


def require_parameters(
    method: str,
    dimensions: int | None,
    window: int | None,
    min_count: int | None,
    epochs: int,
    max_memory: int,
) -> None:
    """Refuse parameters that make no sense, before any work."""
    if method not in METHODS:
        raise InputError(f"method must be 'ppmi' or 'word2vec', got {method!r}")
    named = {
        "dimensions": dimensions,
        "window": window,
        "min_count": min_count,
        "epochs": epochs,
        "max_memory": max_memory,
    }
    for name, value in named.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} must be a whole number from 1 on, got {value!r}")


def word2vec_vectors(
    corpus: Chunked,
    *,
    dimensions: int,
    window: int,
    min_count: int | None,
    epochs: int,
    skip_gram: bool,
    seed: int,
    tokenizer: Tokenizer,
    threads: int | None,
    on_stage: Callable[[str], None] | None,
    on_progress: Callable[[float], None] | None,
) -> WordVectors:
    """Vectors that gensim's word2vec trains on a file of the corpus' known words.

    From a file gensim works without the interpreter; from Python objects it does not.
    """
    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    begin = on_stage or (lambda stage: None)
    begin("learning the vocabulary")
    vocabulary = learned_vocabulary(corpus, tokenizer, min_count)

    class Epochs(CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            if on_progress is not None:
                on_progress(self.done / epochs)

    with tempfile.TemporaryDirectory(prefix="deltavec-") as folder:
        begin("writing words")
        path = Path(folder) / "words.txt"
        names = numbered_words(vocabulary)
        write_words(path, corpus, names, vocabulary, tokenizer, threads)
        begin("training word2vec")
        model = Word2Vec(
            corpus_file=str(path),
            vector_size=dimensions,
            window=window,
            min_count=1,  # rarer words are not in the file
            negative=5,
            sample=1e-3,
            alpha=0.05,
            sg=int(skip_gram),
            epochs=epochs,
            seed=seed,
            workers=thread_count(threads),
            callbacks=[Epochs()],
        )
    order = [model.wv.key_to_index[name] for name in names if name in model.wv.key_to_index]
    kept = [number for number, name in enumerate(names) if name in model.wv.key_to_index]
    return WordVectors([vocabulary.words[number] for number in kept], model.wv.vectors[order])


def numbered_words(vocabulary: Vocabulary) -> list[str]:
    """A name for each word that holds no white space, whatever the tokenizer made: its number."""
    return [str(number) for number in range(len(vocabulary))]


def write_words(
    path: Path,
    corpus: Chunked,
    names: list[str],
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    threads: int | None,
) -> None:
    """Write the corpus' known words to a file, one document a line."""
    lines = [*names, "\n"]  # number -1 closes a document
    with path.open("w", encoding="ascii") as file:
        for chunk in corpus:
            for ids in ids_of(as_texts(chunk, tokenizer), vocabulary, threads):
                file.write(" ".join([lines[number] for number in ids.tolist()]))
                file.write(" ")
