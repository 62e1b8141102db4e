"""The commands, put together."""

from __future__ import annotations

from importlib import import_module

import typer

import deltavec
from deltavec.cli.failures import reported

QUICK_START = """\b
Begin with:
  deltavec demo
  deltavec fit reviews.csv --column text -o reviews.dv
  deltavec embed reviews.dv reviews.csv -o reviews.parquet"""

GROUPS = {
    "vectors": "Word vectors from your own text.",
    "index": "Collections: documents and their vectors, to search.",
    "evaluate": "Rerun the paper's experiments on your own data.",
}
# Each command as it is typed, in the order of the help. `index build` is in commands/index/build.
COMMANDS = (
    "demo",
    "vectors train",
    *("fit", "embed", "explain", "info", "export"),
    *("index build", "index add", "index remove", "index compact", "index words"),
    *("search", "similar", "duplicates", "cluster", "keywords", "map", "serve"),
    *("evaluate reviews", "evaluate duplicate-questions", "evaluate lee", "evaluate retrieval"),
    "tune",
)


def command_group(purpose: str, epilog: str | None = None) -> typer.Typer:
    """An empty group of commands.

    Its help is plain text. Typer's rich help takes twice as long and does not pipe well.
    """
    return typer.Typer(
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
    """The whole command line: each module has a function of the command's name, and EXAMPLES."""
    whole = command_group("Document vectors learned from your own text.", QUICK_START)
    whole.callback()(options)
    groups = {name: command_group(purpose) for name, purpose in GROUPS.items()}
    for typed in COMMANDS:
        *group, name = typed.split()
        function = name.replace("-", "_")
        module = import_module(".".join(["deltavec.cli.commands", *group, function]))
        heading = "Example" if len(module.EXAMPLES) == 1 else "Examples"
        epilog = "\n  ".join([f"\b\n{heading}:", *module.EXAMPLES])
        parent = groups[group[0]] if group else whole
        parent.command(name, epilog=epilog)(reported(getattr(module, function)))
    for name, one in groups.items():
        whole.add_typer(one, name=name)
    return whole


app = assemble()
