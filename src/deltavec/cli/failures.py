"""Errors as one line on stderr and an exit code.

====  ==========================================================
0     done, or the reader of a pipe has closed it (`deltavec search | head`)
1     failed: invalid input, or an error of the operating system
2     wrong usage (typer's own)
130   interrupted (Ctrl-C)
====  ==========================================================
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, ParamSpec

import typer

from deltavec.cli.printing import visible
from deltavec.errors import DeltavecError

Parameters = ParamSpec("Parameters")

FAILED, INTERRUPTED = 1, 130
TRACEBACK = "DELTAVEC_TRACEBACK"


def reported(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """The command with errors reported in one line and an exit code, never as a traceback."""

    @functools.wraps(command)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> None:
        if os.environ.get(TRACEBACK):
            return command(*arguments, **options)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = warned
                command(*arguments, **options)
            sys.stdout.flush()  # a closed pipe shows here, and not when the interpreter ends
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
        except BrokenPipeError:
            discard_output()
            raise typer.Exit from None
        except DeltavecError as error:
            fail(str(error))
        except OSError as error:
            discard_output()
            fail(system_message(error))
        except MemoryError as error:
            fail(f"out of memory ({error})" if str(error) else "out of memory")
        except Exception as error:
            fail(
                f"unexpected {type(error).__name__}: {error}; this is a bug in deltavec: "
                f"set {TRACEBACK}=1 to see where"
            )

    return run


def require_usage(held: object, option: str, message: str) -> None:
    """Raise a usage error about an option unless a condition holds."""
    if not held:
        raise typer.BadParameter(message, param_hint=option)


def fail(message: str, code: int = FAILED) -> NoReturn:
    """Print an error in one line and exit."""
    typer.echo(f"deltavec: {visible(' '.join(message.split()))}", err=True)
    raise typer.Exit(code)


def notice(sentence: str) -> None:
    """Print a notice in one line."""
    typer.echo(f"deltavec: {visible(sentence)}", err=True)


def warned(message: Warning | str, *where: Any, **to: Any) -> None:
    """Print a warning in one line."""
    typer.echo(f"deltavec: warning: {visible(' '.join(str(message).split()))}", err=True)


def system_message(error: OSError) -> str:
    """The message of the operating system, after the file it is about."""
    if error.strerror is None:
        return str(error)
    said = error.strerror[:1].lower() + error.strerror[1:]
    return f"{os.fsdecode(error.filename)}: {said}" if error.filename else said


def discard_output() -> None:
    """Discard what is still to be written to stdout."""
    with suppress(OSError, ValueError):  # no real file, under test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
