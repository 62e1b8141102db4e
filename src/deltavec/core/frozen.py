"""Arrays that are only read: nobody can spoil them, and kernels are compiled once for such."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Kind = TypeVar("Kind", bound=np.generic)


def frozen(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """The array, read-only: a view of it."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
