"""Write ``docs/guides/command-line.md`` from the help of the commands.

``python tools/command_line_page.py`` writes the page; a test compares it with the program.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from deltavec.cli.application import SECTIONS, app, help_row

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "command-line.md"
BEGINNING = """# Command line reference

`deltavec --help` lists the commands. `deltavec COMMAND --help` shows what is on this page.
`deltavec --install-completion` adds completion to your shell.

- **Results** go to stdout or to files. Most commands take `--json` for programs.
- **Progress and errors** go to stderr. Progress is shown only in a terminal.
- **Files** are replaced atomically. A command that fails or is interrupted changes nothing.
- **Exit codes**: 0 done, 1 failed, 2 wrong usage, 130 interrupted with Ctrl-C.
- `DELTAVEC_TRACEBACK=1` shows the traceback of an unexpected error.

A corpus is a file, a folder, a quoted pattern such as `'reviews/*.csv.gz'`, or `-` for standard
input. [Read your data](corpora.md) describes formats, columns and encodings. Empty documents get a
zero vector.

<!-- Written by tools/command_line_page.py. -->
"""


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """All commands as they are typed, by section."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(words), command
        return
    order = [name for names in SECTIONS.values() for name in names] if not words else list(inner)
    for name in order:
        if name in inner:
            yield from commands(inner[name], (*words, name))


def cell(text: str) -> str:
    """A text that fits into a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(command: Any, context: Any) -> Iterator[str]:
    """The arguments and options of a command."""
    yield "| option | meaning |"
    yield "| --- | --- |"
    for one in command.params:
        row = help_row(one, context)
        if row and "--help" not in row[0]:
            name, meaning = row
            meaning = re.sub(r"env var: \w+(; )?", "", meaning).replace("[]", "").strip()
            yield f"| `{cell(name)}` | {cell(meaning)} |"


def section(name: str, command: Any) -> str:
    """What the page says of a command."""
    context = typer.Context(command, info_name=f"deltavec {name}")
    purpose = inspect.cleandoc(command.help or "")
    examples = inspect.cleandoc((command.epilog or "").partition("Examples:")[2].strip("\b\n"))
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    usage = f"deltavec {name} {' '.join(command.collect_usage_pieces(context))}"
    parts = [
        f"## {name}",
        purpose,
        "\n".join(["```text", usage, "```"]),
        "\n".join(["```text", *lines, "```"]),
        "\n".join(table(command, context)),
    ]
    return "\n\n".join(parts)


def page() -> str:
    """The whole page."""
    sections = [section(*one) for one in commands(typer.main.get_command(app))]
    return "\n".join([BEGINNING, "\n\n".join(sections), ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
