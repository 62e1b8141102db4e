"""The commands, put together."""

from __future__ import annotations

import inspect
from importlib import import_module

import typer

import deltavec
from deltavec.cli.failures import reported
from deltavec.cli.help import Command, Group
from deltavec.cli.options import with_options
from deltavec.docstrings import summary

QUICK_START = """\b
Begin with:
  deltavec explore reviews.csv                      search your file in the browser
  deltavec index build reviews.csv -o reviews.idx   or build a collection of it
  deltavec search reviews.idx "a quiet room"        and search it here"""

GROUPS = {
    "vectors": "Train word vectors on your own text.",
    "index": "Build collections of documents, and change them.",
    "evaluate": "Rerun the paper's experiments, or judge search on your data.",
}
# Each command as it is typed. `index build` is `build` in commands/index.
COMMANDS = (
    *("explore", "demo", "vectors train", "fit", "embed", "explain", "info", "export"),
    *("index build", "index add", "index remove", "index compact", "index words"),
    *("index backup", "index refit", "index export"),
    *("search", "similar", "similar-pairs", "duplicates", "cluster", "keywords", "map", "serve"),
    "mcp",
    *("evaluate reviews", "evaluate duplicate-questions", "evaluate lee", "evaluate retrieval"),
    *("tune", "warm"),
)
MODULES = {
    "mcp": "serve",
    "similar": "search",
    "keywords": "search",
    "similar-pairs": "similar_pairs",
}
BY_ENVIRONMENT = {"serve": {"auto_envvar_prefix": "DELTAVEC"}}  # DELTAVEC_PORT, ...
EXAMPLES = "\n\nExamples\n--------\n"


def command_group(purpose: str, epilog: str | None = None) -> typer.Typer:
    """An empty group of commands.

    Its help is plain text. Typer's rich help takes twice as long and does not pipe well.
    """
    return typer.Typer(
        cls=Group,
        help=purpose,
        epilog=epilog,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def print_version(asked: bool) -> None:
    """Print the version and exit, if asked for."""
    if asked:
        typer.echo(f"deltavec {deltavec.__version__}")
        raise typer.Exit


def options(
    version: bool = typer.Option(
        False, "--version", callback=print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Options of the program itself."""


def assemble() -> typer.Typer:
    """The whole command line: the first word of a command names its module, the last its function.

    Its docstring is the help; the section Examples is shown below the options.
    """
    whole = command_group(
        "Search, deduplicate, cluster and explain your own documents.", QUICK_START
    )
    whole.callback()(options)
    groups = {name: command_group(purpose) for name, purpose in GROUPS.items()}
    for typed in COMMANDS:
        *group, name = typed.split()
        first = typed.split()[0]
        module = import_module(f"deltavec.cli.commands.{MODULES.get(first, first)}")
        command = getattr(module, name.replace("-", "_"))
        text, _, examples = (inspect.getdoc(command) or "").partition(EXAMPLES)
        epilog = "\n  ".join(["\b\nExamples:", *examples.splitlines()])
        parent = groups[group[0]] if group else whole
        parent.command(
            name,
            cls=Command,
            help=summary(text),
            epilog=epilog,
            context_settings=BY_ENVIRONMENT.get(typed),
        )(reported(with_options(command)))
    for name, one in groups.items():
        whole.add_typer(one, name=name)
    return whole


app = assemble()
