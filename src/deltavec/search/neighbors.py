"""The nearest neighbors of each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deltavec.core.arguments import require_whole
from deltavec.core.threads import thread_count
from deltavec.search.hits import Hits
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import nearest_rows


def neighbors(
    U: npt.ArrayLike,
    k: int = 10,
    *,
    ids: IdsLike | None = None,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Hits:
    """The k rows most similar to each row, itself left out.

    Parameters
    ----------
    U
        Rows of unit length, or zero. A row of zeros has the score 0 with all others.
    k
        How many neighbors; where there are fewer other rows, that many.
    ids
        What the rows are called: unique whole numbers or strings; by default their numbers. Rows
        with the same score come in the ascending order of their ids.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.

    Returns
    -------
    Hits
        Ids and scores, both of shape (rows, k), in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> neighbors(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]), k=1).ids
    array([[2],
           [2],
           [0]])
    """
    require_whole("k", k)
    thread_count(threads)
    pieces = ChunkedMatrix.of(U, "U", threads)
    names = Ids.of(ids, len(pieces))
    k = min(k, max(0, len(pieces) - 1))
    # The k best of the others are among the k + 1 best of all; the row itself may not be, if
    # others are equal to it.
    most = min(k + 1, len(pieces))
    found = nearest_rows(
        pieces, pieces, most, ranks=names.ranks, threads=threads, on_progress=on_progress
    )
    rows = names.rows_at(found.ranks)
    itself = rows == np.arange(len(rows))[:, None]
    others = np.argsort(itself, axis=1, kind="stable")[:, :k]
    return Hits(
        names.at(np.take_along_axis(rows, others, axis=1)),
        np.take_along_axis(found.scores, others, axis=1).astype(np.float32),
    )
