"""Co-occurrence counts as a matrix."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from deltavec.core.arrays import offsets_of
from deltavec.core.learning.cooccurrence import Cooccurrence


def dense(counts: Cooccurrence) -> npt.NDArray[np.int64]:
    """The counts of every two words."""
    begins = offsets_of(np.concatenate([np.diff(block.begins) for block in counts.blocks]))
    columns = np.concatenate([block.columns for block in counts.blocks])
    values = np.concatenate([block.values for block in counts.blocks], dtype=np.int64)
    matrix = sparse.csr_matrix((values, columns, begins), (counts.words, counts.words))
    table: npt.NDArray[np.int64] = matrix.toarray()
    return table
