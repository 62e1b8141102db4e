"""Results on stdout, JSON or text; errors as one line on stderr and an exit code.

====  ==========================================================
0     done, or the reader of a pipe has closed it (`deltavec search | head`)
1     failed: invalid input, or an error of the operating system
2     wrong usage (typer's own)
130   interrupted (Ctrl-C)
====  ==========================================================
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

from deltavec.errors import DeltavecError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from deltavec.cli.progress import Stages

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


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object in ASCII, which every terminal encoding has."""
    typer.echo(json.dumps(result, indent=2, allow_nan=False, default=os.fspath))


def print_result(
    as_json: bool,
    record: Mapping[str, Any],
    facts: Mapping[str, str],
    work: Stages | None = None,
    saved: Path | None = None,
    then: Sequence[object] = (),
) -> None:
    """Print the result of a command as JSON or as text, with its time and the path it wrote.

    The text ends with the command to run next, if one is given.
    """
    if as_json:
        print_json(record if work is None else {**record, "seconds": work.seconds})
        return
    done = {} if work is None else {"time": duration(work.seconds)}
    print_facts({**facts, **done, **({} if saved is None else {"saved": as_typed(saved)})})
    print_next(*then)


def as_typed(path: object) -> str:
    """A path as it was typed; pathlib makes one slash of the two in ``s3://``."""
    return re.sub(r"^([a-z0-9]{2,}:)/+", r"\1//", str(path))


def print_next(*command: object) -> None:
    """Print the command to run next, if there is one."""
    if command:
        line = visible(shlex.join(["deltavec", *map(as_typed, command)]))
        console().print(f"\nNext: {line}", markup=False, soft_wrap=True)  # whole, to be copied


def console() -> Console:
    """The console for text on stdout; plain if stdout is not a terminal."""
    from rich.console import Console

    return Console(highlight=False)


def table(
    columns: Iterable[str], rows: Iterable[Sequence[Any]] = (), title: str | None = None
) -> Table:
    """A table with a rule below its head; ``>`` before a name aligns a column to the right.

    Rows of `str` may contain markup; text of documents comes as `plain` text.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    made.title = None if title is None else Text(visible(title))
    for name in columns:
        heading = Text(visible(name.removeprefix(">")))
        made.add_column(heading, justify="right" if name.startswith(">") else "left")
    for row in rows:
        made.add_row(*row)
    return made


def plain(text: str, longest: int = 32) -> Text:
    """Text of a document for one line: no markup, no control characters, truncated."""
    from rich.text import Text

    line = Text(visible(text))
    line.truncate(longest, overflow="ellipsis")
    return line


def shortened(text: str, length: int) -> str:
    """The beginning of a text, in one line and without what steers a terminal."""
    line = visible(" ".join(text[: length + 1].split()))
    if len(text) <= length:
        return line
    return f"{line[:length].rstrip()} ..." if length else ""


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


def plural(number: int, thing: str) -> str:
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
    from rich.filesize import decimal

    return decimal(count)


def duration(seconds: float) -> str:
    """Seconds for people: 12.3 s, 3 min 20 s."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def reason(info: Mapping[str, Any]) -> str:
    """The reason for the recipe of a model, without the recipe's name."""
    return str(info["reason"]).removeprefix(f"{info['recipe']}: ")


COVERAGE = {"at_fit": "of the words at fit", "built": "of the collection", "added": "of additions"}
MOST_FORMS = 4  # of a stem that is shown as an example


def collection_facts(info: Mapping[str, Any]) -> dict[str, str]:
    """The information about a collection, with names and values for people."""
    removed, drawn = info["documents_removed"], info["map"]
    built, added = f"{info['documents_built']:,} built", f"{info['documents_added']:,} added"
    gone = f"; {removed:,} were removed or replaced" if removed else ""
    adapted = "adapted to the collection" if info["model_adapted"] else "as it was fitted"
    facts = {
        "documents": f"{plural(info['documents'], 'document')}: {built}, {added} in "
        f"{plural(info['additions'], 'step')}{gone}",
        "without vector": f"{info['documents_without_vector']:,}",
        "ids": info["ids"],
        "columns": ", ".join(f"{name} ({kind})" for name, kind in info["columns"].items()),
        "model": f"{info['recipe']}, {info['dimensions']} dimensions ({info['dtype']}), {adapted}",
        "fingerprint": info["fingerprint"],
        "size": f"{size(info['vector_bytes'])} vectors, {size(info['document_bytes'])} documents",
        "words": words_line(info),
        "map": f"drawn of {plural(drawn['drawn'], 'document')}" if drawn else "not drawn yet",
        "coverage": ", ".join(
            f"{share(info[f'coverage_{name}'])} {of}"
            for name, of in COVERAGE.items()
            if info[f"coverage_{name}"] is not None
        ),
        "refit": f"due: {info['refit_reason']}" if info["refit_due"] else "not due",
    }
    return {name: value or "none" for name, value in facts.items()}


def words_line(info: Mapping[str, Any]) -> str:
    """The words of a collection, in a line."""
    words = info["words"]
    examples = ["/".join(forms) for forms in words["examples"] if len(forms) <= MOST_FORMS]
    shown = f" (for example {', '.join(examples[:3])})" if examples else ""
    return f"{words['words']:,}, {words['stems']:,} stems{shown}; {size(info['word_bytes'])}"
