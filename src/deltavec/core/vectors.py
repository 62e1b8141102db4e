"""Word vectors: words and their matrix of unit rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import read_only
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError, VectorsError


class WordVectors:
    """Words and their vectors of unit length; immutable, shared and never copied.

    Parameters
    ----------
    words
        Distinct words, as the tokenizer would give them: lower-case under the rule ``words``.
    matrix
        One row of finite numbers for each word. Rows are scaled to unit length; rows of zeros
        have no direction, and are left out and counted in `dropped`.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words and their ids.
    matrix : ndarray of float32, shape (words, dimensions)
        The unit rows, read-only.
    dropped : Mapping[str, int]
        How many rows were left out, by reason.

    Examples
    --------
    >>> vectors = WordVectors(["sea", "room"], [[3.0, 4.0], [0.0, 2.0]])
    >>> vectors["sea"]
    array([0.6, 0.8], dtype=float32)
    >>> "pool" in vectors
    False
    """

    vocabulary: Vocabulary
    matrix: npt.NDArray[np.float32]
    dropped: Mapping[str, int]

    def __init__(self, words: Sequence[str], matrix: npt.ArrayLike) -> None:
        words = list(words)
        rows = as_matrix(words, matrix)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        try:
            self._keep(Vocabulary.of(words), normalize_rows(rows, norms), {})
        except InputError as error:
            raise VectorsError(str(error)) from None
        if not norms.all():
            kept = np.flatnonzero(norms)
            dropped = {"zero rows": len(words) - len(kept)}
            self._keep(self.vocabulary.taken(kept), self.matrix[kept], dropped)

    @classmethod
    def from_unit_rows(
        cls,
        vocabulary: Vocabulary,
        matrix: npt.NDArray[np.float32],
        dropped: Mapping[str, int] = MappingProxyType({}),
    ) -> WordVectors:
        """Word vectors whose rows are of unit length already; the matrix is kept as it is."""
        if matrix.dtype != np.float32 or matrix.shape[:1] != (len(vocabulary),) or matrix.ndim != 2:
            raise VectorsError(
                f"expected {len(vocabulary)} rows of float32, got {matrix.shape} of {matrix.dtype}"
            )
        vectors = cls.__new__(cls)
        vectors._keep(vocabulary, np.ascontiguousarray(matrix), dropped)
        return vectors

    def _keep(
        self, vocabulary: Vocabulary, matrix: npt.NDArray[np.float32], dropped: Mapping[str, int]
    ) -> None:
        self.vocabulary, self.matrix = vocabulary, read_only(matrix)
        self.dropped = MappingProxyType(dict(dropped))

    @property
    def words(self) -> list[str]:
        """The words, in the order of the rows."""
        return self.vocabulary.words

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short name of the content: equal for equal words and rows, whatever the file."""
        import hashlib

        digest = hashlib.sha256(self.vocabulary.offsets.tobytes())
        digest.update(self.vocabulary.data.data)
        digest.update(self.matrix.data)
        return digest.hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def __getitem__(self, word: str) -> npt.NDArray[np.float32]:
        if word not in self:
            raise KeyError(word)
        number = self.vocabulary.ids([word])[0]
        row: npt.NDArray[np.float32] = self.matrix[number]
        return row

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, {self.dimensions} dimensions)"

    def __reduce__(self) -> tuple[Any, ...]:
        return WordVectors.from_unit_rows, (self.vocabulary, self.matrix, dict(self.dropped))

    def __copy__(self) -> WordVectors:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WordVectors:
        return self


def as_matrix(words: Sequence[str], matrix: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """The matrix as float32, once it is known to fit the words."""
    rows = np.ascontiguousarray(matrix)
    if rows.ndim != 2 or len(rows) != len(words):
        raise VectorsError(
            f"expected one row of numbers for each of {len(words)} words, got shape {rows.shape}"
        )
    if rows.shape[1] == 0 or rows.dtype.kind not in "fiu":
        raise VectorsError(f"expected rows of numbers, got {rows.shape[1]} columns of {rows.dtype}")
    for word in words:
        if not isinstance(word, str):
            raise VectorsError(f"every word must be a string, got {type(word).__name__} ({word!r})")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        place = int(np.flatnonzero(~finite)[0])
        raise VectorsError(
            f"the vector of {words[place]!r} (row {place}) holds NaN or infinity: leave it out"
        )
    return rows


def normalize_rows(
    rows: npt.NDArray[Any], norms: npt.NDArray[np.float64]
) -> npt.NDArray[np.float32]:
    """The rows at unit length; a row of zeros stays one."""
    divisors = np.where(norms > 0, norms, 1.0)
    result: npt.NDArray[np.float32] = (rows / divisors[:, None]).astype(np.float32)
    return result
