"""Arguments and options: read from the signatures and docstrings of commands.

Positional parameters are arguments, keyword parameters are options. The section Parameters of the
docstring has a line for each one: ``name : METAVAR >= 1, -n``, with a bound (or ``0..1``) and more
names if there are any. A flag has no metavar. Below it is the help, and perhaps ``Default:`` with
what help shows as the default. A command does not describe the following ones unless it means
something else by them.

Parameters
----------
corpus : CORPUS
    Documents: a .txt, .csv, .tsv, .jsonl, .parquet or .xlsx file (text also .gz or .zst), a folder,
    a quoted pattern, or - for standard input.
model : MODEL.dv
    What `deltavec fit` wrote.
collection : REVIEWS.idx
    What `deltavec index build` wrote.
id : ID
    The id of a document.
id_column : NAME
    The column of unique ids.
    Default: row numbers, from 0
encoding : NAME
    Encoding of text files: cp1252, latin-1, utf-16-le, ...
    Default: by byte order mark, else utf-8
tokenizer
    words: runs of letters and digits, lower-cased. whitespace: for tokenized text.
units : NAME
    Features: words; grams, character 4-grams (grams-3: 3-grams); words+grams; auto: words, or
    character n-grams if many words are rare.
normalization
    folded: Unicode compatibility normalization and case folding; drops Arabic vowel marks. none:
    texts as they are.
k : N >= 1, -k
    Number of documents to show.
explain
    Show the words behind each score.
filter : CONDITION, -f
    Only documents that match: "rating >= 4 and city == 'Rome'".
by
    hybrid: BM25 and cosine similarity. keyword: BM25. semantic: cosine similarity.
    Default: hybrid
broad
    Add .2 of the mean score of a document's ten nearest neighbors to its own.
length : N >= 0
    Number of characters of each text to show.
stems
    Match words by stems, which are learned from the documents.
purge
    Delete removed text from disk at once; this rewrites the collection.
seed : N >= 0
    Seed of the random numbers.
max_memory : GB >= 0.001
    Beyond this, co-occurrence counts go to temporary files.
trust
    Import a third-party tokenizer that the model names (module:function).
threads : N >= 1
    Number of cores; all by default.
as_json : --json
    Print one JSON object instead of text.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any, get_args, get_type_hints

import typer

from deltavec.docstrings import described

METAVAR = re.compile(r"(.*?)(?: >= ([\d.]+)| ([\d.]+)\.\.([\d.]+))?")


def decode_text(value: Any) -> Any:
    """The text of an argument, which is UTF-8 whatever the locale says.

    Python decodes arguments by the locale, and keeps bytes that it cannot decode as surrogates.
    """
    try:
        return value and value.encode("ascii", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value


# Text that is no path. What is annotated are more settings of Typer.
Text = Annotated[str, {"callback": decode_text}]
OptionalText = Annotated[str | None, {"callback": decode_text}]
CorpusFormat = StrEnum("CorpusFormat", ["txt", "csv", "tsv", "jsonl", "parquet", "xlsx"])
SearchWay = StrEnum("SearchWay", ["hybrid", "keyword", "semantic"])
TokenizerName = StrEnum("TokenizerName", ["words", "whitespace"])
NormalizationName = StrEnum("NormalizationName", ["none", "folded"])


@dataclass(frozen=True)
class CorpusOptions:
    """Reading files.

    The options of every command that reads a corpus.

    Parameters
    ----------
    column : NAME, -c
        The column that holds the text.
        Default: as the model or the collection was made; text, or the only one of long text
    format
        The file format, if not by suffix.
    delimiter : CHARACTER
        Field separator of csv and tsv files: a character, or comma, semicolon, tab, pipe.
        Default: detected
    whole_files
        Read each .txt file as one document with its path as id, not one per line.
        Default: for a folder of many short files
    """

    column: str | None = None
    format: CorpusFormat | None = None
    encoding: str | None = None
    delimiter: str | None = None
    whole_files: bool | None = None


SHARED = described(__doc__)


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer sees it; a parameter that is a group becomes one option per field."""
    taken: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    texts = SHARED | described(command.__doc__)
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            taken.append(declared(parameter, texts))
            continue
        groups[parameter.name] = group
        own, section = SHARED | described(group.__doc__), str(group.__doc__).partition(".")[0]
        for name, hint in get_type_hints(group, include_extras=True).items():
            one = parameter.replace(name=name, annotation=hint, default=getattr(group, name))
            taken.append(declared(one, own, section))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in taken}  # evaluated once, here
    return run


def declared(
    parameter: inspect.Parameter, texts: dict[str, tuple[str, str]], section: str | None = None
) -> inspect.Parameter:
    """A parameter with its declaration for Typer, which it may have already."""
    hint, default, name = parameter.annotation, parameter.default, parameter.name
    settings: Any = {}
    if hasattr(hint, "__metadata__"):
        hint, settings = hint.__origin__, hint.__metadata__[0]
    if not isinstance(settings, dict):
        return parameter
    line, (help, _, shown) = texts[name][0].split(", "), texts[name][1].partition(" Default: ")
    names = [one for one in line if one.startswith("-")]
    found = METAVAR.fullmatch("" if line[0] in names else line[0])
    assert found is not None
    settings = {"metavar": found[1] or None, "help": help, **settings}
    if parameter.kind is not parameter.KEYWORD_ONLY:
        info: Any = typer.Argument(show_default=False, **settings)
        return parameter.replace(annotation=Annotated[hint, info])
    if len(name) > 1 and not any(one.startswith("--") for one in names):
        is_switch = bool in (hint, *get_args(hint)) and default is not False
        long = name.replace("_", "-")
        names = [f"--{long}/--no-{long}" if is_switch else f"--{long}", *names]
    bounds = (found[2] or found[3], found[4])
    least, most = (None if one is None else json.loads(one) for one in bounds)
    show = shown or default not in (None, "")
    info = typer.Option(
        ..., *names, min=least, max=most, show_default=show, rich_help_panel=section, **settings
    )
    return parameter.replace(annotation=Annotated[hint, info])
