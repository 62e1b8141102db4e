import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import deltavec as dv
from deltavec.core.text.batches import as_corpus
from deltavec.evaluation import auc
from deltavec.lab import baselines
from deltavec.lab.baselines import (
    Embedder,
    Lsa,
    doc2vec_vectors,
    sparse_pairwise_auc,
    tfidf,
    word2vec_vectors,
)


def counts_of(size=(40, 30), share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return sparse.csr_matrix(rng.integers(1, 5, size) * (rng.random(size) < share))


def lists(documents=20, words=30, vocabulary=12, seed=0):
    rng = np.random.default_rng(seed)
    return list(rng.integers(0, vocabulary, (documents, words)))


def test_sparse_tfidf_by_hand():
    counts = sparse.csr_matrix([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
    idf = np.log([10 / 5, 10 / 2, 10 / 1])
    rows = tfidf(counts, idf).toarray()
    first = np.array([2 * np.log(2), 0, np.log(10)])
    assert rows[0] == pytest.approx(first / np.linalg.norm(first))
    assert rows[1].tolist() == [0, 0, 0]
    assert rows[2] == pytest.approx([0, 1, 0])
    squared = np.array([2 * np.log(2) ** 2, 0, np.log(10) ** 2])
    assert tfidf(counts, idf, power=2).toarray()[0] == pytest.approx(
        squared / np.linalg.norm(squared)
    )


def test_sparse_tfidf_agrees_with_scikit_learn():
    counts = counts_of()
    theirs = TfidfTransformer(smooth_idf=False).fit(counts)
    # Their idf is one more than ours.
    assert tfidf(counts, theirs.idf_).toarray() == pytest.approx(theirs.transform(counts).toarray())


@pytest.mark.parametrize("most_kept", [0, 10**9])
@pytest.mark.parametrize("dense_from", [0.0, 0.3, 1.0])
def test_the_area_of_sparse_rows_is_that_of_dense_ones(monkeypatch, dense_from, most_kept):
    monkeypatch.setattr(baselines, "DENSE_FROM", dense_from)
    monkeypatch.setattr(auc, "MOST_KEPT_SCORES", most_kept)
    monkeypatch.setattr(baselines, "ROWS_AT_ONCE", 7)
    # Small whole numbers: products are exact in any order, and many scores are tied.
    rows = counts_of().astype(np.float32)
    labels = np.random.default_rng(1).integers(0, 4, 40)
    assert sparse_pairwise_auc(rows, labels) == dv.pairwise_auc(rows.toarray(), labels)


def test_lsa_keeps_cosines_if_it_has_all_dimensions():
    half = counts_of((4, 30), 0.5)
    counts = sparse.vstack([half, half]).tocsr()
    rows = Lsa(counts, dimensions=300).embed(counts)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(8), abs=1e-5)
    theirs = TfidfTransformer().fit_transform(counts).toarray()
    assert rows @ rows.T == pytest.approx(theirs @ theirs.T, abs=1e-5)


def test_lsa_repeats_and_leaves_an_empty_document_a_zero_row():
    counts = counts_of()
    empty = sparse.csr_matrix((1, 30), dtype=np.int64)
    first, again = (
        Lsa(counts, dimensions=5, seed=3).embed(sparse.vstack([counts, empty]).tocsr())
        for _ in range(2)
    )
    assert first.shape == (41, 5)
    assert (first == again).all()
    assert (first[-1] == 0).all()


def test_doc2vec_gives_unit_rows_and_repeats_on_one_thread():
    first, again = (
        doc2vec_vectors(lists(), min_count=1, dimensions=16, epochs=2, threads=1) for _ in range(2)
    )
    assert first.shape == (20, 16)
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(20), abs=1e-5)
    assert (first == again).all()


def test_a_document_whose_words_are_too_rare_for_doc2vec_is_a_zero_row():
    documents = [*lists(), np.array([99]), np.zeros(0, np.int64)]
    rows = doc2vec_vectors(documents, min_count=5, dimensions=8, epochs=1)
    assert np.flatnonzero(~rows.any(axis=1)).tolist() == [20, 21]
    assert not doc2vec_vectors([[1], [2]], min_count=5, dimensions=8).any()


def test_an_embedder_s_rows_are_scaled_to_unit_length():
    embedder = Embedder("mine", lambda texts: [[3, 4] if text else [0, 0] for text in texts])
    assert embedder.embed(["a", ""]) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_an_embedder_is_found_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "my_embedders.py").write_text(
        "import numpy as np\nclass Model:\n    @staticmethod\n    def embed(texts):\n"
        "        return np.ones((len(texts), 3))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    embedder = Embedder.named("my_embedders:Model.embed")
    assert embedder.name == "my_embedders:Model.embed"
    assert embedder.embed(["a"]).shape == (1, 3)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("embed", "module:function"),
        (":embed", "module:function"),
        ("numpy:", "module:function"),
        ("no_such_module_at_all:embed", "cannot import"),
        ("math:no_such_function", "expected a function, got None"),
        ("math:pi", "expected a function, got 3.14"),
    ],
)
def test_an_embedder_that_cannot_be_found_is_refused(name, message):
    with pytest.raises(dv.InputError, match=message):
        Embedder.named(name)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda texts: np.ones(len(texts)), r"2 rows, one for each text, got shape \(2,\)"),
        (lambda texts: np.ones((1, 4)), r"got shape \(1, 4\)"),
        (lambda texts: [["a"]] * len(texts), "matrix of numbers"),
        (lambda texts: [[np.nan]] * len(texts), "NaN or infinity"),
    ],
)
def test_an_embedder_that_gives_something_else_is_refused(function, message):
    with pytest.raises(dv.InputError, match=message):
        Embedder("mine", function).embed(["a", "b"])


def test_an_embedder_that_fails_says_so_itself():
    def broken(texts):
        raise RuntimeError("no such model")

    with pytest.raises(dv.InputError, match="embedder 'mine': RuntimeError: no such model"):
        Embedder("mine", broken).embed(["a"])


STORIES = ["the sea and the waves", "the beach by the sea", "a quiet room", "a quiet bed room"] * 8


def test_word2vec_repeats_with_one_thread_and_sees_the_words_of_ppmi():
    corpus = dv.read_corpus(STORIES)
    one, two = (word2vec_vectors(corpus, "words", seed=3, threads=1) for _ in range(2))
    assert one.words == two.words == dv.train_vectors(corpus).words
    assert np.array_equal(one.matrix, two.matrix)
    assert one.dimensions == 100


def test_word2vec_learns_words_with_spaces():
    corpus = as_corpus([["New York", "sea"], ["New York", "bay"]] * 20)
    assert set(word2vec_vectors(corpus, "words", threads=1).words) == {"New York", "sea", "bay"}


def test_word2vec_without_gensim_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(dv.MissingDependencyError, match=r"pip install 'deltavec\[lab\]'"):
        word2vec_vectors(as_corpus(STORIES), "words")
