"""``deltavec vectors``: word vectors from your own text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from deltavec.cli import options
from deltavec.cli.inputs import followed, open_corpus, rereadable
from deltavec.cli.outputs import lock_file, require_other_file
from deltavec.cli.printing import plural, print_result
from deltavec.cli.progress import stages

Method = StrEnum("Method", ["ppmi", "word2vec"])


def train(
    corpus: str,
    *,
    output: Path,
    method: Method = Method.ppmi,
    dimensions: int | None = None,
    window: int | None = None,
    min_count: int | None = None,
    epochs: int = 5,
    skip_gram: bool = False,
    max_memory: float = 2.0,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    seed: int = 0,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Train word vectors on your own text.

    `deltavec fit` with a recipe of the paper and without --vectors trains them too. Train them
    here to choose the method or to use them again.

    Parameters
    ----------
    output : VECTORS, -o
        A .safetensors (loads fastest), .txt or .vec (text) or .bin (binary) file.
    method
        ppmi: SVD of co-occurrence counts. word2vec: CBOW, as in the paper.
    dimensions : N >= 1
        Length of a vector.
        Default: 300 for ppmi, 100 for word2vec
    window : N >= 1
        Context words on each side.
        Default: 20 for ppmi, 5 for word2vec
    min_count : N >= 1
        Leave out rarer words.
        Default: 5; 2 or 1 for small corpora
    epochs : N >= 1
        Passes over the corpus (word2vec).
    skip_gram
        Skip-gram instead of CBOW (word2vec).

    Examples
    --------
    deltavec vectors train reviews.csv --column text -o reviews.safetensors
    deltavec vectors train reviews.csv --method word2vec -o reviews.vec
    """
    with stages("starting") as work:
        from deltavec.io.vectors.load import save_vectors
        from deltavec.io.vectors.write import WRITERS
        from deltavec.training import train_vectors

        require_other_file(output, corpus)
        with (
            lock_file(output, WRITERS),
            rereadable(open_corpus(corpus, files), work) as documents,
        ):
            vectors = train_vectors(
                followed(documents, work),
                method=method.value,
                dimensions=dimensions,
                window=window,
                min_count=min_count,
                epochs=epochs,
                skip_gram=skip_gram,
                max_memory=int(max_memory * 2**30),
                tokenizer=tokenizer.value,
                seed=seed,
                threads=threads,
                on_stage=work.begin,
                on_progress=work.reach,
            )
        work.begin("saving")
        save_vectors(vectors, output)
    size = {"words": len(vectors), "dimensions": vectors.dimensions}
    record = {"vectors": output, "method": method.value, **size}
    shown = f"{plural(len(vectors), 'word')}, {vectors.dimensions} dimensions, by {method.value}"
    then = ("fit", corpus, "--vectors", output, "-o", output.with_suffix(".dv"))
    print_result(as_json, record, {"vectors": shown}, work, saved=output, then=then)
