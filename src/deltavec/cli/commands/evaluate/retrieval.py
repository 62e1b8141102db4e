"""``deltavec evaluate retrieval``: how well documents are ranked, on a judged collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import options as shared
from deltavec.cli.commands.evaluate.reports import reported
from deltavec.cli.printing import console, empty_table, print_json

if TYPE_CHECKING:
    from deltavec.lab.retrieval.run import RetrievalResults

EXAMPLES = ("deltavec evaluate retrieval scifact -o report",)


def retrieval(
    folder: Annotated[
        Path,
        options.argument(
            "FOLDER",
            "A judged collection as BEIR lays it out: corpus.jsonl, queries.jsonl and "
            "qrels/test.tsv.",
        ),
    ],
    output: shared.OptionalFolder = None,
    split: Annotated[
        str, options.option("NAME", "Whose judgements: a file in qrels.", default=True)
    ] = "test",
    embedder: shared.Embedder = None,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure search on documents and queries that people judged.

    Compares the default search with its two parts, tf-idf, and BM25 (if the package bm25s is
    installed; with stems if PyStemmer is too): nDCG@10, recall@100, MAP and MRR, and how far each
    is behind, with paired bootstrap errors.
    """
    with reported(output, embedder) as keeper:
        from deltavec.lab.retrieval.run import retrieval_benchmark, write_retrieval

        results = retrieval_benchmark(
            folder,
            split=split,
            embedder=embedder,
            seed=seed,
            threads=threads,
            on_stage=keeper.progress.stage,
        )
        if output is not None:
            write_retrieval(results, output)
    if as_json:
        print_json(results.as_dict())
        return
    print_rankings(results)
    typer.echo(f"\n{keeper.ending}")


def print_rankings(results: RetrievalResults) -> None:
    """Print the scores, and how far each is behind in nDCG@10."""
    from deltavec.lab.retrieval.run import MEASURES, OURS, gap_text

    table = empty_table()
    table.add_column("method", no_wrap=True)
    for name in (*MEASURES.values(), "behind in nDCG, x 1000"):
        table.add_column(name, justify="right")
    for method, found in results.methods.items():
        gap = "" if method == OURS else gap_text(found, "ndcg_10")
        table.add_row(method, *(f"{found.mean[name]:.4f}" for name in MEASURES), gap)
    console().print(table)
