"""``deltavec evaluate``: the paper's experiments on your own data, with a report."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import options
from deltavec.cli.inputs import open_corpus, require_folder_of, require_rereadable
from deltavec.cli.printing import console, duration, print_json, require_usage, table, visible
from deltavec.cli.progress import stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.lab.results import Results

MOST_PROBLEMS = 5  # columns that fit on a screen

Method = StrEnum("Method", ["ppmi", "word2vec"])


@dataclass(frozen=True)
class MethodOptions:
    """Methods.

    The options of every experiment of the paper: which methods it compares.

    Parameters
    ----------
    vectors : FILE, -v
        Word vectors. By default they are trained on the texts.
    vectors_method
        How to train them; the paper used word2vec.
        Default: ppmi
    skip : NAMES
        Baselines to skip: doc2vec, tf-idf, lsa, separated by commas.
    embedder : MODULE:FUNCTION
        Your own function from a list of texts to a matrix, as one more column.
    """

    vectors: Path | None = None
    vectors_method: Method | None = None
    skip: str = ""
    embedder: str | None = None
    seed: int = 0
    threads: int | None = None


def reviews(
    corpus: str,
    *,
    group_column: str,
    output: Path,
    k: str = "1-20",
    documents_per_location: int = 50,
    locations: int = 60,
    kind_column: str | None = None,
    methods: MethodOptions = MethodOptions(),
    doc2vec_k: str | None = None,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    as_json: bool = False,
) -> None:
    """Measure which recipe tells locations apart, by their reviews.

    Documents are k reviews of one location, drawn without replacement. The score of a method is
    the area under the ROC curve of its cosines over all pairs: are documents of one location
    closer than others? Word counts and vectors come from the whole file.

    Parameters
    ----------
    group_column : NAME
        The column with a review's location.
    output : REPORT, -o
        The folder for results.json, report.md and report.html. The same command resumes from
        it.
    k : NUMBERS, --reviews-per-document, -k
        The number of reviews in a document, for each problem: 1-20, or 1,5,10.
    documents_per_location : N >= 2
        The number of documents per location.
    locations : N >= 2
        The number of locations: those with the most reviews.
    kind_column : NAME
        The column with a location's kind; each kind gets the same share of the locations, if
        the data allow.
    doc2vec_k : NUMBERS
        Train doc2vec, which is slow, for these only.
        Default: as -k

    Examples
    --------
    deltavec evaluate reviews reviews.parquet --group-column location --skip doc2vec -o report
    deltavec evaluate reviews reviews.parquet --group-column location -k 1,5 --doc2vec-k 1 -o few
    """
    settings: dict[str, Any] = {
        "group_column": group_column,
        "kind_column": kind_column,
        "ks": parse_numbers(k, "'--reviews-per-document' / '-k'"),
        "documents_per_location": documents_per_location,
        "locations": locations,
        "doc2vec_ks": doc2vec_k and parse_numbers(doc2vec_k, "'--doc2vec-k'"),
        "tokenizer": tokenizer.value,
    }
    require_rereadable(corpus)
    source = open_corpus(corpus, files)

    from deltavec.lab.reviews.benchmark import review_benchmark

    run_experiment(partial(review_benchmark, source, **settings), output, as_json, methods)


def parse_numbers(text: str, option: str) -> list[int]:
    """The whole numbers of a text such as ``1-5,10``."""
    found: set[int] = set()
    for piece in map(str.strip, text.split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        span = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        message = f"expected numbers from 1 on such as 1-20 or 1,5,10, got {text!r}"
        require_usage(span and span[0] >= 1, option, message)
        found.update(span)
    return sorted(found)


def duplicate_questions(
    path: Path,
    *,
    output: Path,
    pairs: int = 10000000,
    methods: MethodOptions = MethodOptions(),
    encoding: str | None = None,
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    as_json: bool = False,
) -> None:
    """Measure which recipe finds duplicate questions.

    The score of a method is the area under the ROC curve of its cosines over pairs of questions:
    are duplicates closer than others? Weights come from the forum's own questions, vectors from
    the questions of all forums or from a file.

    Parameters
    ----------
    path : PATH
        CQADupStack (a folder or zip with <forum>_questions.json), or a table of pairs with the
        columns forum, label, text_a and text_b.
    output : REPORT, -o
        The folder for results.json, report.md and report.html. The same command resumes from
        it.
    pairs : N >= 2
        Compare at most this many pairs of a forum: all duplicates, and others at random.

    Examples
    --------
    deltavec evaluate duplicate-questions cqadupstack --skip doc2vec -o report
    deltavec evaluate duplicate-questions pairs.csv --vectors glove.txt -o report
    """
    from deltavec.lab.questions.benchmark import duplicate_questions_benchmark

    benchmark = partial(
        duplicate_questions_benchmark,
        path,
        encoding=encoding,
        most_pairs=pairs,
        tokenizer=tokenizer.value,
    )
    run_experiment(benchmark, output, as_json, methods)


def lee(
    *, output: Path | None = None, methods: MethodOptions = MethodOptions(), as_json: bool = False
) -> None:
    """Measure how well each recipe agrees with people.

    People rated the similarity of 50 news stories. The score of a method is Pearson's correlation
    of its cosines with the ratings, once with the center and the common component of all 350
    stories, once with those of the 50. Nothing is downloaded.

    Parameters
    ----------
    output : REPORT, -o
        The folder for results.json, report.md and report.html.

    Examples
    --------
    deltavec evaluate lee
    deltavec evaluate lee --vectors-method word2vec -o report
    """
    from deltavec.lab.lee import lee_benchmark
    from deltavec.lab.report.tables import LEE

    run_experiment(lee_benchmark, output, as_json, methods)
    if not as_json:
        typer.echo("published: " + ", ".join(f"{name} about {r:g}" for name, r in LEE.items()))


def retrieval(
    folder: Path,
    *,
    split: str = "test",
    embedder: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Measure search on documents and queries that people judged.

    Compares hybrid search with keyword search, semantic search, tf-idf and BM25 (if bm25s and
    PyStemmer are installed): nDCG@10, recall@100, MAP and MRR, and how far each is behind hybrid
    search in nDCG, with paired bootstrap errors.

    Parameters
    ----------
    folder : FOLDER
        A judged collection in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/test.tsv.
    split : NAME
        Which judgments: a file in qrels.
    embedder : MODULE:FUNCTION
        Your own function from a list of texts to a matrix, as one more column.

    Examples
    --------
    deltavec evaluate retrieval scifact
    """
    with stages("starting") as work:
        from deltavec.lab.retrieval import MEASURES, retrieval_benchmark

        find_modules_here(embedder)
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
    rows = [
        [method, *(f"{found.mean[name]:.4f}" for name in MEASURES), found.gap("ndcg_10")]
        for method, found in results.methods.items()
    ]
    columns = (*MEASURES.values(), "behind in nDCG, x 1000")
    console().print(table(["method", *(f">{name}" for name in columns)], rows))
    typer.echo(f"\n{duration(work.seconds)}")


def run_experiment(
    benchmark: Callable[..., Results], folder: Path | None, as_json: bool, methods: MethodOptions
) -> None:
    """Run an experiment, write its report to a folder, and print its scores.

    A run that is interrupted or fails leaves a report of the problems that are finished.
    """
    from deltavec.lab.experiment import Progress
    from deltavec.lab.report.report import write_report

    trained = methods.vectors is None or methods.vectors_method is None
    require_usage(trained, "'--vectors-method'", "not with --vectors")
    finished: list[Results] = []
    with stages("starting") as work:
        if folder is not None:
            require_report_folder(folder)
        find_modules_here(methods.embedder)
        try:
            results = benchmark(
                vectors=methods.vectors,
                vectors_method=(methods.vectors_method or Method.ppmi).value,
                skip=[name.strip() for name in methods.skip.split(",") if name.strip()],
                embedder=methods.embedder,
                folder=folder,
                progress=Progress(work.begin, work.reach, work.say, finished.append),
                seed=methods.seed,
                threads=methods.threads,
            )
        finally:
            if finished and folder is not None:
                write_report(finished[-1], folder)
    if as_json:
        rows = results.problems
        print_json(
            {
                "report": folder,
                "seconds": work.seconds,
                "complete": results.complete,
                "scores": {row.name: row.scores for row in rows},
                "lengths": {row.name: row.lengths and asdict(row.lengths) for row in rows},
                "details": {row.name: row.details for row in rows},
            }
        )
        return
    print_scores(results)
    report = "" if folder is None else f"; the report is {folder / 'report.html'}"
    typer.echo(f"\n{duration(work.seconds)}{report}")


def require_report_folder(path: Path) -> None:
    """Refuse a folder that a report cannot be written to; it may be new, empty or a report's."""
    from deltavec.lab.report.figures import require_matplotlib

    require_matplotlib()
    if not path.exists():
        require_folder_of(path)
    elif not path.is_dir():
        raise InputError(f"{path} is a file; expected the name of a folder for the report")
    elif any(path.iterdir()) and not [*path.glob("results.json"), *path.glob("vectors-*")]:
        raise InputError(f"{path} holds other files; name a new folder for the report")
    elif not os.access(path, os.W_OK):
        raise InputError(f"{path}: no permission to write to the folder")


def find_modules_here(embedder: str | None) -> None:
    """Let an embedder's module be found in the current folder, as Python itself would."""
    if embedder is not None:
        sys.path.insert(0, str(Path.cwd()))


def print_scores(results: Results) -> None:
    """Print the score of each method on each problem; of many problems, the range and the mean."""
    from rich.text import Text

    columns: dict[str, dict[str, float]] = {p.name: {**p.scores} for p in results.problems}
    if len(columns) > MOST_PROBLEMS:
        found = {m: [s[m] for s in columns.values() if m in s] for m in results.methods}
        columns = {
            "lowest": {method: min(scores) for method, scores in found.items()},
            "mean": {method: sum(scores) / len(scores) for method, scores in found.items()},
            "highest": {method: max(scores) for method, scores in found.items()},
        }
    rows = []
    for method in results.methods:
        cells = [Text(visible(method))]
        for scores in columns.values():
            score = scores.get(method)
            style = "bold green" if score == max(scores.values()) else ""
            cells.append(Text("" if score is None else f"{score:.4f}", style))
        rows.append(cells)
    shown = table(["method", *(f">{name}" for name in columns)], rows, title=results.measure)
    shown.columns[0].no_wrap = True
    console().print(shown)
