"""Every public name and every option of the command line is written about."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import deltavec as dv
from deltavec.cli.application import SECTIONS, app
from support.scripts import load_script

DOCS = Path(__file__).parents[2] / "docs"


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command below this one, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name.strip(), command
    else:
        for word, one in inner.items():
            yield from commands(one, f"{name} {word}")


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", sorted(set(dv.__all__) - {"__version__"}))
def test_a_public_name_is_in_the_reference(name: str) -> None:
    reference = (DOCS / "api.md").read_text("utf-8")
    assert re.search(rf"deltavec\.{name}\b", reference)


OBJECTS = re.findall(r"^   (deltavec\.[\w.]+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", sorted({*OBJECTS} - {"deltavec.RECIPES"}))
def test_every_page_of_the_reference_has_an_example(name: str) -> None:
    module, _, last = name.rpartition(".")
    said = inspect.getdoc(getattr(importlib.import_module(module), last)) or ""
    assert "\nExamples\n--------\n>>> " in said


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_an_option_is_in_the_guides(command: str) -> None:
    pages = [*(DOCS / "guides").glob("*.md"), *(DOCS / "tutorials").glob("*.md")]
    guides = "".join(path.read_text("utf-8") for path in sorted(pages))
    options = [
        [*one.opts, *one.secondary_opts]
        for one in COMMANDS[command].params
        if one.param_type_name == "option"
    ]
    assert f"deltavec {command}" in guides
    assert [
        spelled
        for spelled in options
        if not any(re.search(rf"(?<![\w-]){option}\b", guides) for option in spelled)
    ] == []


def test_the_reference_of_the_command_line_is_what_the_commands_say() -> None:
    script = load_script("tools/command_line_page.py")
    assert script.PAGE.read_text("utf-8") == script.page(), "run tools/command_line_page.py"


def test_summaries_fit_into_a_line_and_help_names_no_types_of_python() -> None:
    for name, command in COMMANDS.items():
        summary = command.get_short_help_str(62)
        assert not summary.endswith("..."), name
        shown = command.get_help(typer.Context(command, info_name=name))
        assert not re.search(r"<(str|int|float|list|Path)[>\[]|\{", shown), name


def test_every_command_of_the_top_has_a_section() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted({name.split()[0] for name in COMMANDS})
