"""What goes wrong, as one line on stderr and an exit code.

====  ==========================================================
0     done
1     failed: what was given cannot be used, the system said no, or whoever
      read the output closed it (then without a line)
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
    """The command, with its errors told in one line and an exit code, never as a traceback."""

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
            raise typer.Exit(FAILED) from None
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


def fail(message: str, code: int = FAILED) -> NoReturn:
    """Say in one line what went wrong, and leave."""
    typer.echo(f"deltavec: {visible(' '.join(message.split()))}", err=True)
    raise typer.Exit(code)


def notice(sentence: str) -> None:
    """Say in one line what was found out, and go on."""
    typer.echo(f"deltavec: {visible(sentence)}", err=True)


def warned(message: Warning | str, *where: Any, **to: Any) -> None:
    """Say in one line what deserves attention, and go on."""
    typer.echo(f"deltavec: warning: {visible(' '.join(str(message).split()))}", err=True)


def system_message(error: OSError) -> str:
    """What the operating system said, and about which file."""
    if error.strerror is None:
        return str(error)
    said = error.strerror[:1].lower() + error.strerror[1:]
    return f"{os.fsdecode(error.filename)}: {said}" if error.filename else said


def discard_output() -> None:
    """Let what is still to be written to stdout go nowhere when the interpreter ends."""
    with suppress(OSError, ValueError):  # no real file, under test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
