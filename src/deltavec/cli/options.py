"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class CorpusFormat(StrEnum):
    """How a corpus is written, where its name does not tell."""

    txt = "txt"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


class TokenizerName(StrEnum):
    """What parts a document into words."""

    words = "words"
    whitespace = "whitespace"


Corpus = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        show_default=False,
        help="Documents: a .txt, .csv, .tsv, .jsonl or .parquet file (text also .gz or .zst), a "
        "folder or a quoted pattern of them, or - for standard input.",
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL.dv", show_default=False, help="What `deltavec fit` wrote.")
]
Column = Annotated[
    str, typer.Option("--column", "-c", metavar="NAME", help="The column that holds the text.")
]
Format = Annotated[
    CorpusFormat | None,
    typer.Option(
        "--format",
        help="How the corpus is written, where its name does not tell.",
        show_default=False,
    ),
]
Tokenizer = Annotated[
    TokenizerName,
    typer.Option(
        help="words: runs of letters and digits, lower-cased. whitespace: for text that is "
        "tokenised already."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", show_default=False, help="How many cores to use; all by default."
    ),
]
MaxMemory = Annotated[
    float,
    typer.Option(
        min=0.001,
        metavar="GB",
        help="Keep counts of pairs of words in temporary files beyond this much memory.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
