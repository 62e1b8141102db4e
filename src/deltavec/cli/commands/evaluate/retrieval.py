"""``deltavec evaluate retrieval``: search quality on a judged collection."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import reports as shared
from deltavec.cli.printing import console, duration, empty_table, print_json
from deltavec.cli.progress import stages

EXAMPLES = ("deltavec evaluate retrieval scifact",)


def retrieval(
    folder: Annotated[
        Path,
        options.argument(
            "FOLDER",
            "A judged collection in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/test.tsv.",
        ),
    ],
    split: Annotated[
        str, options.option("NAME", "Which judgments: a file in qrels.", default=True)
    ] = "test",
    embedder: shared.Embedder = None,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure search on documents and queries that people judged.

    Compares hybrid search with keyword search, semantic search, tf-idf and BM25 (if bm25s and
    PyStemmer are installed): nDCG@10, recall@100, MAP and MRR, and how far each is behind hybrid
    search in nDCG, with paired bootstrap errors.
    """
    with stages("starting") as work:
        from deltavec.lab.retrieval import MEASURES, retrieval_benchmark

        shared.find_modules_here(embedder)
        results = retrieval_benchmark(
            folder,
            split=split,
            embedder=embedder,
            seed=seed,
            threads=threads,
            on_stage=work.begin,
        )
    if as_json:
        print_json({"experiment": "retrieval", **asdict(results)})
        return
    table = empty_table()
    table.add_column("method", no_wrap=True)
    for name in (*MEASURES.values(), "behind in nDCG, x 1000"):
        table.add_column(name, justify="right")
    for method, found in results.methods.items():
        scores = (f"{found.mean[name]:.4f}" for name in MEASURES)
        table.add_row(method, *scores, found.gap("ndcg_10"))
    console().print(table)
    typer.echo(f"\n{duration(work.seconds)}")
