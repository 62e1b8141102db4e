"""Areas of the map: polygons, and which points they contain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s
from deltavec.server.errors import RequestError

FEWEST_CORNERS = 3
MOST_CORNERS = 400


def corners(area: str) -> Float64s:
    """The corners of a polygon given as ``x,y x,y x,y``."""
    try:
        found = np.array([[float(number) for number in one.split(",")] for one in area.split()])
    except ValueError:
        found = np.empty((0, 0))
    if found.ndim != 2 or found.shape[1:] != (2,) or not np.isfinite(found).all():
        raise RequestError(422, "expected an area such as 0,0 0.5,0 0.5,0.5", param="area")
    if not FEWEST_CORNERS <= len(found) <= MOST_CORNERS:
        raise RequestError(
            422,
            f"an area has from {FEWEST_CORNERS} to {MOST_CORNERS} corners, got {len(found)}",
            param="area",
        )
    return found


def inside(points: Float32s, polygon: Float64s) -> npt.NDArray[np.bool_]:
    """Which points are inside a polygon, by the even-odd rule.

    Points without coordinates are not.
    """
    x, y = points.astype(np.float64).T
    odd: npt.NDArray[np.bool_] = np.zeros(len(points), bool)
    for (x1, y1), (x2, y2) in zip(polygon, np.roll(polygon, 1, axis=0), strict=True):
        if y1 == y2:
            continue
        crosses = (y1 > y) != (y2 > y)
        odd ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    odd &= ~np.isnan(x)
    return odd
