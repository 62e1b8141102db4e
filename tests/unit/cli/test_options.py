"""Commands declare their options by their signatures and docstrings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from deltavec.cli.options import with_options


@dataclass(frozen=True)
class Sizes:
    """Sizes.

    Parameters
    ----------
    width : N 1..9
        How wide.
    """

    width: int = 3


def invoke(command: Any, *arguments: str) -> Any:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_options(command))
    return CliRunner().invoke(app, arguments)


def example(
    name: str,
    *,
    count: int = 1,
    loud: bool = False,
    checked: bool = True,
    sizes: Sizes = Sizes(),  # noqa: B008
    label: Annotated[str | None, {"callback": lambda text: text and text.upper()}] = None,
) -> None:
    """An example.

    Parameters
    ----------
    name : NAME
        Whom to greet.
    count : N >= 1, -c
        How often.
    loud
        Shout.
    checked
        Check it.
    label : TEXT, --tag
        A label.
        Default: no label at all
    """
    typer.echo(f"{name} {count} {loud} {checked} {sizes.width} {label}")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["ann"], "ann 1 False True 3 None"),
        (["ann", "-c", "2", "--loud", "--no-checked"], "ann 2 True False 3 None"),
        (["ann", "--count", "5", "--width", "9", "--tag", "x"], "ann 5 False True 9 X"),
    ],
)
def test_positional_parameters_are_arguments_and_others_options(
    arguments: list[str], printed: str
) -> None:
    assert invoke(example, *arguments).stdout.strip() == printed


@pytest.mark.parametrize(
    "wrong",
    [["--count", "0"], ["--width", "10"], ["--width", "0"], ["--no-loud"], ["--label", "x"]],
)
def test_bounds_and_names_are_those_of_the_docstring(wrong: list[str]) -> None:
    assert invoke(example, "ann", *wrong).exit_code == 2


def test_help_shows_what_the_docstring_says() -> None:
    shown = " ".join(invoke(example, "--help").stdout.split())
    for text in ("Whom to greet.", "-c, --count N", "--checked / --no-checked", "no label at all"):
        assert text in shown


def test_a_parameter_that_nothing_describes_is_an_error() -> None:
    def silent(*, mystery: int = 1) -> None:
        """Nothing."""

    with pytest.raises(KeyError, match="mystery"):
        with_options(silent)
