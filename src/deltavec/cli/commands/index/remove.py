"""``deltavec index remove``: documents out of a collection."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from deltavec.cli import options
from deltavec.cli.printing import counted, duration, print_result
from deltavec.cli.progress import stages
from deltavec.errors import InputError

EXAMPLES = (
    "deltavec index remove named.idx 3 14",
    'deltavec index remove reviews.idx --filter "rating < 2"',
    "deltavec index remove named.idx --from gone.txt",
)


def remove(
    collection: options.Collection,
    ids: list[str] | None = typer.Argument(
        None, metavar="ID", show_default=False, help="The ids of documents."
    ),
    source: str | None = options.option(
        "FILE", "A file of ids, one per line; - for standard input.", "--from", value=None
    ),
    filter: str | None = options.option(
        "CONDITION",
        "Remove the documents that match, instead of ids.",
        "--filter",
        "-f",
        value=None,
    ),
    missing_ok: bool = typer.Option(
        False, "--missing-ok", help="Ignore missing ids; otherwise nothing is removed."
    ),
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Remove documents from a collection, by ids or by a filter.

    Their data is deleted from disk. An interrupted command changes nothing. A running `deltavec
    serve` sees the change within seconds.
    """
    named = [*(ids or []), *(listed(source) if source is not None else [])]
    if bool(named or source is not None) == (filter is not None):
        given = "both" if filter is not None else "neither"
        raise InputError(f"expected ids (ID, --from) or a filter (--filter), got {given}")
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        before = open_collection(collection, verify=False, trust=trust)
        work.begin("removing")
        after = before.remove(
            named if filter is None else None,
            filter=filter,
            missing_ok=missing_ok,
            threads=threads,
        )
    removed = after.description.removed - before.description.removed
    facts = {
        "removed": counted(removed, "document"),
        "documents": counted(len(after), "document"),
        "time": duration(work.seconds),
        "saved": str(collection),
    }
    record = {"collection": collection, "removed": removed, **after.info(), "seconds": work.seconds}
    print_result(as_json, record, facts)


def listed(source: str) -> list[str]:
    """The ids in a file, one per line; empty lines are none."""
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        return [line for line in data.decode("utf-8-sig").splitlines() if line]
    except OSError as error:
        raise InputError(f"{source}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise InputError(f"{source}: expected a file of ids in UTF-8, one per line") from None
