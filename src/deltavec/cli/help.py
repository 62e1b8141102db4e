"""Help texts: options and commands in sections, without the types of Python."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup

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
