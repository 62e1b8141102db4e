"""Arguments checked before any work is done: what was expected, and what came."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral

from deltavec.errors import InputError


def require_whole(
    name: str, value: object, least: int = 1, error: type[InputError] = InputError
) -> None:
    """Refuse what is not a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise error(f"{name} must be a whole number from {least} on, got {value!r}")


def require_one_of(
    name: str, value: object, allowed: Iterable[str], error: type[InputError] = InputError
) -> None:
    """Refuse what is not one of the names."""
    names = [*allowed]
    if value not in names:
        raise error(f"{name} must be one of {', '.join(names)}, got {value!r}")


NEAR = 0.75  # below, a suggestion misleads more often than it helps


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The end of a message about a name that is not there: the closest one that is, if it is near.

    Capitals do not matter, nor what joins the words of a name.
    """
    folded = {_joined(other): other for other in reversed(names)}  # the first of several stays
    close = difflib.get_close_matches(_joined(name), folded, n=1, cutoff=NEAR)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def _joined(name: str) -> str:
    return name.casefold().translate({ord(" "): "_", ord("-"): "_"})
