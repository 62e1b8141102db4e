"""Search by words and meaning the slow, obvious way: the oracle for the mixed score.

    s(q, d) = sum_i q_i W_di / sigma_b + w u_q . u_d / sigma_c

One word and one document at a time, in float64, from the equations of docs/decisions/0019; nothing
here is imported from the library.

==========  =====================================================================================
n_di        how often document d holds term i (all words of one stem)
m_di        how often term i is among the first 25 words of document d, 3 at most; n' = n + m
L_d, L      words of document d, up to 25 of them twice, and their mean over the documents
D, D_i      documents, and documents that hold term i
W_di        idf_i n' / (n' + k1 (1 - b + b L_d / L)), idf_i = ln(1 + (D - D_i + .5) / (D_i + .5))
a_i         how much term i clumps; q_i = n_i a_i / (a_i + .7), n_i its count in the query
==========  =====================================================================================

Words of a single byte are no words here. L is at least 1. Counts are exact up to 32. Both spreads
have a least value: .001 and .01.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

K1, B, WEIGHT, LEAD = 1.5, 0.75, 0.7, 25

Stem = Callable[[str], object]


def real(words: Sequence[str]) -> list[str]:
    """The words that count."""
    return [word for word in words if len(word.encode()) > 1]


def occurrences(words: Sequence[str], stem: Stem, term: object) -> int:
    """How often a term stands among words."""
    return sum(stem(word) == term for word in real(words))


def length(words: Sequence[str]) -> int:
    """L_d of a document."""
    return len(real(words)) + min(len(real(words)), LEAD)


def impacts(documents: Sequence[Sequence[str]], stem: Stem, term: object) -> list[float]:
    """W_di of each document."""
    D = len(documents)
    n = [
        occurrences(words, stem, term) + min(occurrences(words[:LEAD], stem, term), 3)
        for words in documents
    ]
    L_d = [length(words) for words in documents]
    L = max(sum(L_d) / D, 1.0)
    D_i = sum(count > 0 for count in n)
    idf = math.log(1 + (D - D_i + 0.5) / (D_i + 0.5))
    return [
        idf * count / (count + K1 * (1 - B + B * L_of / L)) if count else 0.0
        for count, L_of in zip(n, L_d, strict=True)
    ]


def telling(documents: Sequence[Sequence[str]], stem: Stem, term: object) -> float:
    """a_i / (a_i + .7)."""
    n = [occurrences(words, stem, term) for words in documents]
    L_d = [length(words) for words in documents]
    p = sum(n) / max(sum(L_d), 1)
    mu = [p * L_of for L_of in L_d]
    excess = sum((a - b) ** 2 for a, b in zip(n, mu, strict=True)) - sum(n)
    a = max((excess + 1) / (sum(value**2 for value in mu) + 0.2), 0.01)
    return a / (a + 0.7)


def word_shares(
    documents: Sequence[Sequence[str]], stem: Stem, query: Sequence[str]
) -> list[dict[str, float]]:
    """What each word of the query adds to each document."""
    held = {word for words in documents for word in words}
    asked = [word for word in real(query) if word in held]
    terms = {stem(word) for word in asked}
    q = {i: occurrences(asked, stem, i) * telling(documents, stem, i) for i in terms}
    W = {i: impacts(documents, stem, i) for i in terms}
    variance = sum(q[i] ** 2 * float(np.var(W[i])) for i in terms)
    sigma = max(math.sqrt(variance), 0.001)
    return [
        {
            word: asked.count(word)
            / occurrences(asked, stem, stem(word))
            * q[stem(word)]
            * W[stem(word)][d]
            / sigma
            for word in dict.fromkeys(asked)
        }
        for d in range(len(documents))
    ]


def scale(U: npt.NDArray[np.float64], u: npt.NDArray[np.float64]) -> float:
    """w / sigma_c; 0 for a query without direction."""
    if not u.any():
        return 0.0
    C = np.cov(U.T, bias=True).reshape(len(u), len(u)) if len(U) else np.zeros((len(u), len(u)))
    return WEIGHT / max(math.sqrt(max(float(u @ C @ u), 0.0)), 0.01)


def scores(
    documents: Sequence[Sequence[str]],
    stem: Stem,
    query: Sequence[str],
    U: npt.NDArray[np.float64],
    u: npt.NDArray[np.float64],
) -> list[float]:
    """The mixed score of each document."""
    words = word_shares(documents, stem, query)
    m = scale(U, u)
    return [sum(words[d].values()) + m * float(U[d] @ u) for d in range(len(documents))]
