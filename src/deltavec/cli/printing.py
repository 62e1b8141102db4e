"""Results on stdout: one JSON object for programs, text for people."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object in ASCII, which every terminal encoding has."""
    typer.echo(json.dumps(result, indent=2, allow_nan=False, default=os.fspath))


def print_result(as_json: bool, record: Mapping[str, Any], facts: Mapping[str, str]) -> None:
    """Print the result of a command, as JSON or as text."""
    if as_json:
        print_json(record)
    else:
        print_facts(facts)


def console() -> Console:
    """The console for text on stdout; plain if stdout is not a terminal."""
    from rich.console import Console

    return Console(highlight=False)


def empty_table(**look: Any) -> Table:
    """A table that has no columns yet, ruled below its head only."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left", **look)


def plain(text: str, longest: int = 32) -> Text:
    """Text of a document for one line: no markup, no control characters, truncated."""
    from rich.text import Text

    line = Text(visible(text))
    line.truncate(longest, overflow="ellipsis")
    return line


def visible(text: str) -> str:
    """The text with control characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def print_facts(entries: Mapping[str, str]) -> None:
    """Print names and values, one per line; long values are wrapped and indented."""
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


def word_list(words: Sequence[str], most: int = 20) -> str:
    """Words in a line, the first of many."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(str(plain(word)) for word in words[:most]) + more


def signed(value: float) -> str:
    """A cosine or a share with its sign, to three digits; no minus before a zero."""
    return f"{round(value, 3) + 0.0:+.3f}"


def share(fraction: float) -> str:
    """A fraction as a percentage."""
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
    """Seconds for people: 12.3 s, 3 min 20 s."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def coverage_line(known: float | None) -> str:
    """How many words of some text are known."""
    return "no words" if known is None else f"{share(known)} of the words are known"


def model_line(info: Mapping[str, Any]) -> str:
    """The model of a collection in a line."""
    adapted = "adapted to the collection" if info["model_adapted"] else "as it was fitted"
    return f"{info['recipe']}, {info['dimensions']} dimensions, {adapted}"


def refit_line(info: Mapping[str, Any]) -> str:
    """Whether a new fit of the model is due."""
    return f"due: {info['refit_reason']}" if info["refit_due"] else "not due"


def reason(info: Mapping[str, Any]) -> str:
    """The reason for the recipe of a model, without the recipe's name."""
    return str(info["reason"]).removeprefix(f"{info['recipe']}: ")


def map_line(info: Mapping[str, Any]) -> str:
    """Whether a collection has a map."""
    drawn = info["map"]
    return f"drawn of {counted(drawn['drawn'], 'document')}" if drawn else "not drawn yet"


def words_line(info: Mapping[str, Any]) -> str:
    """The words of a collection, in a line."""
    words = info["words"]
    if words is None:
        return "none: semantic search only (`deltavec index words` adds an inverted index)"
    forms = ", ".join("/".join(group) for group in words["examples"])
    return (
        f"{words['words']:,}, {words['stems']:,} without their forms"
        + (f" ({forms})" if forms else "")
        + f"; {size(info['word_bytes'])}"
    )
