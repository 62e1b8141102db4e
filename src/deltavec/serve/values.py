"""Values of a collection's columns as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LONGEST = 1000  # characters of a value that is text


def plain(value: Any) -> Any:
    """The value as a string, a number, a truth value or null; lists and objects of them too."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # Beyond this a browser would round.
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value[:LONGEST].hex()
    text = value if isinstance(value, str) else value_text(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def value_text(value: Any) -> str:
    """A date or time in the ISO's form, anything else as Python writes it."""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
