"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


def argument(metavar: str, help: str) -> Any:
    """An argument that has to be given."""
    return typer.Argument(metavar=metavar, show_default=False, help=help)


def option(metavar: str, help: str, *names: str, default: bool | str = False) -> Any:
    """An option with a value; its default is shown if that, or how to say it, is told."""
    return typer.Option(*names, metavar=metavar, show_default=default, help=help)


def count(help: str, *names: str, least: int = 1, default: bool | str = True) -> Any:
    """An option for a number of things."""
    return typer.Option(*names, min=least, metavar="N", show_default=default, help=help)


def output(metavar: str, help: str) -> Any:
    """The option that says where the result goes."""
    return option(metavar, help, "--output", "-o")


def word_vectors(help: str) -> Any:
    """The option that names a file of word vectors."""
    return option("FILE", help, "--vectors", "-v")


# How a corpus is written, where its name does not tell.
CorpusFormat = StrEnum("CorpusFormat", ["txt", "csv", "tsv", "jsonl", "parquet", "xlsx"])
# What a search goes by.
SearchWay = StrEnum("SearchWay", ["hybrid", "keyword", "semantic"])
# What parts a document into words.
TokenizerName = StrEnum("TokenizerName", ["words", "whitespace"])
NormalizationName = StrEnum("NormalizationName", ["none", "folded"])


Corpus = Annotated[
    str,
    argument(
        "CORPUS",
        "Documents: a .txt, .csv, .tsv, .jsonl, .parquet or .xlsx file (text also .gz or .zst), a "
        "folder or a quoted pattern of them, or - for standard input.",
    ),
]
Model = Annotated[Path, argument("MODEL.dv", "What `deltavec fit` wrote.")]
TEXT_COLUMN = ("NAME", "The column that holds the text.", "--column", "-c")
Column = Annotated[
    str | None, option(*TEXT_COLUMN, default="text, or the only one that holds long text")
]
ModelColumn = Annotated[
    str | None,
    option(*TEXT_COLUMN, default="as the model was fitted; text, or the only one of long text"),
]
Format = Annotated[
    CorpusFormat | None,
    typer.Option(
        "--format",
        help="How the corpus is written, where its name does not tell.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    option(
        "NAME",
        "How text files are encoded: cp1252, latin-1, utf-16-le, ...",
        "--encoding",
        default="by their mark, else utf-8",
    ),
]
Delimiter = Annotated[
    str | None,
    option(
        "CHARACTER",
        "What parts the fields of csv and tsv files: a character, or comma, semicolon, tab, pipe.",
        "--delimiter",
        default="by their first rows",
    ),
]


def tokenizer_names(begun: str) -> list[str]:
    """The rules of ours that begin with what is typed, for the shell."""
    return [name.value for name in TokenizerName if name.value.startswith(begun)]


Tokenizer = Annotated[
    TokenizerName,
    typer.Option(
        help="words: runs of letters and digits, lower-cased. whitespace: for text that is "
        "tokenised already."
    ),
]
AnyTokenizer = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        metavar="NAME",
        autocompletion=tokenizer_names,
        help="words: runs of letters and digits, lower-cased. whitespace: for text that is "
        "tokenised already. Or code of others: jieba, sudachi, spacy:ja, module:function; the "
        "model stores its name.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Import the tokenizer that the model names, if it is code of others "
        "(module:function).",
    ),
]
Units = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What is counted of each word: words; grams, runs of 4 characters (grams-3: of 3); "
        "words+grams, both; auto: words, but runs of characters where many words are rare.",
    ),
]
Normalization = Annotated[
    NormalizationName,
    typer.Option(
        help="folded: write texts in one way first, so that composed and decomposed letters, "
        "full-width forms, ligatures, ß and ss, ς and σ, Arabic with and without vowel marks are "
        "the same. none: as they are written."
    ),
]
Threads = Annotated[int | None, count("How many cores to use; all by default.", default=False)]
MaxMemory = Annotated[
    float,
    typer.Option(
        min=0.001,
        metavar="GB",
        help="Keep counts of pairs of words in temporary files beyond this much memory.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Seed = Annotated[int, count("For the random part.", least=0)]

# Of the commands that ask a collection.
Collection = Annotated[Path, argument("REVIEWS.idx", "What `deltavec index build` wrote.")]
DocumentId = Annotated[str, argument("ID", "The id of a document.")]
K = Annotated[int, count("How many documents to show.", "-k")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show the words that make each document alike.")
]
Filter = Annotated[
    str | None,
    option(
        "CONDITION",
        "Only documents whose columns fulfil it: \"rating >= 4 and city == 'Rome'\".",
        "--filter",
        "-f",
    ),
]
By = Annotated[
    SearchWay | None,
    typer.Option(
        "--by",
        show_default="hybrid, if the collection has postings",
        help="hybrid: BM25 and cosine similarity in one score. keyword: BM25 alone. semantic: the "
        "cosine alone.",
    ),
]
Stems = Annotated[
    bool,
    typer.Option(
        "--stems/--no-stems",
        help="Find words in all their forms, which are learned from the documents; or as they are "
        "written.",
    ),
]
Length = Annotated[int, count("How many characters of each text to show.", least=0)]
