"""The commands, put together."""

from __future__ import annotations

from types import ModuleType
from typing import Annotated

import typer

import deltavec
from deltavec.cli import (
    cluster,
    demo,
    duplicates,
    embed,
    evaluate,
    explain,
    fit,
    index_add,
    index_build,
    info,
    keywords,
    search,
    serve,
    similar,
    tune,
    vectors,
)
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


def add(group: typer.Typer, name: str, module: ModuleType) -> None:
    """Add the command that a module holds under its name, with its examples."""
    lines = "\n".join(f"  {example}" for example in module.EXAMPLES)
    heading = "Example" if len(module.EXAMPLES) == 1 else "Examples"
    group.command(name, epilog=f"\b\n{heading}:\n{lines}")(
        reported(getattr(module, name.replace("-", "_")))
    )


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
    whole = command_group(
        "Document vectors from word vectors, weighted by your own corpus.", QUICK_START
    )
    whole.callback()(options)
    add(whole, "demo", demo)
    word_vectors = command_group("Word vectors from your own text.")
    add(word_vectors, "train", vectors)
    whole.add_typer(word_vectors, name="vectors")
    for name, module in (("fit", fit), ("embed", embed), ("explain", explain), ("info", info)):
        add(whole, name, module)
    collections = command_group("Collections: documents and their vectors, to search.")
    add(collections, "build", index_build)
    add(collections, "add", index_add)
    whole.add_typer(collections, name="index")
    for name, module in (
        ("search", search),
        ("similar", similar),
        ("duplicates", duplicates),
        ("cluster", cluster),
        ("keywords", keywords),
        ("serve", serve),
    ):
        add(whole, name, module)
    experiments = command_group(evaluate.PURPOSE)
    for name, module in evaluate.commands().items():
        add(experiments, name, module)
    whole.add_typer(experiments, name="evaluate")
    add(whole, "tune", tune)
    return whole


app = assembled()
