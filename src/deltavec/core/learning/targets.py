r"""Learn from vectors that another model, the teacher, gave to a sample of the corpus.

Ridge regression from token counts towards the teacher's vectors, in closed form. With X the means
of token counts less their mean m over the corpus, R the centered targets, D the idf of each unit
and S the rows of the spectral table, rows have the prior covariance :math:`\Sigma = \tfrac12 c_1
D^2 + \tfrac12 c_2 S S^\top`, each part of mean variance 1 over the sample. So documents have the
covariance

.. math:: K = s X \Sigma X^\top s,

with the diagonal s such that every document has variance 1. The prior mean of a row is
:math:`\kappa P_i = \kappa D_i (W_i - \bar W)`, with W the teacher's vectors of single words where
it can be asked:

.. math:: T = \kappa P + \Sigma X^\top s\, (K + \lambda I)^{-1} (R - \kappa s X P) .

:math:`\lambda` is the one of .1, .3 and 1 with which left-out cosines correlate best with the
teacher's. The student T and the table S are joined by their lengths over the corpus,
:math:`[w T / \ell_T \mid (1 - w) S / \ell_S]`, and turned to the leading axes: one table again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from deltavec.core.arrays import Float64s, Int64s, fix_signs
from deltavec.core.forms import EmbeddingTable
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.learning.kernels import document_ends
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.batches import Chunked, as_text_batch
from deltavec.core.text.rules import is_marked
from deltavec.errors import InputError

Teacher = Callable[[list[str]], Any]
"""Turns texts into vectors, one a row."""

WEIGHT = 0.5
FEWEST, MOST = 50, 10_000  # documents of a sample
SAMPLE = 1_000  # documents that a teacher is asked for
WORDS_ASKED = 10_000
RIDGES = (0.1, 0.3, 1.0)
TRIED = 2_000  # documents that choose the ridge
PAIRS = 20_000
MEASURED = 50_000  # documents of the corpus that say how long vectors are, and which axes lead


@dataclass(frozen=True, eq=False)
class Targets:
    """A sample of a corpus, the teacher's vectors of it, and how much the student counts.

    Attributes
    ----------
    texts : sequence of str
        The sample.
    vectors : ndarray of float64
        Their vectors, of unit length.
    weight : float
        w, from 0 to 1.
    teacher : callable or None
        What can be asked for the vectors of single words.
    """

    texts: Sequence[str]
    vectors: Float64s
    weight: float = WEIGHT
    teacher: Teacher | None = None

    @classmethod
    def of(cls, corpus: Chunked, given: Any, teacher: Teacher | None, weight: float) -> Targets:
        """The targets that a user gave, or else asks a teacher for.

        Raises
        ------
        InputError
            For vectors that are not one of a number of finite values for each text.
        """
        if isinstance(weight, bool) or not 0 <= weight <= 1:
            raise InputError(f"weight must be from 0 to 1, got {weight!r}")
        if given is None and teacher is not None:
            texts = some_texts(corpus, None)
            return cls(texts, as_targets(teacher(texts), len(texts)), weight, teacher)
        if not isinstance(given, tuple) or len(given) != 2:
            raise InputError(
                "targets must be a pair, texts (or numbers of documents) and their vectors, got "
                f"{type(given).__name__}"
            )
        texts, vectors = list(given[0]), given[1]
        if not FEWEST <= len(texts) <= MOST:
            raise InputError(
                f"targets must be {FEWEST} to {MOST:,} documents, got {len(texts):,}: take a "
                "sample of the corpus"
            )
        targets = as_targets(vectors, len(texts))
        if all(isinstance(text, int | np.integer) for text in texts):
            texts = some_texts(corpus, np.asarray(texts, np.int64))
        if not all(isinstance(text, str) for text in texts):
            raise InputError("targets must be of texts, or of numbers of documents from 0 on")
        return cls(texts, targets, weight, teacher)


def as_targets(vectors: Any, count: int) -> Float64s:
    """A teacher's vectors at unit length, if there is one for each text."""
    matrix = np.asarray(vectors, np.float64)
    if matrix.ndim != 2 or len(matrix) != count or not np.isfinite(matrix).all():
        raise InputError(
            f"expected a finite vector for each of {count:,} texts, got an array of shape "
            f"{matrix.shape}"
        )
    return unit(matrix)


def some_texts(corpus: Chunked, numbers: Int64s | None) -> list[str]:
    """The documents of a corpus with these numbers; by default a sample, evenly spread."""
    texts: list[str] = []
    for chunk in corpus:
        listed = chunk.to_pylist() if hasattr(chunk, "to_pylist") else list(chunk)
        if not all(text is None or isinstance(text, str) for text in listed):
            raise InputError("a teacher takes texts: documents must be strings, not lists of words")
        texts += [text or "" for text in listed]
    if numbers is None:
        count = min(SAMPLE, len(texts))
        numbers = np.unique(np.linspace(0, len(texts) - 1, count).astype(np.int64))
    if len(numbers) < FEWEST or numbers.min() < 0 or numbers.max() >= len(texts):
        raise InputError(
            f"targets must be {FEWEST} documents or more, numbered from 0 to {len(texts) - 1:,}; "
            f"got {len(numbers):,}, up to {int(numbers.max(initial=-1)):,}"
        )
    return [texts[number] for number in numbers.tolist()]


def learn_from(model: EmbeddingModel, corpus: Chunked, targets: Targets) -> EmbeddingModel:
    """The model joined with a student of the targets; as many dimensions as before."""
    model = model.for_collection(corpus)
    sample = token_means(targets.texts, model)
    means = sparse.vstack([token_means(chunk, model) for chunk in corpus_part(corpus)], "csr")
    m = np.asarray(means.mean(axis=0)).ravel()
    words = word_vectors(model, targets.teacher, targets.vectors.shape[1])
    rows, note = student(sample, targets.vectors, m, model, words)
    sides = []
    for share, side in ((targets.weight, rows), (1 - targets.weight, model.table.rows)):
        lengths = np.square(means @ side - m @ side).sum(axis=1)
        sides.append(share / max(np.sqrt(lengths.mean()), 1e-12) * side)
    joined = np.hstack(sides)
    documents = means @ joined - m @ joined
    axes = np.linalg.eigh(documents.T @ documents)[1][:, ::-1][:, : model.dimensions]
    turned = (joined @ fix_signs(axes, axis=0)).astype(np.float32)
    table = EmbeddingTable.of_rows(turned).with_offset(m)
    note = f"{len(targets.texts):,} documents, weight {targets.weight:g}; {note}"
    return replace(model, table=table, notes={**model.notes, "targets": note})


def corpus_part(corpus: Chunked) -> list[Any]:
    """The first documents of a corpus, in chunks."""
    chunks, left = [], MEASURED
    for chunk in corpus:
        chunks.append(chunk[:left])
        left -= len(chunks[-1])
        if left <= 0:
            break
    return chunks


def token_means(texts: Any, model: EmbeddingModel) -> sparse.csr_matrix:
    """n_i / N of each document, one a row."""
    batch = as_text_batch(texts, model.tokenizer)
    ids = np.concatenate([np.zeros(0, np.int32), *ids_of(batch, model.vocabulary, 1)])
    lengths = np.diff(document_ends(ids), prepend=-1) - 1
    rows = np.repeat(np.arange(len(lengths)), lengths)
    shape = len(lengths), len(model.vocabulary)
    found = sparse.csr_matrix((1 / lengths[rows], (rows, ids[ids >= 0])), shape)
    found.sum_duplicates()
    return found


def word_vectors(model: EmbeddingModel, teacher: Teacher | None, dimensions: int) -> Float64s:
    """The teacher's vectors of the most frequent words, centered; zeros for others."""
    found = np.zeros((len(model.vocabulary), dimensions if teacher else 0))
    if teacher is None:
        return found
    asked = [
        (place, unit[1:-1] if model.gram else unit)
        for place, unit in enumerate(model.vocabulary.words)
        if not model.gram or is_marked(unit)
    ][:WORDS_ASKED]
    given = as_targets(teacher([word for _, word in asked]), len(asked))
    if given.shape[1] != dimensions:
        raise InputError(f"the teacher gave {given.shape[1]} dimensions, the targets {dimensions}")
    found[[place for place, _ in asked]] = given - given.mean(axis=0)
    return found


def student(
    means: sparse.csr_matrix, targets: Float64s, m: Float64s, model: EmbeddingModel, words: Float64s
) -> tuple[Float64s, str]:
    """The rows that imitate the teacher, and how well."""
    statistics = model.statistics
    idf = np.log((statistics.documents + 1) / (statistics.document_counts + 0.5))
    goal = targets - targets.mean(axis=0)
    kernel, factors = np.zeros((len(goal), len(goal))), []
    for factor in (sparse.diags(idf, format="csr"), model.table.rows.astype(np.float64)):
        features = means @ factor
        center = np.asarray(m @ factor).ravel()
        gram = features @ features.T
        along = np.asarray(features @ center).ravel()
        gram = gram.toarray() if sparse.issparse(gram) else gram
        gram = gram - along[:, None] - along + center @ center
        scale = 0.5 / max(float(np.diag(gram).mean()), 1e-12)
        kernel += scale * gram
        factors.append((scale, factor, features, center))
    size = 1 / np.sqrt(np.maximum(np.diag(kernel), 1e-9))
    kernel = kernel * size[:, None] * size
    prior_rows, prior, kappa = np.zeros((len(m), goal.shape[1])), np.zeros_like(goal), 0.0
    if words.any():
        prior_rows = idf[:, None] * words
        prior = (means @ prior_rows - m @ prior_rows) * size[:, None]
        kappa = float((prior * goal).sum() / max(float((prior * prior).sum()), 1e-12))
    rest = goal - kappa * prior
    ridge, agreement = best_ridge(kernel, goal, rest)
    solved = linalg.solve(kernel + ridge * np.eye(len(goal)), rest, assume_a="pos")
    answers = solved * size[:, None]
    rows = kappa * prior_rows
    for scale, factor, features, center in factors:
        weights = features.T @ answers - np.outer(center, answers.sum(axis=0))
        rows = rows + scale * (factor @ weights)
    return np.asarray(rows), f"ridge {ridge:g}, left-out cosines correlate at {agreement:.2f}"


def best_ridge(kernel: Float64s, goal: Float64s, rest: Float64s) -> tuple[float, float]:
    """The ridge with which left-out cosines agree best with the teacher's, and how well."""
    kernel, goal, rest = kernel[:TRIED, :TRIED], goal[:TRIED], rest[:TRIED]
    pairs = np.random.default_rng(0).integers(0, len(goal), (2, PAIRS))
    pairs = pairs[:, pairs[0] != pairs[1]]
    wanted = cosines(goal, pairs)
    found = []
    for ridge in RIDGES:
        inverse = linalg.inv(kernel + ridge * np.eye(len(goal)))
        left_out = goal - (inverse @ rest) / np.diag(inverse)[:, None]
        found.append((float(np.corrcoef(cosines(left_out, pairs), wanted)[0, 1]), ridge))
    agreement, ridge = max(found)
    return ridge, agreement


def cosines(vectors: Float64s, pairs: Int64s) -> Float64s:
    """The cosine of each pair of rows."""
    directions = unit(vectors)
    return np.asarray(np.einsum("ij,ij->i", directions[pairs[0]], directions[pairs[1]]))


def unit(vectors: Float64s) -> Float64s:
    """Rows at unit length; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
