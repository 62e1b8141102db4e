"""Models and word vectors from the user's own corpus, wherever its documents are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from deltavec.core import fitting
from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY, ids_of
from deltavec.core.learning.corpora import LocalCorpus
from deltavec.core.learning.ppmi import DIMENSIONS, WINDOW, ppmi_vectors
from deltavec.core.learning.vocabulary_builder import frequent_words, word_counts
from deltavec.core.text.batches import Tokenizer, as_corpus, as_text_batch, require_reiterable
from deltavec.core.threads import thread_count
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import needing
from deltavec.io.artifacts.atomic import scratch_folder
from deltavec.io.corpus.corpus import as_documents

METHODS = ("ppmi", "word2vec")
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
        ``ppmi``: an SVD of co-occurrence counts; quick, and the same bits every
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
    require_one_of("method", method, METHODS)
    require_sizes(dimensions=dimensions, window=window, min_count=min_count, epochs=epochs)
    source = LocalCorpus(
        require_reiterable(as_corpus(corpus)),
        tokenizer=tokenizer,
        threads=threads,
        max_memory=max_memory,
        on_stage=on_stage,
    )
    if method == "ppmi":
        return ppmi_vectors(
            source,
            dimensions=dimensions or DIMENSIONS,
            window=window or WINDOW,
            min_count=min_count,
            seed=seed,
        )
    parameters = {
        "vector_size": dimensions or 100,
        "window": window or 5,
        "epochs": epochs,
        "sg": int(skip_gram),
        "seed": seed,
        "callbacks": [epoch_callback(epochs, on_progress)],
    }
    return word2vec_vectors(source, min_count, parameters)


def require_sizes(**sizes: int | None) -> None:
    """Refuse sizes that make no sense, before any work; None is the usual one."""
    for name, size in sizes.items():
        if size is not None:
            require_whole(name, size)


def word2vec_vectors(
    corpus: LocalCorpus, min_count: int | None, parameters: Mapping[str, Any]
) -> WordVectors:
    """Vectors that gensim's word2vec trains, with its parameters, on a file of the known words.

    From a file gensim works without the interpreter; from Python objects it does not.
    """
    from gensim.models import Word2Vec

    corpus.begin("learning the vocabulary")
    vocabulary = frequent_words(word_counts(corpus.corpus, corpus.tokenizer), min_count)
    # A name that holds no white space, whatever the tokenizer made: its number.
    names = [str(number) for number in range(len(vocabulary))]
    with scratch_folder() as folder:
        corpus.begin("writing words")
        path = folder / "words.txt"
        write_words(path, corpus, names, vocabulary)
        corpus.begin("training word2vec")
        model = Word2Vec(
            corpus_file=str(path),
            min_count=1,  # rarer words are not in the file
            negative=5,
            sample=1e-3,
            alpha=0.05,
            workers=thread_count(corpus.threads),
            **parameters,
        )
    places = model.wv.key_to_index
    kept = [number for number, name in enumerate(names) if name in places]
    rows = model.wv.vectors[[places[names[number]] for number in kept]]
    return WordVectors([vocabulary.words[number] for number in kept], rows)


def epoch_callback(epochs: int, on_progress: Callable[[float], None] | None) -> Any:
    """What gensim calls after each epoch: it passes on the share of the training that is done.

    Raises
    ------
    MissingDependencyError
        If gensim is not there.
    """
    with needing("lab", "word2vec needs gensim (Python 3.11 to 3.13)"):
        from gensim.models.callbacks import CallbackAny2Vec

    class Epochs(CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            if on_progress is not None:
                on_progress(self.done / epochs)

    return Epochs()


def write_words(path: Path, corpus: LocalCorpus, names: list[str], vocabulary: Vocabulary) -> None:
    """Write the corpus' known words to a file, one document a line."""
    lines = [*names, "\n"]  # number -1 closes a document
    with path.open("w", encoding="ascii") as file:
        for chunk in corpus.corpus:
            for ids in ids_of(as_text_batch(chunk, corpus.tokenizer), vocabulary, corpus.threads):
                file.write(" ".join([lines[number] for number in ids.tolist()]))
                file.write(" ")
