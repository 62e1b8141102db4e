"""Results on stdout: one JSON object for programs, text for people."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object, in ASCII: whatever the terminal's encoding, it arrives."""
    typer.echo(json.dumps(result, indent=2, allow_nan=False, default=os.fspath))


def console() -> Console:
    """Where text for people goes; plain if stdout is no terminal."""
    from rich.console import Console

    return Console(highlight=False)


def plain(text: str, longest: int = 32) -> Text:
    """Somebody's text for a line: no markup, nothing that steers a terminal, not too long."""
    from rich.text import Text

    line = Text(visible(text))
    line.truncate(longest, overflow="ellipsis")
    return line


def visible(text: str) -> str:
    """The text with a mark for each character that would steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def print_facts(entries: Mapping[str, str]) -> None:
    """Print names and values, one to a line; long values go on below their beginning."""
    from rich.text import Text

    out = console()
    indent = max(map(len, entries)) + 2
    for name, value in entries.items():
        lines = textwrap.wrap(visible(value), max(out.width - indent, 20)) or [""]
        text = Text.assemble((name.ljust(indent), "bold"), f"\n{' ' * indent}".join(lines))
        out.print(text, soft_wrap=True)


def counted(number: int, thing: str) -> str:
    """A number of things: 1 word, 2,000 words."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def share(fraction: float) -> str:
    """A fraction as per cent."""
    return f"{100 * fraction:.1f} %"


def size(count: int) -> str:
    """A number of bytes, in the unit that suits it."""
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def duration(seconds: float) -> str:
    """Seconds, as exactly as one cares."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def reason(info: Mapping[str, Any]) -> str:
    """Why a model has its recipe, without saying the recipe once more."""
    return str(info["reason"]).removeprefix(f"{info['recipe']}: ")
