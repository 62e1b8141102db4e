"""Whatever a command raises: one line and an exit code."""

from __future__ import annotations

import errno
import threading
import warnings

import pytest
import typer

from deltavec.cli.printing import TRACEBACK, reported
from deltavec.errors import CorpusError, MissingDependencyError


@pytest.mark.parametrize(
    ("raised", "code", "line"),
    [
        (CorpusError("no documents"), 1, "deltavec: no documents"),
        (MissingDependencyError("pip install it"), 1, "deltavec: pip install it"),
        (CorpusError("two\nlines \x1b[31m"), 1, "deltavec: two lines \ufffd[31m"),
        (KeyboardInterrupt(), 130, "deltavec: interrupted"),
        (PermissionError(errno.EACCES, "Denied", "m.dv"), 1, "deltavec: m.dv: denied"),
        (OSError("of a library"), 1, "deltavec: of a library"),
        (MemoryError(), 1, "deltavec: out of memory"),
        (MemoryError("8 GB"), 1, "deltavec: out of memory (8 GB)"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_an_error_is_one_line(
    raised: BaseException,
    code: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(TRACEBACK, raising=False)

    @reported
    def command() -> None:
        raise raised

    with pytest.raises(typer.Exit) as left:
        command()
    assert left.value.exit_code == code
    assert capsys.readouterr().err.strip() == line


def test_a_bug_says_that_it_is_one_and_how_to_see_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @reported
    def command() -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.delenv(TRACEBACK, raising=False)
    with pytest.raises(typer.Exit):
        command()
    assert "ZeroDivisionError: division by zero; this is a bug" in capsys.readouterr().err
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(ZeroDivisionError):
        command()


def test_a_warning_is_one_line_without_the_path_of_a_source_whichever_thread_it_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @reported
    def command() -> None:
        warnings.warn("few\nwords", UserWarning, stacklevel=1)
        thread = threading.Thread(target=warnings.warn, args=("in a thread",))
        thread.start()
        thread.join()

    monkeypatch.delenv(TRACEBACK, raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        command()
    assert capsys.readouterr().err.splitlines() == [
        "deltavec: warning: few words",
        "deltavec: warning: in a thread",
    ]


def test_wrong_usage_is_left_to_typer() -> None:
    @reported
    def command() -> None:
        raise typer.BadParameter("of no use")

    with pytest.raises(typer.BadParameter):
        command()
