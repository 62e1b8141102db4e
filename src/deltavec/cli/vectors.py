"""``deltavec vectors train``: word vectors from one's own text."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.corpora import followed, opened, rereadable
from deltavec.cli.outputs import checked_file, require_other_file
from deltavec.cli.printing import counted, duration, print_facts, print_json
from deltavec.cli.progress import stages

EXAMPLES = (
    "deltavec vectors train reviews.csv --column text -o reviews.safetensors",
    "deltavec vectors train reviews.csv --method word2vec -o reviews.vec",
)


class Method(StrEnum):
    """How word vectors are made."""

    ppmi = "ppmi"
    word2vec = "word2vec"


def train(
    corpus: options.Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="VECTORS",
            show_default=False,
            help="Where to write them: .safetensors (quickest to load), .txt or .vec (word2vec "
            "text), .bin (word2vec binary).",
        ),
    ],
    method: Annotated[
        Method,
        typer.Option(
            help="ppmi: from counts of which words stand near each other, the same every time. "
            "word2vec: CBOW, as in the paper."
        ),
    ] = Method.ppmi,
    dimensions: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", show_default="300 for ppmi, 100 for word2vec", help="Their length."
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default="20 for ppmi, 5 for word2vec",
            help="How many words on each side are near.",
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default="5; 2 or 1 for small corpora",
            help="Leave out words that occur less often.",
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Passes over the corpus (word2vec).")
    ] = 5,
    skip_gram: Annotated[
        bool, typer.Option("--skip-gram", help="Skip-gram instead of CBOW (word2vec).")
    ] = False,
    max_memory: options.MaxMemory = 2.0,
    column: options.Column = "text",
    format: options.Format = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For the random part.")] = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Train word vectors on your own text.

    `deltavec fit` does the same for a recipe of the paper's when no vectors are given; train them
    here to choose how, or to use them again.
    """
    with stages("starting") as work:
        from deltavec.io.vector_writing import WRITERS
        from deltavec.io.word_vectors import save_vectors
        from deltavec.training import train_vectors

        begun = time.perf_counter()
        checked_file(output, WRITERS)
        require_other_file(output, corpus)
        with rereadable(opened(corpus, column, format), work) as documents:
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
        seconds = time.perf_counter() - begun
    if as_json:
        print_json(
            {
                "vectors": output,
                "method": method.value,
                "words": len(vectors),
                "dimensions": vectors.dimensions,
                "seconds": round(seconds, 3),
            }
        )
        return
    print_facts(
        {
            "vectors": f"{counted(len(vectors), 'word')}, {vectors.dimensions} dimensions, "
            f"by {method.value}",
            "time": duration(seconds),
            "saved": str(output),
        }
    )
