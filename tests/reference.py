"""The method word by word: the slow, obvious oracle that the fused path is held against.

Written from the equations, in the letters of the paper ("Improving a tf-idf weighted document
vector embedding", Schmidt 2019), one word at a time, in float64, and without a look at the fast
implementation. Nothing here is clever; nothing here is imported from the library.

======================  ===========================================================
v_i                     vector of word i, scaled to unit length before anything else
n_i, N, tf_i = n_i / N  counts in one document, over its words that have a vector
n_ic, N_c, tf_ic        the same over the corpus
D, D_i                  documents in the corpus, documents that contain word i
w_i                     weight of word i
V, V_d                  words that have a vector, and those of them in the document
======================  ===========================================================
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Vectors = Mapping[str, Vector]
Document = Sequence[str]

# A vector shorter than this share of the lengths that were added up to make it is rounding, and
# so is a component with less than this share of the first one's singular value.
ROUNDING = 1e-5


def words(text: str) -> list[str]:
    """The tokens of a text: maximal runs of letters, marks, numbers or underscores, lower-cased.

    In scripts without spaces every character is a token, with its marks, and so is every pair.
    """
    runs: list[tuple[bool, list[str]]] = []
    inside = False
    for character in text:
        if not is_word_character(character):
            inside = False
            continue
        unspaced = is_unspaced(character)
        if inside and runs[-1][0] and is_mark(character):
            runs[-1][1][-1] += character
        elif inside and runs[-1][0] == unspaced:
            runs[-1][1].append(lower(character))
        else:
            runs.append((unspaced, [lower(character)]))
        inside = True
    found: list[str] = []
    for unspaced, characters in runs:
        if unspaced:
            for before, character in zip(["", *characters], characters, strict=False):
                found += [before + character, character] if before else [character]
        else:
            found.append("".join(characters))
    return found


def is_mark(character: str) -> bool:
    """Whether a character belongs to the one before it: category M*, or half-width voicing."""
    return unicodedata.category(character)[0] == "M" or character in "\uff9e\uff9f"


def is_word_character(character: str) -> bool:
    """Whether a character belongs to words: Unicode category L*, M* or N*, or an underscore."""
    return character == "_" or unicodedata.category(character)[0] in "LMN"


UNSPACED = (
    "CJK ",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "HENTAIGANA",
    "IDEOGRAPHIC CLOSING",
    "IDEOGRAPHIC ITERATION",
    "IDEOGRAPHIC NUMBER",
    "HANGZHOU",
    "VERTICAL IDEOGRAPHIC",
    "VERTICAL KANA",
    "MASU",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
    "TAI ",
    "NEW TAI LUE ",
    "AHOM ",
)


def is_unspaced(character: str) -> bool:
    """Whether a character, by its name, is of a script without spaces between words; no mark."""
    name = unicodedata.name(character, "")
    return (
        name.startswith(UNSPACED)
        and is_word_character(character)
        and not is_mark(character)
        and unicodedata.category(character) not in ("Nd", "No")
    )


def lower(character: str) -> str:
    """The lower case of one character; itself where that would be several (only U+0130 is so)."""
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character


def words_of_bytes(data: bytes) -> list[str]:
    """The words of UTF-8 text; each broken part is U+FFFD, which is no word character."""
    return words(data.decode("utf-8", errors="replace"))


@dataclass(frozen=True)
class Counts:
    """What the method knows of a corpus."""

    n_c: dict[str, int]
    """How often each word of V occurs."""
    D_i: dict[str, int]
    """In how many documents each word of V occurs."""
    N_c: int
    """How many words of the corpus have a vector."""
    D: int
    """Documents, empty ones too."""
    tokens: int
    """Words with and without a vector."""
    unknown_documents: int
    """Documents without any word of V."""

    def tf_c(self, word: str) -> float:
        """tf_ic = n_ic / N_c."""
        return self.n_c[word] / self.N_c if self.N_c else 0.0

    @property
    def mean_length(self) -> float:
        """Words with a vector per document."""
        return self.N_c / self.D if self.D else 0.0


def count(documents: Sequence[Document], vocabulary: Sequence[str]) -> Counts:
    """The counts of a corpus."""
    n_c = dict.fromkeys(vocabulary, 0)
    D_i = dict.fromkeys(vocabulary, 0)
    tokens = 0
    unknown_documents = 0
    for document in documents:
        tokens += len(document)
        known = [word for word in document if word in n_c]
        for word in known:
            n_c[word] += 1
        for word in set(known):
            D_i[word] += 1
        if not known:
            unknown_documents += 1
    return Counts(n_c, D_i, sum(n_c.values()), len(documents), tokens, unknown_documents)


Weight = Callable[[Counts, str], float]


def unit(counts: Counts, word: str) -> float:
    """w_i = 1."""
    return 1.0


def idf(counts: Counts, word: str) -> float:
    """w_i = ln(D / D_i); a word that never occurs is taken to occur in one document."""
    return math.log(counts.D / max(counts.D_i[word], 1))


def sif(counts: Counts, word: str, a: float = 1e-4) -> float:
    """w_i = a / (a + tf_ic)."""
    return a / (a + counts.tf_c(word))


def subsampling(counts: Counts, word: str, t: float = 1e-5) -> float:
    """w_i = sqrt(t / tf_ic) if tf_ic >= t, else 1."""
    tf_c = counts.tf_c(word)
    return math.sqrt(t / tf_c) if tf_c >= t else 1.0


WEIGHTS: dict[str, Weight] = {"unit": unit, "idf": idf, "sif": sif, "subsampling": subsampling}


@dataclass(frozen=True)
class Sums:
    """The two sums of a document vector, c = sum_i words_i v_i - sum_i center_i v_i."""

    words: dict[str, float]
    """Over V_d."""
    center: dict[str, float]
    """Over V, the same for every document."""


Form = Callable[[Document, Counts, Mapping[str, float]], Sums]


def term_frequencies(document: Document) -> dict[str, float]:
    """tf_i = n_i / N for the words of a document that all have a vector."""
    n: dict[str, int] = {}
    for word in document:
        n[word] = n.get(word, 0) + 1
    N = len(document)
    return {word: n_i / N for word, n_i in n.items()}


def sum_form(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """c = sum_{V_d} w_i tf_i v_i."""
    tf = term_frequencies(document)
    return Sums({i: w[i] * tf[i] for i in tf}, {})


def center(
    document: Document, counts: Counts, w: Mapping[str, float], min_frequency: float = 0.0
) -> Sums:
    """c = sum_{V_d} w_i tf_i v_i - sum_{V, tf_ic > min_frequency} w_i tf_ic v_i."""
    tf = term_frequencies(document)
    frequent = [i for i in w if counts.tf_c(i) > min_frequency]
    return Sums({i: w[i] * tf[i] for i in tf}, {i: w[i] * counts.tf_c(i) for i in frequent})


def delta(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """c = sum_{V_d} w_i (tf_i - tf_ic) v_i."""
    tf = term_frequencies(document)
    return Sums({i: w[i] * (tf[i] - counts.tf_c(i)) for i in tf}, {})


FORMS: dict[str, Form] = {"sum": sum_form, "center": center, "delta": delta}


@dataclass(frozen=True)
class Method:
    """What is computed: one weight, one form, and how many common components go."""

    weight: Weight
    form: Form
    removed: int = 0
    centered: bool = False
    """Whether components are those of the centered documents. The method's are not: a mutation."""

    @staticmethod
    def named(name: str) -> Method:
        """The method of a name such as `idf-delta-pca`."""
        weight, form, *pca = name.split("-")
        return Method(WEIGHTS[weight], FORMS[form], removed=len(pca))


NAMES = ["unit-sum"] + [
    f"{weight}-{form}{pca}"
    for weight in ["idf", "sif", "subsampling"]
    for form in FORMS
    for pca in ["", "-pca"]
]


@dataclass(frozen=True)
class Fitted:
    """What is learned from a corpus, frozen."""

    method: Method
    vectors: Vectors
    counts: Counts
    w: Mapping[str, float]
    components: Sequence[Vector]
    singular_values: Sequence[float]
    """Of the unit document vectors of the corpus, all of them, largest first."""
    corpus: Sequence[Embedded] = ()
    """The corpus before removal: what the components are those of."""


@dataclass(frozen=True)
class Embedded:
    """One document's vector, and how it came about."""

    u: Vector
    """Unit length, or zero."""
    c: Vector
    """Before scaling, after removal."""
    length: float
    """|c| before removal."""
    magnitude: float
    """The lengths that were added up: what |c| is measured against to tell it from rounding."""
    inputs: float
    """The same with the words of the center one by one: what rounding of vectors is a share of."""

    @property
    def ratio(self) -> float:
        """|c| as a share of what was added up: small where the sum cancels."""
        return float(np.linalg.norm(self.c)) / self.magnitude if self.magnitude else 0.0


def unit_vectors(vectors: Mapping[str, Sequence[float] | Vector]) -> dict[str, Vector]:
    """The word vectors, each scaled to unit length."""
    scaled = {}
    for word, vector in vectors.items():
        v = np.array(vector, dtype=np.float64)
        scaled[word] = v / np.linalg.norm(v)
    return scaled


def fit(documents: Sequence[Document], vectors: Vectors, method: Method) -> Fitted:
    """Counts, weights and components, learned from a corpus."""
    counts = count(documents, list(vectors))
    w = {word: method.weight(counts, word) if counts.D else 1.0 for word in vectors}
    plain = Fitted(method, vectors, counts, w, components=[], singular_values=[])
    if method.removed == 0:
        return plain
    corpus = embed_all(plain, documents)
    components, singular_values = leading_components(
        [embedded.u for embedded in corpus], method.removed, method.centered
    )
    return replace(plain, components=components, singular_values=singular_values, corpus=corpus)


def leading_components(
    units: Sequence[Vector], m: int, centered: bool = False
) -> tuple[list[Vector], list[float]]:
    """The first m right singular vectors of the documents, and all the singular values.

    A component of which the documents have nothing is left out; each has its entry that is
    largest in absolute value positive.
    """
    if not units:
        return [], []
    U = np.array(units)
    if centered:
        U = U - U.mean(axis=0)
    _, s, rows = np.linalg.svd(U)
    components = []
    for k in range(min(m, len(s))):
        if s[k] > ROUNDING * s[0]:
            p = rows[k]
            components.append(p if p[np.argmax(np.abs(p))] > 0 else -p)
    return components, [float(value) for value in s]


def embed(fitted: Fitted, document: Document) -> Embedded:
    """The unit vector of one document; zero where nothing but rounding is left of it."""
    v = fitted.vectors
    K = len(next(iter(v.values())))
    known = [word for word in document if word in v]
    zero = np.zeros(K)
    if not known:
        return Embedded(zero, zero, length=0.0, magnitude=0.0, inputs=0.0)

    sums = fitted.method.form(known, fitted.counts, fitted.w)
    c = np.zeros(K)
    for word, coefficient in sums.words.items():
        c = c + coefficient * v[word]
    offset = np.zeros(K)
    for word, coefficient in sums.center.items():
        offset = offset + coefficient * v[word]
    c = c - offset

    magnitude = sum(abs(x) for x in sums.words.values()) + float(np.linalg.norm(offset))
    inputs = sum(abs(x) for x in [*sums.words.values(), *sums.center.values()])

    length = float(np.linalg.norm(c))
    if length <= ROUNDING * magnitude:
        return Embedded(zero, c, length, magnitude, inputs)
    u = remove(c / length, fitted.components)
    remaining = float(np.linalg.norm(u))
    if remaining * length <= ROUNDING * magnitude:
        return Embedded(zero, u * length, length, magnitude, inputs)
    return Embedded(u / remaining, u * length, length, magnitude, inputs)


def remove(u: Vector, components: Sequence[Vector]) -> Vector:
    """u - p (p . u), for one component after the other."""
    for p in components:
        u = u - p * float(p @ u)
    return u


def embed_all(fitted: Fitted, documents: Sequence[Document]) -> list[Embedded]:
    """Every document's vector."""
    return [embed(fitted, document) for document in documents]


def auto(counts: Counts, removal: bool = True) -> str:
    """The method the paper's conclusions call for, by the mean length of the documents."""
    if removal:
        return "idf-sum-pca" if counts.mean_length < 300 else "idf-delta-pca"
    return "idf-center" if counts.mean_length < 450 else "idf-delta"


OFFSET = ""
"""Stands for the corpus center among the words of a document (no word is empty)."""


def parts(fitted: Fitted, document: Document) -> dict[str, Vector]:
    """What each word adds to the document's unit vector; the sum of all parts is that vector."""
    embedded = embed(fitted, document)
    if not embedded.u.any():
        return {}
    known = [word for word in document if word in fitted.vectors]
    sums = fitted.method.form(known, fitted.counts, fitted.w)
    scale = float(np.linalg.norm(embedded.c))
    found = {i: x * fitted.vectors[i] for i, x in sums.words.items()}
    if sums.center:
        found[OFFSET] = -sum(
            (x * fitted.vectors[i] for i, x in sums.center.items()), np.zeros_like(embedded.c)
        )
    return {i: remove(part, fitted.components) / scale for i, part in found.items()}


def shares(fitted: Fitted, a: Document, b: Document) -> dict[str, float]:
    """What each word of document a adds to its cosine with document b."""
    u_b = embed(fitted, b).u
    return {word: float(part @ u_b) for word, part in parts(fitted, a).items()}


def pair_shares(fitted: Fitted, a: Document, b: Document) -> dict[tuple[str, str], float]:
    """What each pair of words, one of each document, adds to the cosine."""
    parts_b = parts(fitted, b)
    return {
        (i, j): float(part_i @ part_j)
        for i, part_i in parts(fitted, a).items()
        for j, part_j in parts_b.items()
    }


def cooccurrence(documents: Sequence[Document], vocabulary: Sequence[str], window: int) -> Vector:
    """C_ij: how often word j stands within `window` positions of word i.

    Positions are counted among the words of the vocabulary, inside one document.
    """
    ids = {word: i for i, word in enumerate(vocabulary)}
    C = np.zeros((len(vocabulary), len(vocabulary)))
    for document in documents:
        known = [ids[word] for word in document if word in ids]
        for here, i in enumerate(known):
            for there, j in enumerate(known):
                if there != here and abs(there - here) <= window:
                    C[i, j] += 1
    return C


def ppmi(C: Vector) -> Vector:
    """max(0, ln(C_ij / (C_i. q_j))), q_j = C_.j^.75 / sum_k C_.k^.75."""
    V = len(C)
    row = [float(sum(C[i])) for i in range(V)]
    column = [float(sum(C[:, j])) for j in range(V)]
    total = sum(n**0.75 for n in column)
    P = np.zeros((V, V))
    for i in range(V):
        for j in range(V):
            if C[i, j] > 0:
                q_j = column[j] ** 0.75 / total
                P[i, j] = max(0.0, math.log(C[i, j] / (row[i] * q_j)))
    return P


def ppmi_rows(
    documents: Sequence[Document], vocabulary: Sequence[str], window: int, dimensions: int
) -> dict[str, Vector]:
    """Rows of U S^.5 of the PPMI matrix U S V', truncated to its leading dimensions."""
    P = ppmi(cooccurrence(documents, vocabulary, window))
    U, s, _ = np.linalg.svd(P)
    rows = {}
    for i, word in enumerate(vocabulary):
        rows[word] = np.array([U[i, k] * math.sqrt(s[k]) for k in range(min(dimensions, len(s)))])
    return rows


def ppmi_vectors(rows: Mapping[str, Vector]) -> dict[str, Vector]:
    """The rows scaled to unit length; those of which only rounding is left stay out."""
    longest = max(float(np.linalg.norm(row)) for row in rows.values())
    return unit_vectors(
        {word: row for word, row in rows.items() if np.linalg.norm(row) > ROUNDING * longest}
    )


@dataclass(frozen=True)
class SpectralTable:
    """What the spectral recipe learns: T and g, word by word and direction by direction."""

    counts: Counts
    T: dict[str, Vector]
    g: Vector
    L0: float


def spectral(
    documents: Sequence[Document],
    vocabulary: Sequence[str],
    dimensions: int,
    window: int | None,
    prior: Mapping[str, Vector] | None = None,
) -> SpectralTable:
    """The spectral recipe, step by step, with an exact dense decomposition.

    Prior vectors, if there are any, stand beside the pairs: diag(r) [M + alpha I | m V].
    """
    counts = count(documents, vocabulary)
    L0 = sum(counts.n_c.values()) / len(documents)
    part = 2 if sum(len(document) for document in documents) >= 1_000_000 else 4
    W = window or min(100, max(5, round(L0 / part)))
    M = ppmi(cooccurrence(documents, vocabulary, W))
    alpha = sum(float(np.linalg.norm(row)) for row in M) / len(M)
    p = np.array([counts.tf_c(word) for word in vocabulary])
    r = np.array([math.sqrt(p[i]) * idf(counts, word) for i, word in enumerate(vocabulary)])
    A = M + alpha * np.eye(len(M))
    if prior is not None:
        A = np.hstack([A, alpha * prior_rows(vocabulary, prior)])
    U, s, _ = np.linalg.svd(np.diag(r) @ A)
    d = min(dimensions, int((s > 1e-5 * s[0]).sum()))
    T = {word: U[i, :d] / math.sqrt(p[i]) for i, word in enumerate(vocabulary)}
    g = np.array([min(s[j] / s[min(1, d - 1)], 1.0) ** 0.75 for j in range(d)])
    return SpectralTable(counts, T, g, L0)


def prior_rows(vocabulary: Sequence[str], prior: Mapping[str, Vector]) -> Vector:
    """V: unit rows less their mean, at unit length again; zeros for words that have none."""
    own = {word: prior[word] / np.linalg.norm(prior[word]) for word in vocabulary if word in prior}
    center = np.mean(list(own.values()), axis=0)
    rows = []
    for word in vocabulary:
        row = own[word] - center if word in own else np.zeros(len(center))
        length = float(np.linalg.norm(row))
        rows.append(row / length if length > 0 else row)
    return np.array(rows)


def spectral_embed(
    table: SpectralTable, documents: Sequence[Document], collection: Sequence[Document] | None
) -> list[Vector]:
    """The documents' unit vectors, seen from the corpus or from a collection's center.

    The corpus' center counts as much as a hundred documents of the collection.
    """
    known = [[w for w in document if w in table.T] for document in collection or []]
    known = [document for document in known if document]
    L = sum(map(len, known)) / len(known) if known else table.L0
    ratio = L / table.L0
    w = ratio * table.g / (1 + (ratio - 1) * table.g)

    def y(document: Document) -> Vector:
        shares = term_frequencies([word for word in document if word in table.T])
        return sum((share * table.T[word] * w for word, share in shares.items()), np.zeros(len(w)))

    b = sum((table.counts.tf_c(word) * T * w for word, T in table.T.items()), np.zeros(len(w)))
    if known:
        b = (100 * b + sum((y(document) for document in known), np.zeros(len(w)))) / (
            100 + len(known)
        )
    result = []
    for document in documents:
        empty = not any(word in table.T for word in document)
        c = np.zeros(len(w)) if empty else y(document) - b
        length = float(np.linalg.norm(c))
        result.append(c / length if length > 0 else c)
    return result


def document_hash(ids: Sequence[int]) -> int:
    """A number of 64 bits that follows from the ids of a document's words."""
    number = 0
    for i in ids:
        number = (number ^ (int(i) + 1)) * 0x9E3779B97F4A7C15 % 2**64
        number ^= number >> 32
        number = number * 0xD6E8FEB86659FD93 % 2**64
        number ^= number >> 32
    return number


def fold_rows(
    documents: Sequence[Document], vocabulary: Sequence[str], dimensions: int, window: int
) -> Vector:
    """T_k: what the spectral recipe learns of all words from some documents only."""
    counts = count(documents, vocabulary)
    M = ppmi(cooccurrence(documents, vocabulary, window))
    p = np.array([counts.tf_c(word) for word in vocabulary])
    alpha = np.mean([np.linalg.norm(M[i]) for i in range(len(M)) if p[i] > 0])
    r = [math.sqrt(p[i]) * idf(counts, word) for i, word in enumerate(vocabulary)]
    U, s, _ = np.linalg.svd(np.diag(r) @ (M + alpha * np.eye(len(M))))
    d = min(dimensions, int((s > 1e-5 * s[0]).sum()))
    return np.array([U[i, :d] / math.sqrt(p[i]) if p[i] else np.zeros(d) for i in range(len(p))])


def halves(documents: Sequence[Document], T: Mapping[str, Vector], L0: float) -> list[Any]:
    """The means of the rows of both halves, and u, of each document of 20 known words or more."""
    known = [[word for word in document if word in T] for document in documents]
    return [
        (
            np.mean([T[word] for word in words[: len(words) // 2]], axis=0),
            np.mean([T[word] for word in words[len(words) // 2 :]], axis=0),
            min(len(words) / L0, 1.0),
        )
        for words in known
        if len(words) >= 20
    ]


def shared(pairs: Sequence[Any], longest: float = math.inf) -> tuple[Vector, float]:
    """sym(sum u y_a y_b') / sum u of centered halves, and (sum u)^2 / sum u^2."""
    u = np.array([weight for _, _, weight in pairs])
    sides = []
    for side in (0, 1):
        y = np.array([pair[side] for pair in pairs])
        y = y - y.mean(axis=0)
        lengths = np.linalg.norm(y, axis=1)
        bound = longest * np.median(lengths) if longest < math.inf else math.inf
        sides.append(np.array([v * min(1.0, bound / n) for v, n in zip(y, lengths, strict=True)]))
    C = sum(
        (u[d] * np.outer(sides[0][d], sides[1][d]) for d in range(len(u))),
        np.zeros((sides[0].shape[1],) * 2),
    ) / sum(u)
    return (C + C.T) / 2, float(sum(u) ** 2 / sum(u**2))


def axes(B: Vector) -> tuple[Vector, Vector]:
    """Q and g = min(b / b_2, 1)^(1/2) of B = Q diag(b) Q', the largest first."""
    b, Q = np.linalg.eigh(B)
    b, Q = b[::-1], Q[:, ::-1]
    return Q, np.array([math.sqrt(min(max(b[j] / b[1], 1e-12), 1.0)) for j in range(len(b))])


def measured_axes(
    documents: Sequence[Document],
    vocabulary: Sequence[str],
    table: SpectralTable,
    window: int,
    collection: Sequence[Document] | None,
) -> SpectralTable:
    """The table in the axes that halves of documents share, cross-fitted in two folds."""
    ids = {word: i for i, word in enumerate(vocabulary)}
    folds: tuple[list[Document], list[Document]] = ([], [])
    for document in documents:
        hashed = document_hash([ids[word] for word in document if word in ids])
        folds[hashed % 2].append(document)
    d = len(table.g)
    T = np.array([table.T[word] for word in vocabulary])
    p = np.array([table.counts.tf_c(word) for word in vocabulary])
    C = np.zeros((d, d))
    C_in = np.zeros((d, d))
    for k in (0, 1):
        T_k = fold_rows(folds[1 - k], vocabulary, d, window)
        C_k, _ = shared(halves(folds[k], dict(zip(vocabulary, T_k, strict=True)), table.L0))
        P = sum(p[i] * np.outer(T[i], T_k[i]) for i in range(len(p)))
        C = C + P @ C_k @ P.T / 2
        C_in = C_in + shared(halves(folds[k], table.T, table.L0))[0] / 2
    long = len(halves(documents, table.T, table.L0))
    n = round(min(6000, long) * min(1.0, 2 * long / len(documents)))
    B_0 = np.diag(table.g**2) * np.trace(C) / sum(table.g**2)
    B = (n * C + 1000 * B_0) / (n + 1000)
    Q, g = axes(B)
    rho = [
        min(max((Q[:, j] @ C @ Q[:, j]) / (Q[:, j] @ C_in @ Q[:, j]), 0.0), 1.0)
        if Q[:, j] @ C_in @ Q[:, j] > 0
        else 0.0
        for j in range(d)
    ]
    if collection is not None:
        D = Q @ np.diag(np.sqrt(rho)) @ Q.T
        C_c, n_c = shared(halves(collection, table.T, table.L0), longest=2.0)
        Q, g = axes((n_c * D @ C_c @ D + 1000 * B) / (n_c + 1000))
    return SpectralTable(table.counts, {w: row @ Q for w, row in table.T.items()}, g, table.L0)


# Characters that are not to be seen, by Unicode's property, but for those that part words; the
# tatweel, and the vowel marks of Arabic.
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u0640\u064b-\u0652\u0670]"
)


def folded(text: str) -> str:
    """The text in one way of writing: what Unicode maps, run by run of word characters."""
    written: list[str] = []
    for inside, run in itertools.groupby(UNSEEN.sub("", text), is_word_character):
        if not inside:
            written += run
            continue
        ordered = unicodedata.normalize("NFD", "".join(map(folded_parts, run)))
        written.append(unicodedata.normalize("NFC", re.sub("i\u0307+", "i", ordered)))
    return "".join(one.lower() if one.isascii() else one for one in "".join(written))


def folded_parts(character: str) -> str:
    """A character decomposed and folded; by its canonical mapping if the other separates words."""
    for form in ("NFKD", "NFD"):
        decomposed = unicodedata.normalize(form, character)
        lower = "".join(one if one == "\u0345" else one.casefold() for one in decomposed)
        found = UNSEEN.sub("", unicodedata.normalize(form, lower))
        if all(map(is_word_character, found)):
            break
    return found
