"""The laws can fail: with any one term of the method changed, the same check finds it out.

Each mutation stands on one side only, in the library's table or in the reference, and the check
is the one that the laws of agreement use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

import reference
from deltavec.core.fitting import fit
from deltavec.core.forms import EmbeddingTable
from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.core.vectors import WordVectors
from reference import Counts, Document, Form, Method, Sums
from support.agreement import disagreements
from support.strategies import Problem


def corpus_with_everything() -> Problem:
    """Natural documents, an empty one, and words that have no vector."""
    random = np.random.default_rng(11)
    words = [f"word{number}" for number in range(40)]
    p = 1.0 / np.arange(1, 41)
    texts = [
        " ".join(random.choice(words, size=n, p=p / p.sum())) for n in random.integers(3, 40, 30)
    ]
    matrix = random.standard_normal((36, 8)) + 0.7 * random.standard_normal(8)
    return Problem([*texts[:20], ""], texts, words[4:], matrix.astype(np.float32))


PROBLEM = corpus_with_everything()


def fitted(name: str) -> EmbeddingModel:
    return fit(PROBLEM.corpus, WordVectors(PROBLEM.words, PROBLEM.matrix), name)


@pytest.mark.parametrize("name", reference.NAMES)
def test_without_mutation_the_check_finds_nothing(name: str) -> None:
    model = fitted(name)
    assert disagreements(model.embed(PROBLEM.texts), PROBLEM, Method.named(name)) == []


def no_penalty(folded: EmbeddingTable) -> EmbeddingTable:
    return replace(folded, penalties=np.zeros_like(folded.penalties))


def no_offset(folded: EmbeddingTable) -> EmbeddingTable:
    return replace(folded, offset=np.zeros_like(folded.offset), offset_norm=0.0)


def offset_added(folded: EmbeddingTable) -> EmbeddingTable:
    return replace(folded, offset=-folded.offset)


def no_removal(folded: EmbeddingTable) -> EmbeddingTable:
    return folded.restored()


def another_component(folded: EmbeddingTable) -> EmbeddingTable:
    return folded.without(np.roll(folded.components, 1, axis=1))


def no_weights(folded: EmbeddingTable) -> EmbeddingTable:
    norms = np.maximum(folded.norms, np.float32(1e-9))
    return replace(folded, rows=(folded.rows / norms[:, None]).astype(np.float32))


def rows_exchanged(folded: EmbeddingTable) -> EmbeddingTable:
    return replace(folded, rows=folded.rows[::-1].copy())


def one_penalty_off(folded: EmbeddingTable) -> EmbeddingTable:
    penalties = folded.penalties.copy()
    penalties[0] *= 1.001
    return replace(folded, penalties=penalties)


def one_row_off(folded: EmbeddingTable) -> EmbeddingTable:
    rows = folded.rows.copy()
    rows[0] *= 1.001
    return replace(folded, rows=rows)


@pytest.mark.parametrize(
    ("mutation", "names"),
    [
        (no_penalty, [name for name in reference.NAMES if "delta" in name]),
        (one_penalty_off, [name for name in reference.NAMES if "delta" in name]),
        (no_offset, [name for name in reference.NAMES if "center" in name]),
        (offset_added, [name for name in reference.NAMES if "center" in name]),
        (no_removal, [name for name in reference.NAMES if "pca" in name]),
        (another_component, [name for name in reference.NAMES if "pca" in name]),
        (no_weights, [name for name in reference.NAMES if "unit" not in name]),
        (rows_exchanged, reference.NAMES),
        (one_row_off, reference.NAMES),
    ],
)
def test_a_table_with_one_term_changed_is_found_out(
    mutation: Callable[[EmbeddingTable], EmbeddingTable], names: list[str]
) -> None:
    for name in names:
        model = fitted(name)
        mutant = replace(model, table=mutation(model.table))
        assert disagreements(mutant.embed(PROBLEM.texts), PROBLEM, Method.named(name)) != []


def idf_without_log(counts: Counts, word: str) -> float:
    return counts.D / max(counts.D_i[word], 1)


def smoothed_idf(counts: Counts, word: str) -> float:
    return math.log((1 + counts.D) / (1 + counts.D_i[word])) + 1


def idf_of_filled_documents(counts: Counts, word: str) -> float:
    return math.log((counts.D - counts.unknown_documents) / max(counts.D_i[word], 1))


def idf_of_tokens(counts: Counts, word: str) -> float:
    return math.log(counts.N_c / max(counts.n_c[word], 1))


def sif_of_all_tokens(counts: Counts, word: str) -> float:
    return 1e-4 / (1e-4 + counts.n_c[word] / counts.tokens)


def subsampling_squared(counts: Counts, word: str) -> float:
    return reference.subsampling(counts, word) ** 2


def sif_with_the_parameter_of_subsampling(counts: Counts, word: str) -> float:
    return reference.sif(counts, word, a=1e-5)


@pytest.mark.parametrize(
    ("weighting", "mutant"),
    [
        ("idf", idf_without_log),
        ("idf", smoothed_idf),
        ("idf", idf_of_filled_documents),
        ("idf", idf_of_tokens),
        ("idf", reference.sif),
        ("sif", sif_of_all_tokens),
        ("sif", sif_with_the_parameter_of_subsampling),
        ("sif", reference.subsampling),
        ("subsampling", subsampling_squared),
        ("subsampling", reference.unit),
    ],
)
@pytest.mark.parametrize("form", reference.FORMS)
@pytest.mark.parametrize("removal", ["", "-pca"])
def test_a_wrong_weight_is_found_out(
    weighting: str, mutant: reference.Weight, form: str, removal: str
) -> None:
    name = f"{weighting}-{form}{removal}"
    method = replace(Method.named(name), weight=mutant)
    assert disagreements(fitted(name).embed(PROBLEM.texts), PROBLEM, method) != []


def with_terms(form: Form, change: Callable[[Document, Sums], Sums]) -> Form:
    """The form with its sums changed."""

    def changed(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
        return change(document, form(document, counts, w))

    return changed


def counts_not_frequencies(document: Document, sums: Sums) -> Sums:
    """n_i in the place of tf_i = n_i / N."""
    return Sums({i: x * len(document) for i, x in sums.words.items()}, sums.center)


def words_once(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """Every word of the document as if it occurred once."""
    return reference.sum_form(list(dict.fromkeys(document)), counts, w)


def delta_of_counts(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """n_i - tf_ic in the place of tf_i - tf_ic."""
    n = {i: document.count(i) for i in document}
    return Sums({i: w[i] * (n[i] - counts.tf_c(i)) for i in n}, {})


def delta_added(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """tf_i + tf_ic in the place of tf_i - tf_ic."""
    tf = reference.term_frequencies(document)
    return Sums({i: w[i] * (tf[i] + counts.tf_c(i)) for i in tf}, {})


def positive_delta(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """Only words that are more frequent than usual."""
    sums = reference.delta(document, counts, w)
    return Sums({i: max(x, 0.0) for i, x in sums.words.items()}, {})


def center_of_the_document(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """The second sum over V_d in the place of V."""
    sums = reference.center(document, counts, w)
    return Sums(sums.words, {i: x for i, x in sums.center.items() if i in sums.words})


def unweighted_center(document: Document, counts: Counts, w: Mapping[str, float]) -> Sums:
    """The second sum without its weights."""
    sums = reference.center(document, counts, w)
    return Sums(sums.words, {i: counts.tf_c(i) for i in sums.center})


@pytest.mark.parametrize(
    ("form", "mutant"),
    [
        ("sum", words_once),
        ("sum", reference.delta),
        ("sum", reference.center),
        ("center", with_terms(reference.center, counts_not_frequencies)),
        ("center", center_of_the_document),
        ("center", unweighted_center),
        ("delta", delta_of_counts),
        ("delta", delta_added),
        ("delta", positive_delta),
    ],
)
@pytest.mark.parametrize("weighting", ["idf", "sif", "subsampling"])
@pytest.mark.parametrize("removal", ["", "-pca"])
def test_a_wrong_form_is_found_out(form: str, mutant: Form, weighting: str, removal: str) -> None:
    name = f"{weighting}-{form}{removal}"
    method = replace(Method.named(name), form=mutant)
    assert disagreements(fitted(name).embed(PROBLEM.texts), PROBLEM, method) != []


@pytest.mark.parametrize("name", [name for name in reference.NAMES if "pca" in name])
@pytest.mark.parametrize(("removed", "centered"), [(0, False), (2, False), (1, True)])
def test_a_wrong_removal_is_found_out(name: str, removed: int, centered: bool) -> None:
    method = replace(Method.named(name), removed=removed, centered=centered)
    assert disagreements(fitted(name).embed(PROBLEM.texts), PROBLEM, method) != []


@pytest.mark.parametrize("min_frequency", [0.005, 0.02])
def test_an_ignored_threshold_is_found_out(min_frequency: float) -> None:
    recipe = Recipe("idf", "center", 0, min_frequency=min_frequency)
    model = fit(PROBLEM.corpus, WordVectors(PROBLEM.words, PROBLEM.matrix), recipe)
    method = Method.named("idf-center")
    assert disagreements(model.embed(PROBLEM.texts), PROBLEM, method) != []


def test_rows_that_are_not_finite_not_unit_or_not_there_are_found_out() -> None:
    method = Method.named("idf-sum")
    matrix = fitted("idf-sum").embed(PROBLEM.texts)
    for spoiled in (matrix * 2, matrix * np.nan, matrix * 0, -matrix, matrix[:-1], matrix[::-1]):
        assert disagreements(spoiled, PROBLEM, method) != []
