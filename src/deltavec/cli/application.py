"""The commands, put together, with help texts in sections."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

import deltavec
from deltavec.cli.options import with_options
from deltavec.cli.printing import reported
from deltavec.docstrings import summary

SECTIONS = {
    "Start": ("explore", "demo"),
    "Build": ("fit", "index", "embed"),
    "Query": ("search", "similar", "keywords", "explain", "info"),
    "Analyze": ("duplicates", "similar-pairs", "cluster", "map"),
    "Serve and export": ("serve", "mcp", "export", "warm"),
    "Research": ("vectors", "tune", "evaluate"),
}
NOTES = re.compile(r"\s*\[required\]$")
DEFAULT = re.compile(r"default: \(([^)]*)\)")


class Command(TyperCommand):
    """A command whose help lists its options by section."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments and ``[OPTIONS]``, as they are typed."""
        arguments = [one for one in self.params if isinstance(one, TyperArgument)]
        named = [(one.metavar or one.name.upper(), one.required) for one in arguments]
        return [*(name if needed else f"[{name}]" for name, needed in named), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options, and the options of each section."""
        rows = [(section_of(one), help_row(one, ctx)) for one in self.get_params(ctx)]
        for section in dict.fromkeys(section for section, _ in rows):
            with formatter.section(section):
                formatter.write_dl([row for name, row in rows if row and name == section])


def section_of(parameter: Any) -> str:
    """The section of an argument or an option."""
    if isinstance(parameter, TyperArgument):
        return "Arguments"
    return str(getattr(parameter, "rich_help_panel", None) or "Options")


def help_row(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """What is typed, and what it is for."""
    row = parameter.get_help_record(ctx)
    if row is None:
        return None
    name, text = row
    if isinstance(parameter, TyperArgument):
        return parameter.metavar or name, NOTES.sub("", text)
    shown = name.replace("<float>", "X").replace("<int>", "N")
    return shown, DEFAULT.sub(r"default: \1", text)


class Group(TyperGroup):
    """A group whose help lists its commands by section."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each section."""
        named = {name for names in SECTIONS.values() for name in names}
        others = tuple(name for name in self.commands if name not in named)
        for section, names in {**SECTIONS, "Commands": others}.items():
            rows = [
                (name, self.commands[name].get_short_help_str(62))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows, col_max=16)


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
    *("index build", "index add", "index remove", "index compact"),
    *("index backup", "index refit", "index export"),
    *("search", "similar", "similar-pairs", "duplicates", "cluster", "keywords", "map", "serve"),
    "mcp",
    *("evaluate reviews", "evaluate duplicate-questions", "evaluate lee", "evaluate retrieval"),
    *("tune", "warm"),
)
MODULES = (
    dict.fromkeys(("similar", "keywords", "explain"), "search")
    | {"similar-pairs": "duplicates", "map": "cluster", "explore": "serve"}
    | {"vectors": "fit", "export": "embed", "warm": "info"}
)
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
