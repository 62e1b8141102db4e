"""How long tuning may take, and how long its next step will."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field

from deltavec.errors import InputError

UNITS = {"s": 1, "m": 60, "h": 3600}
SPELLED = re.compile(r"(\d+(?:\.\d+)?)\s*([smh])")


def seconds_of(budget: str | float) -> float:
    """The seconds that a budget such as ``90s``, ``10m`` or ``1h`` names.

    Examples
    --------
    >>> seconds_of("1.5m")
    90.0
    """
    wanted = "budget must be a time above 0 such as '90s', '10m' or '1h'"
    if isinstance(budget, str):
        spelled = SPELLED.fullmatch(budget.strip().lower())
        if spelled is None:
            raise InputError(f"{wanted}, got {budget!r}")
        seconds = float(spelled[1]) * UNITS[spelled[2]]
    elif isinstance(budget, bool) or not isinstance(budget, int | float):
        raise InputError(f"{wanted}, or a number of seconds, got {budget!r}")
    else:
        seconds = float(budget)
    if not 0 < seconds < math.inf:
        raise InputError(f"{wanted}, got {budget!r}")
    return seconds


@dataclass
class Pace:
    """What each kind of work took, and so what more of it will take.

    Attributes
    ----------
    counting : float
        Seconds to count the neighbours of all words, per place that is looked at.
    factorising : float
        Seconds to find leading directions, per direction.
    comparing : float
        Seconds to embed and compare the documents by one recipe.
    reading : float
        Seconds to read the words of the corpus.
    """

    counting: float = 0.0
    factorising: float = 0.0
    comparing: float = 0.0
    reading: float = 0.0


@dataclass
class Clock:
    """Time since the beginning, and what is left of the budget."""

    budget: float
    begun: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begun

    @property
    def left(self) -> float:
        """Seconds of the budget that are left; below 0 if it is used up."""
        return self.budget - self.elapsed

    def fraction(self, ahead: float) -> float:
        """How much of the work is done, if so many seconds of it are ahead."""
        elapsed = self.elapsed
        return elapsed / (elapsed + max(0.0, min(ahead, self.budget - elapsed)))
