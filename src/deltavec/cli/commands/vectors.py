"""``deltavec vectors``: word vectors from your own text."""

from __future__ import annotations

from pathlib import Path

from deltavec.cli import options
from deltavec.cli.inputs import followed, open_corpus, rereadable
from deltavec.cli.outputs import lock_file, require_other_file
from deltavec.cli.printing import plural, print_result
from deltavec.cli.progress import stages


def train(
    corpus: str,
    *,
    output: Path,
    dimensions: int = 300,
    window: int = 20,
    min_count: int | None = None,
    max_memory: float = 2.0,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    seed: int = 0,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Train word vectors on your own text.

    The method is an SVD of co-occurrence counts. `deltavec fit` with a recipe of the paper and
    without --vectors trains them too. Train them here to use them again.

    Parameters
    ----------
    output : VECTORS, -o
        A .safetensors (loads fastest), .txt or .vec (text) or .bin (binary) file.
    dimensions : N >= 1
        Length of a vector.
    window : N >= 1
        Context words on each side.
    min_count : N >= 1
        Leave out rarer words.
        Default: 5; 2 or 1 for small corpora

    Examples
    --------
    deltavec vectors train reviews.csv --column text -o reviews.safetensors
    deltavec vectors train reviews.csv --dimensions 100 -o reviews.vec
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
                dimensions=dimensions,
                window=window,
                min_count=min_count,
                max_memory=int(max_memory * 2**30),
                tokenizer=tokenizer.value,
                seed=seed,
                threads=threads,
                on_stage=work.begin,
            )
        work.begin("saving")
        save_vectors(vectors, output)
    size = {"words": len(vectors), "dimensions": vectors.dimensions}
    record = {"vectors": output, **size}
    shown = f"{plural(len(vectors), 'word')}, {vectors.dimensions} dimensions"
    then = ("fit", corpus, "--vectors", output, "-o", output.with_suffix(".dv"))
    print_result(as_json, record, {"vectors": shown}, work, saved=output, then=then)
