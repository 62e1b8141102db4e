"""Where results are kept, and how they are read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
DIGITS = 5


def keep(name: str, outcome: Any) -> None:
    """Write an outcome to ``results/NAME.json``, a short line for each list of scores."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(spelled(rounded(outcome)) + "\n", encoding="utf-8")


def kept(name: str) -> Any:
    """The outcome of this name."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rounded(value: Any) -> Any:
    """The same with its numbers to five digits."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: rounded(found) for key, found in value.items()}
    if isinstance(value, list):
        return [rounded(found) for found in value]
    return value


def spelled(value: Any, depth: int = 0) -> str:
    """JSON with one line for each key, lists of numbers on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = "  " * (depth + 1)
    lines = [
        f"{inner}{json.dumps(key)}: {spelled(found, depth + 1)}" for key, found in value.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n" + "  " * depth + "}" if lines else "{}"
