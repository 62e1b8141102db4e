"""The commands, put together."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Annotated

import typer

import deltavec
from deltavec.cli.commands import (
    cluster,
    demo,
    duplicates,
    embed,
    explain,
    export,
    fit,
    info,
    keywords,
    map,
    search,
    serve,
    similar,
    tune,
    vectors,
)
from deltavec.cli.commands.evaluate import duplicate_questions, lee, retrieval, reviews
from deltavec.cli.commands.index import add as index_add
from deltavec.cli.commands.index import build as index_build
from deltavec.cli.commands.index import compact as index_compact
from deltavec.cli.commands.index import remove as index_remove
from deltavec.cli.commands.index import words as index_words
from deltavec.cli.failures import reported

QUICK_START = """\b
Begin with:
  deltavec demo
  deltavec fit reviews.csv --column text -o reviews.dv
  deltavec embed reviews.dv reviews.csv -o reviews.parquet"""


def command_group(purpose: str, epilog: str | None = None) -> typer.Typer:
    """An empty group of commands.

    Its help is plain rather than typer's rich one: that answers in half the time, and pipes well.
    """
    return typer.Typer(
        help=purpose,
        epilog=epilog,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def add(group: typer.Typer, commands: Mapping[str, ModuleType]) -> None:
    """Add the command that each module holds under its name, with its examples."""
    for name, module in commands.items():
        lines = "\n".join(f"  {example}" for example in module.EXAMPLES)
        heading = "Example" if len(module.EXAMPLES) == 1 else "Examples"
        group.command(name, epilog=f"\b\n{heading}:\n{lines}")(
            reported(getattr(module, name.replace("-", "_")))
        )


def add_group(
    whole: typer.Typer, name: str, purpose: str, commands: Mapping[str, ModuleType]
) -> None:
    """Add commands that share the beginning of their names."""
    group = command_group(purpose)
    add(group, commands)
    whole.add_typer(group, name=name)


def print_version(asked: bool) -> None:
    """Print the version and leave, if that is asked for."""
    if asked:
        typer.echo(f"deltavec {deltavec.__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


def assembled() -> typer.Typer:
    """The whole command line."""
    whole = command_group("Document vectors learned from your own text.", QUICK_START)
    whole.callback()(options)
    add(whole, {"demo": demo})
    add_group(whole, "vectors", "Word vectors from your own text.", {"train": vectors})
    add(whole, {"fit": fit, "embed": embed, "explain": explain, "info": info})
    add(whole, {"export": export})
    purpose = "Collections: documents and their vectors, to search."
    collections = {"build": index_build, "add": index_add, "remove": index_remove}
    collections |= {"compact": index_compact, "words": index_words}
    add_group(whole, "index", purpose, collections)
    add(whole, {"search": search, "similar": similar, "duplicates": duplicates})
    add(whole, {"cluster": cluster, "keywords": keywords, "map": map, "serve": serve})
    experiments = {"reviews": reviews, "duplicate-questions": duplicate_questions, "lee": lee}
    experiments |= {"retrieval": retrieval}
    purpose = "Rerun the paper's experiments on your own data; each writes a report."
    add_group(whole, "evaluate", purpose, experiments)
    add(whole, {"tune": tune})
    return whole


app = assembled()
