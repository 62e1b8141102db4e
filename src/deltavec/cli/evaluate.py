"""``deltavec evaluate``: the paper's experiments on one's own data, one file per command."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

PURPOSE = "Rerun the paper's experiments on your own data; each writes a report."

# The name of each command, and the module that holds it.
COMMANDS = {
    "reviews": "deltavec.cli.evaluate_reviews",
    "duplicate-questions": "deltavec.cli.evaluate_duplicates",
    "lee": "deltavec.cli.evaluate_lee",
}


def commands() -> dict[str, ModuleType]:
    """The modules of the commands, by name."""
    return {name: import_module(home) for name, home in COMMANDS.items() if find_spec(home)}
