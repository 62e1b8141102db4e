"""Kernels that are compiled later: at the first call, not when their module is imported.

Importing numba and making it ready takes longer than anything else that a short program does. So a
kernel begins as a `Later`, which imports numba when it is called for the first time, and makes way
for what numba makes of it.

Until then work can be done without. Loading the compiler is like buying what could be rented: who
rents until the rent has added up to the price, and buys then, pays at most twice what the best
choice would have cost, whatever comes. `Rent` adds up.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

LOADING = threading.RLock()
# Numbers that numpy multiplies and adds in the second or so that the compiler takes to be ready.
PRICE = 50_000_000
NUMBERS_A_BYTE = 50  # a byte of text takes as long as so many numbers to multiply


class Later:
    """A function to be compiled at its first call.

    Kernels call each other by the names in their modules, where the compiler wants to find what it
    made. So the first call replaces this object there by the compiled function, and so all others
    that stand in the same module, with those that these call.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self.options = options
        self.made: Callable[..., Any] | None = None
        self.ready: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    def __call__(self, *arguments: Any) -> Any:
        """What the compiled function gives."""
        return self.compiled()(*arguments)

    def compiled(self) -> Callable[..., Any]:
        """What numba makes of the function."""
        if self.ready is None:
            with LOADING:
                made = self.made or self._make()
            self.ready = made  # only now: another thread must not begin while names are replaced
        return self.ready

    def _make(self) -> Callable[..., Any]:
        import numba

        self.made = numba.njit(cache=True, nogil=True, **self.options)(self.function)
        names = self.function.__globals__
        for name, value in list(names.items()):
            if isinstance(value, Later):
                names[name] = value.made or value._make()
        return self.made


class Rent:
    """How much was done without the compiler, in numbers multiplied and added."""

    def __init__(self) -> None:
        self.paid = 0

    def is_worth(self, numbers: int) -> bool:
        """Whether to do so much without the compiler; it is then added to what was paid."""
        if "numba" in sys.modules or self.paid + numbers > PRICE:
            return False
        self.paid += numbers
        return True

    def buy_meanwhile(self, numbers: int) -> None:
        """Load the compiler in another thread, while files are read, if so much is to be done."""
        if "numba" not in sys.modules and self.paid + numbers > PRICE:
            threading.Thread(target=self.buy, name="deltavec-compiler").start()

    def buy(self) -> None:
        """Load the compiler now: for who will answer many, so that the first does not wait."""
        import numba  # noqa: F401


RENT = Rent()
