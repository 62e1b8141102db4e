"""Parameters as numpydoc docstrings describe them: the command line and the HTTP API show these."""

from __future__ import annotations

import inspect
import re

SECTION = re.compile(r"\n\n(?:Parameters|Attributes)\n-+\n")
ENTRY = re.compile(r"^(\w+)(?: : (.*))?\n((?: {4}.*\n)+)", re.MULTILINE)


def summary(docstring: str | None) -> str:
    """What stands before the parameters."""
    return SECTION.split(inspect.cleandoc(docstring or ""))[0]


def described(docstring: str | None) -> dict[str, tuple[str, str]]:
    """Of each parameter what stands behind its name, and its description."""
    _, *section = SECTION.split(inspect.cleandoc(docstring or ""))
    found = ENTRY.findall("".join(section).partition("\n\n")[0] + "\n")
    return {name: (line, " ".join(text.split())) for name, line, text in found}
