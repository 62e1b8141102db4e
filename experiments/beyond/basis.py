"""A fit taken apart: the table before its strengths are measured, and what halves say of it.

Everything that `deltavec.fit` and `for_collection` make of these follows in closed form, so that
their constants can be varied without fitting again.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import LabelledCorpus
from problems import Draw
from scipy import sparse
from spectral_variants import CENTRE_DOCUMENTS

import deltavec as dv
from deltavec.core.fitting import chosen_recipe
from deltavec.core.forms import length_weights
from deltavec.core.learning.basis import factorised, own_share, whitening
from deltavec.core.learning.cooccurrence import DEFAULT_MEMORY, cooccurrence, ids_of
from deltavec.core.learning.corpora import LocalCorpus, statistics_of
from deltavec.core.learning.crossfit import CountedFolds, fold_directions
from deltavec.core.learning.kernels import hash_documents
from deltavec.core.learning.ppmi import Ppmi
from deltavec.core.learning.spectral import Spectral, learned_table, usual_window
from deltavec.core.learning.spill import spilling
from deltavec.core.learning.split_half import (
    COLLECTION_DOCUMENTS,
    LONGEST_HALF,
    Axes,
    Covariance,
    Evidence,
    Halves,
    Signal,
    along,
    axes_of,
    covariance,
    halves_of,
)
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import SpectralRecipe
from deltavec.core.text.batches import as_chunked, as_texts
from deltavec.core.text.feature_choice import AskedUnits
from deltavec.core.threads import one_blas_thread
from deltavec.lab.baselines import scaled_rows

Floats = npt.NDArray[np.float64]


class Strengths(NamedTuple):
    """The constants: documents that the prior counts for, the most that count, the exponent.

    Attributes
    ----------
    n0, n1 : float
        Documents that the spectrum counts for beside the corpus' halves, and the corpus beside
        those of a collection.
    most : int
        Documents of the corpus that count at the most.
    e : float
        The power of the covariance that is a direction's strength.
    estimated : bool
        Whether the sampling error of the covariances says how much they count, and not n0 and n1.
    """

    n0: float = 1_000
    n1: float = 1_000
    most: int = 6_000
    e: float = 0.5
    estimated: bool = False

    @property
    def name(self) -> str:
        """What is not at its default."""
        default = Strengths()._asdict()
        changed = [
            f"{name}={value:g}" for name, value in self._asdict().items() if value != default[name]
        ]
        return ", ".join(changed) or "default"


class Basis(NamedTuple):
    """A model with the strengths that its spectrum suggests, and what halves say of them.

    Attributes
    ----------
    model : EmbeddingModel
        With the strengths of the spectrum.
    found : Evidence
        What halves of its documents share.
    error : float
        The expected squared distance of that from what halves of all such documents would share.
    """

    model: EmbeddingModel
    found: Evidence
    error: float

    @property
    def rows(self) -> npt.NDArray[np.float32]:
        """T, whitened."""
        folded = self.model.folded
        return folded.rows / folded.direction_weights.astype(np.float32)

    def share(self, constants: Strengths) -> float:
        """How much the halves count beside the spectrum."""
        if constants.estimated:
            return estimated_share(self.found.outside, self.prior, self.error)
        documents = min(self.found.documents, constants.most)
        return documents / (documents + constants.n0)

    @property
    def prior(self) -> Floats:
        """What the spectrum suggests that halves share."""
        squares = np.square(self.model.folded.strengths)
        return np.diag(squares) * (np.trace(self.found.outside) / squares.sum())

    def signal(self, constants: Strengths) -> Signal:
        """B and D in the axes of T."""
        share = self.share(constants)
        mixed = share * self.found.outside + (1 - share) * self.prior
        axes = axes_of(mixed)
        inside = along(self.found.inside, axes)
        kept = along(self.found.outside, axes) / np.where(inside > 0, inside, np.inf)
        return Signal(mixed, axes.directions * np.sqrt(np.clip(kept, 0, 1)) @ axes.directions.T)

    def in_folds(self, texts: list[str], folds: int) -> Evidence:
        """What halves share, each fold of the documents in the table of all others."""
        words, recipe = words_of(self.model, texts), self.model.recipe
        length, size = self.model.statistics.mean_length, len(self.rows)
        closed = np.flatnonzero(words < 0)
        hashes = np.empty(len(closed), np.uint64)
        hash_documents(words, closed, hashes)
        fold_of = np.repeat(hashes % np.uint64(folds), np.diff(closed, prepend=-1))
        outside, inside = np.zeros((2, self.model.dimensions, self.model.dimensions))
        documents = 0
        for fold in range(folds):
            own, others = words[fold_of == fold], words[fold_of != fold]
            counts = statistics_of(others, size, len(others))
            pairs = cooccurrence(others, size, usual_window(self.model.statistics))
            ppmi = Ppmi(pairs, recipe.context_smoothing)
            directions = factorised(ppmi, own_share(ppmi, counts, recipe), counts, recipe)
            table = directions.vectors * whitening(counts.term_frequencies)
            turn = self.rows.T @ (self.model.statistics.term_frequencies[:, None] * table)
            halves = halves_of(own, table, length)
            number = len(halves.weights)
            outside += number * (turn @ covariance(halves).matrix @ turn.T)
            inside += number * covariance(halves_of(own, self.rows, length)).matrix
            documents += number
        return Evidence(outside / max(documents, 1), inside / max(documents, 1), documents)


def words_of(model: EmbeddingModel, texts: list[str]) -> npt.NDArray[np.int32]:
    """The ids of the known words of documents, each closed by -1."""
    return np.concatenate(ids_of(as_texts(texts, model.tokenizer), model.vocabulary, None))


def estimated_share(found: Floats, prior: Floats, error: float) -> float:
    """How much a covariance counts beside a prior, so that the expected error is least.

    The squared distance of the two is that of the truth from the prior and the sampling error
    (Ledoit and Wolf 2004).
    """
    return float(np.clip(1 - error / np.square(found - prior).sum(), 0, 1))


def sampling_error(halves: Halves, turn: Floats) -> float:
    """The expected squared error of the covariance of halves, in axes that they are turned into."""
    first, second = ((part - part.mean(axis=0, dtype=np.float64)) @ turn.T for part in halves[:2])
    weights = halves.weights
    total = weights.sum()
    lengths = np.square(first).sum(axis=1) * np.square(second).sum(axis=1)
    squares = (lengths + np.square((first * second).sum(axis=1))) / 2
    matrix = (first * weights[:, None]).T @ second / total
    matrix = (matrix + matrix.T) / 2
    squared = np.square(weights)
    return float((squared @ squares - squared.sum() * np.square(matrix).sum()) / total**2)


class Documents(NamedTuple):
    """Documents in a basis: mean rows, lengths, and what their halves share."""

    means: npt.NDArray[np.float32]
    lengths: Floats
    shared: Covariance
    halves: Halves


def basis_of(corpus: LabelledCorpus, cache: Path) -> Basis:
    """The fit of a corpus, taken apart; kept in the cache."""
    folder = cache / "bases" / corpus.name
    if not folder.exists():
        made = fitted(corpus.learned)
        folder.mkdir(parents=True)
        made.model.save(folder / "model.dv")
        np.savez(folder / "evidence.npz", **made.found._asdict(), error=made.error)
    with np.load(folder / "evidence.npz") as kept:
        found = Evidence(kept["outside"], kept["inside"], int(kept["documents"]))
        return Basis(dv.load(folder / "model.dv"), found, float(kept["error"]))


def fitted(texts: list[str]) -> Basis:
    """The fit of some texts, taken apart."""
    choice = chosen_recipe(None, None)
    asked = AskedUnits.of("words", "auto")
    corpus = LocalCorpus(
        as_chunked(texts), tokenizer=asked.tokenizer, units_open=asked.open
    ).with_chosen_units()
    with spilling(DEFAULT_MEMORY) as allocate, one_blas_thread():
        learned, folds = learned_table(corpus, choice.recipe, allocate)
        found, error = evidence(learned, folds, choice.recipe)
    model = EmbeddingModel(choice.recipe, choice.reason, *learned[:3], corpus.tokenizer, {})
    return Basis(model, found, error)


def evidence(
    learned: Spectral, counted: CountedFolds, recipe: SpectralRecipe
) -> tuple[Evidence, float]:
    """What `deltavec.core.learning.split_half.evidence` gives for all documents, and its error."""
    statistics = learned.statistics
    rows = learned.folded.rows / learned.folded.direction_weights.astype(np.float32)
    outside, inside = np.zeros((2, rows.shape[1], rows.shape[1]))
    error, documents = 0.0, 0
    for number, fold in enumerate(counted.folds.both):
        table = fold_directions(counted, 1 - number, len(rows), None, recipe).vectors
        turn = rows.T @ (statistics.term_frequencies[:, None] * table)
        halves = halves_of(fold, table, statistics.mean_length, 2)
        outside += turn @ covariance(halves).matrix @ turn.T / 2
        error += sampling_error(halves, turn) / 4
        documents += len(halves.weights)
        inside += covariance(halves_of(fold, rows, statistics.mean_length, 2)).matrix / 2
    return Evidence(outside, inside, documents), error


def texts_of(corpus: LabelledCorpus, draw: Draw, texts: list[str] | None = None) -> list[str]:
    """The documents of a draw, of the corpus' texts or of others in their place."""
    own = corpus.texts if texts is None else texts
    return [" ".join(own[place] for place in places) for places in draw.places.tolist()]


def documents_in(basis: Basis, texts: list[str]) -> Documents:
    """Some documents in the axes of a basis."""
    model, rows = basis.model, basis.rows
    words = words_of(model, texts)
    closed = np.flatnonzero(words < 0)
    lengths = np.diff(closed, prepend=-1) - 1
    begins = np.concatenate([[0], np.cumsum(lengths)])
    known = words[words >= 0]
    shares = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
    counts = sparse.csr_matrix((shares, known, begins), (len(texts), len(rows)))
    halves = halves_of(words, rows, model.statistics.mean_length, 1, COLLECTION_DOCUMENTS)
    own = covariance(halves, LONGEST_HALF)
    return Documents(counts @ rows, lengths.astype(np.float64), own, halves)


def for_documents(signal: Signal, own: Documents, constants: Strengths) -> Axes:
    """The axes for documents compared with each other."""
    deflated = signal.deflation @ own.shared.matrix @ signal.deflation
    if constants.estimated:
        error = sampling_error(own.halves, signal.deflation) if len(own.halves.weights) else 0.0
        share = estimated_share(deflated, signal.covariance, error)
    else:
        share = own.shared.documents / (own.shared.documents + constants.n1)
    return raised(axes_of(share * deflated + (1 - share) * signal.covariance), constants)


def raised(axes: Axes, constants: Strengths) -> Axes:
    """The axes with strengths of another power."""
    return axes._replace(strengths=axes.strengths ** (2 * constants.e))


def compared(
    basis: Basis, documents: Documents, axes: Axes | None = None, centre: bool = True
) -> npt.NDArray[np.float32]:
    """The vectors of documents in these axes, by default those of the spectrum.

    Seen from their centre, to which the corpus' adds; or from the corpus', for documents as long
    as its own.
    """
    model, known = basis.model, documents.lengths > 0
    directions, strengths = axes or Axes(np.eye(model.dimensions), model.folded.strengths)
    middle = model.statistics.term_frequencies @ basis.rows
    ratio = 1.0
    if centre:
        total = documents.means[known].sum(axis=0, dtype=np.float64) + CENTRE_DOCUMENTS * middle
        middle = total / (known.sum() + CENTRE_DOCUMENTS)
        ratio = documents.lengths[known].mean() / model.statistics.mean_length
    turned = (documents.means - middle) @ (directions * length_weights(strengths, ratio))
    return scaled_rows(turned * known[:, None])
