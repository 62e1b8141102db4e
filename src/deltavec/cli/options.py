"""Arguments and options that several commands share."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


def decode_text(value: str | None) -> str | None:
    """The text of an argument, which is UTF-8 whatever the locale says.

    Python decodes arguments by the locale, and keeps bytes that it cannot decode as surrogates.
    """
    try:
        return value and value.encode("ascii", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value


def argument(metavar: str, help: str, callback: Any = None) -> Any:
    """A required argument."""
    return typer.Argument(metavar=metavar, show_default=False, help=help, callback=callback)


def text(metavar: str, help: str) -> Any:
    """A required argument that is text."""
    return argument(metavar, help, decode_text)


def option(
    metavar: str, help: str, *names: str, value: Any = ..., default: bool | str = False
) -> Any:
    """An option with a value; `default` says whether, or as which text, help shows it."""
    return typer.Option(value, *names, metavar=metavar, show_default=default, help=help)


def count(
    help: str, *names: str, value: Any = ..., least: int = 1, default: bool | str = True
) -> Any:
    """An option for a whole number."""
    return typer.Option(value, *names, min=least, metavar="N", show_default=default, help=help)


def output(metavar: str, help: str, value: Any = ...) -> Any:
    """The option for where to write the result."""
    return option(metavar, help, "--output", "-o", value=value)


def word_vectors(help: str, value: Any = ...) -> Any:
    """The option for a file of word vectors."""
    return option("FILE", help, "--vectors", "-v", value=value)


CorpusFormat = StrEnum("CorpusFormat", ["txt", "csv", "tsv", "jsonl", "parquet", "xlsx"])
SearchWay = StrEnum("SearchWay", ["hybrid", "keyword", "semantic"])
TokenizerName = StrEnum("TokenizerName", ["words", "whitespace"])
NormalizationName = StrEnum("NormalizationName", ["none", "folded"])


Corpus = Annotated[
    str,
    argument(
        "CORPUS",
        "Documents: a .txt, .csv, .tsv, .jsonl, .parquet or .xlsx file (text also .gz or .zst), a "
        "folder, a quoted pattern, or - for standard input.",
    ),
]
Model = Annotated[Path, argument("MODEL.dv", "What `deltavec fit` wrote.")]
IdColumn = Annotated[
    str | None,
    option("NAME", "The column of unique ids.", "--id-column", default="row numbers, from 0"),
]
Encoding = Annotated[
    str | None,
    option(
        "NAME",
        "Encoding of text files: cp1252, latin-1, utf-16-le, ...",
        "--encoding",
        default="by byte order mark, else utf-8",
    ),
]


@dataclass(frozen=True)
class CorpusOptions:
    """Reading files.

    The options of every command that reads a corpus.
    """

    column: Annotated[
        str | None,
        option(
            "NAME",
            "The column that holds the text.",
            "--column",
            "-c",
            default="as the model or the collection was made; text, or the only one of long text",
        ),
    ] = None
    format: Annotated[
        CorpusFormat | None,
        typer.Option("--format", help="The file format, if not by suffix.", show_default=False),
    ] = None
    encoding: Encoding = None
    delimiter: Annotated[
        str | None,
        option(
            "CHARACTER",
            "Field separator of csv and tsv files: a character, or comma, semicolon, tab, pipe.",
            "--delimiter",
            default="detected",
        ),
    ] = None
    whole_files: Annotated[
        bool | None,
        typer.Option(
            "--whole-files/--no-whole-files",
            help="Read each .txt file as one document with its path as id, not one per line.",
            show_default="for a folder of many short files",
        ),
    ] = None


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer sees it: a parameter that is a group becomes one option per field."""
    taken: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            section = str(parameter.annotation.__doc__).partition(".")[0]
            for name, hint in get_type_hints(parameter.annotation, include_extras=True).items():
                info = copy.copy(hint.__metadata__[0])
                info.rich_help_panel = section
                hint, default = (
                    Annotated[hint.__origin__, info],
                    getattr(parameter.annotation, name),
                )
                taken.append(parameter.replace(name=name, annotation=hint, default=default))
        else:
            taken.append(parameter)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in taken}  # evaluated once, here
    return run


def tokenizer_names(begun: str) -> list[str]:
    """The built-in tokenizers that begin so, for the shell's completion."""
    return [name.value for name in TokenizerName if name.value.startswith(begun)]


Tokenizer = Annotated[
    TokenizerName,
    typer.Option(
        help="words: runs of letters and digits, lower-cased. whitespace: for tokenized text."
    ),
]
AnyTokenizer = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        metavar="NAME",
        autocompletion=tokenizer_names,
        help="words: runs of letters and digits, lower-cased. whitespace: for tokenized text. Or a "
        "third-party tokenizer: jieba, sudachi, spacy:ja, module:function.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Import a third-party tokenizer that the model names (module:function)."
    ),
]
Units = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Features: words; grams, character 4-grams (grams-3: 3-grams); words+grams; auto: "
        "words, or character n-grams if many words are rare.",
    ),
]
Normalization = Annotated[
    NormalizationName,
    typer.Option(
        help="folded: Unicode compatibility normalization and case folding; drops Arabic vowel "
        "marks. none: texts as they are."
    ),
]
Threads = Annotated[int | None, count("Number of cores; all by default.", default=False)]
MaxMemory = Annotated[
    float,
    typer.Option(
        min=0.001, metavar="GB", help="Beyond this, co-occurrence counts go to temporary files."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Seed = Annotated[int, count("Seed of the random numbers.", least=0)]

# Options of commands that query a collection.
Collection = Annotated[Path, argument("REVIEWS.idx", "What `deltavec index build` wrote.")]
DocumentId = Annotated[str, text("ID", "The id of a document.")]
K = Annotated[int, count("Number of documents to show.", "-k")]
Explain = Annotated[bool, typer.Option("--explain", help="Show the words behind each score.")]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="CONDITION",
        callback=decode_text,
        show_default=False,
        help="Only documents that match: \"rating >= 4 and city == 'Rome'\".",
    ),
]
By = Annotated[
    SearchWay | None,
    typer.Option(
        "--by",
        show_default="hybrid, if the collection has postings",
        help="hybrid: BM25 and cosine similarity. keyword: BM25. semantic: cosine similarity.",
    ),
]
Broad = Annotated[
    bool,
    typer.Option(
        "--broad", help="Add .2 of the mean score of a document's ten nearest neighbors to its own."
    ),
]
Stems = Annotated[
    bool,
    typer.Option(
        "--stems/--no-stems", help="Match words by stems, which are learned from the documents."
    ),
]
Purge = Annotated[
    bool,
    typer.Option(
        "--purge", help="Delete removed text from disk at once; this rewrites the collection."
    ),
]
Length = Annotated[int, count("Number of characters of each text to show.", least=0)]
