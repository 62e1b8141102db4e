"""Numbers and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from problems import Estimate


def share(value: float, digits: int = 3) -> str:
    """A number between -1 and 1 without its leading zero."""
    spelled = f"{value:.{digits}f}"
    return spelled.replace("0.", ".", 1) if abs(value) < 1 else spelled


def with_error(found: Estimate, digits: int = 3) -> str:
    """A score and its standard error in units of the last digit."""
    if found.error != found.error:  # one draw only
        return share(found.mean, digits)
    return f"{share(found.mean, digits)} ({round(found.error * 10**digits)})"


def change(found: Estimate) -> str:
    """A difference in thousandths with its standard error; bold beyond two of them."""
    spelled = f"{1000 * found.mean:+.1f} ± {1000 * found.error:.1f}"
    if found.error > 0 and abs(found.mean) > 2 * found.error:
        return f"**{spelled}**"
    return spelled if found.mean or found.error else "0"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
