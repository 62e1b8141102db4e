"""Documents that were found: as text for people, as records for programs."""

from __future__ import annotations

import datetime
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deltavec.cli.explain import share_rows, signed
from deltavec.cli.printing import console, plain, visible

if TYPE_CHECKING:
    from deltavec.collection import Collection, Found
    from deltavec.core.explain import Explanation

WORDS = 6  # that say why
INDENT = "    "


def explanations(
    collection: Collection, asked: str, found: Sequence[Found], wanted: bool
) -> list[Explanation | None]:
    """Why each document was found, if that is wanted."""
    return [collection.explain(asked, one.text) if wanted else None for one in found]


def print_found(found: Sequence[Found], why: Sequence[Explanation | None], length: int) -> None:
    """Print documents one below the other: place, cosine, id, text, columns, words."""
    from rich.text import Text

    out = console()
    width = max(out.width, 20)
    for place, (one, explanation) in enumerate(zip(found, why, strict=True), 1):
        if place > 1:
            out.print()
        score = (f"{signed(one.score)}  ", "bold")
        out.print(Text.assemble(f"{place:2}  ", score, plain(one.id, width - 14)), soft_wrap=True)
        lines = wrapped(shortened(one.text, length), width)
        if one.columns:
            lines += [(line, "dim") for line, _ in wrapped(columns_line(one.columns), width)]
        if explanation is not None:
            lines += wrapped(why_line(explanation), width)
        for line, style in lines:
            out.print(Text(line, style), soft_wrap=True)


def wrapped(text: str, width: int) -> list[tuple[str, str]]:
    """The text in lines that fit, with a place for a style beside each."""
    lines = textwrap.wrap(text, width, initial_indent=INDENT, subsequent_indent=INDENT)
    return [(line, "") for line in lines]


def shortened(text: str, length: int) -> str:
    """The beginning of a text, in one line and without what steers a terminal."""
    line = visible(" ".join(text[: length + 1].split()))
    if len(text) <= length:
        return line
    return f"{line[:length].rstrip()} ..." if length else ""


def columns_line(columns: Mapping[str, Any]) -> str:
    """The columns of a document in one line."""
    shown = [f"{name}: {readable_value(value)}" for name, value in columns.items()]
    return visible(" | ".join(shown))


def readable_value(value: object) -> str:
    """A value of a column, cut if it is long; a dash for one that is missing."""
    text = "-" if value is None else " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def why_line(explanation: Explanation) -> str:
    """The words of the document found, each with its signed share; they add up to the cosine."""
    rows = share_rows(explanation.words_b, explanation.offset_b, WORDS)
    return visible("why: " + ", ".join(f"{plain(word)} {share}" for word, _, share in rows))


def as_records(
    found: Sequence[Found], why: Sequence[Explanation | None]
) -> list[dict[str, object]]:
    """The documents as plain objects, with all their words if explained."""
    records = []
    for one, explanation in zip(found, why, strict=True):
        record: dict[str, object] = {
            "id": one.id,
            "score": one.score,
            "text": one.text,
            "columns": {name: plain_value(value) for name, value in one.columns.items()},
        }
        if explanation is not None:
            record["words"] = [word._asdict() for word in explanation.words_b]
            record["offset"] = explanation.offset_b
        records.append(record)
    return records


def plain_value(value: object) -> object:
    """A value of a column as JSON has it: what it has no kind for is text."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
