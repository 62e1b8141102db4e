"""Strengths measured by what halves of documents share."""

import numpy as np
import pytest

import deltavec as dv
import reference
from deltavec.core.learning import spectral, split_half
from deltavec.core.learning.split_half import (
    Folds,
    HalfSample,
    axes_of,
    covariance,
    folds_of,
    half_vectors,
    measure,
)

TOPICS = ["sea wave beach sand sun", "room bed lamp quiet night", "coffee bread jam egg tea"]
EVERYDAY = ["the", "a", "and", "was", "very"]


def corpus(documents=90, seed=0, words=30):
    """Documents about one topic each, long enough to be halved."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(documents):
        own = int(rng.integers(words * 2 // 3, words * 4 // 3))
        topic = TOPICS[number % 3].split()
        made.append(" ".join([*rng.choice(topic, own // 2), *rng.choice(EVERYDAY, own - own // 2)]))
        rng.shuffle(drawn := made[-1].split())
        made[-1] = " ".join(drawn)
    return made


def recipe(**parameters):
    return dv.Recipe(form="spectral", n_components_removed=0, **parameters)


@pytest.mark.parametrize("collection", [None, corpus(40, seed=1)])
def test_vectors_are_those_of_the_reference(collection, monkeypatch):
    monkeypatch.setattr(spectral, "FOLD_ITERATIONS", 30)
    documents = corpus()
    model = dv.fit(
        documents,
        units="words",
        recipe=recipe(window=3, dimensions=6, power_iterations=30),
    )
    parted = [text.split() for text in documents]
    asked = ["sea sun the", "lamp", "tea and very", "unknown", "sea room coffee a"]
    apart = collection and [text.split() for text in collection]
    table = reference.measured_axes(
        parted,
        model.vocabulary.words,
        reference.spectral(parted, model.vocabulary.words, 6, 3),
        3,
        apart,
    )
    expected = np.array(reference.spectral_embed(table, [text.split() for text in asked], apart))
    actual = (model if collection is None else model.for_collection(collection)).embed(asked)
    assert actual @ actual.T == pytest.approx(expected @ expected.T, abs=1e-4)


def test_nothing_measured_is_the_spectrum_s_own_strengths():
    plain = dv.fit(corpus(), recipe=recipe(dimensions=6, measured_documents=0))
    assert plain.table.signal.shape == (0, 0)
    assert "spectrum" not in plain.notes
    few = dv.fit(corpus(), recipe=recipe(dimensions=6, measured_documents=1)).embed(corpus(9))
    # One document against a thousand.
    assert few @ few.T == pytest.approx(plain.embed(corpus(9)) @ plain.embed(corpus(9)).T, abs=0.05)


@pytest.mark.parametrize(
    "documents",
    [
        corpus(words=5)[:40],
        corpus(1, words=40) * 20,
        [*corpus(30, words=5), " ".join(corpus(40))],
        corpus(3, words=30),
    ],
    ids=["short documents", "one document many times", "one giant", "three documents"],
)
def test_too_little_evidence_leaves_the_spectrum_s_strengths(documents):
    def cosines(model):
        vectors = model.embed(corpus(9, seed=2))
        assert np.isfinite(vectors).all()
        return vectors @ vectors.T

    try:
        plain = dv.fit(documents, recipe=recipe(dimensions=4, measured_documents=0))
    except dv.CorpusError:
        with pytest.raises(dv.CorpusError):
            dv.fit(documents, recipe=recipe(dimensions=4))
        return
    found = dv.fit(documents, recipe=recipe(dimensions=4))
    assert found.notes["spectrum"].startswith("those of the spectrum")
    assert np.array_equal(cosines(found), cosines(plain))


def test_what_was_measured_is_told():
    model = dv.fit(corpus(), recipe=recipe(dimensions=6))
    assert model.info()["spectrum"].startswith("measured: split-half covariance of 90 documents")


def test_a_collection_without_halves_or_known_words_is_no_evidence():
    model = dv.fit(corpus(), recipe=recipe(dimensions=6))
    short = model.for_collection(["sea", "lamp tea", "unheard of"])
    assert np.isfinite(short.embed(corpus(9))).all()
    assert np.diag(short.table.signal) == pytest.approx(np.diag(model.table.signal), rel=1e-6)
    with pytest.raises(dv.CorpusError):
        model.for_collection(["unheard of"] * 30)


def test_save_and_load_keep_what_was_measured(tmp_path):
    model = dv.fit(corpus(), recipe=recipe(dimensions=6))
    model.save(tmp_path / "model.dv")
    loaded = dv.load(tmp_path / "model.dv")
    collection = corpus(30, seed=3)
    for one, other in (
        (model, loaded),
        (model.for_collection(collection), loaded.for_collection(collection)),
    ):
        assert one.fingerprint == other.fingerprint
        assert np.array_equal(one.table.signal, other.table.signal)


def test_shares_add_up_to_the_cosine():
    model = dv.fit(corpus(), recipe=recipe(dimensions=6))
    for one in (model, model.for_collection(corpus(30, seed=3))):
        why = one.explain("sea and sand", "the beach was quiet")
        a, b = one.embed(["sea and sand", "the beach was quiet"]).astype(float)
        assert why.cosine == pytest.approx(a @ b, abs=1e-6)
        assert sum(w.share for w in why.words_b) + why.offset_b == pytest.approx(a @ b, abs=1e-6)


def test_the_same_bits_for_any_number_of_threads():
    one, two = (dv.fit(corpus(), recipe=recipe(dimensions=6), threads=n) for n in (1, 2))
    assert one.fingerprint == two.fingerprint


def ids_of(*documents):
    return np.array([i for document in documents for i in (*document, -1)], np.int32)


def test_folds_follow_from_the_words_alone():
    documents = [tuple(np.random.default_rng(n).integers(0, 50, 9)) for n in range(200)]
    first, second = folds_of(ids_of(*documents)).both
    assert 60 < (first < 0).sum() < 140
    assert (first < 0).sum() + (second < 0).sum() == 200
    again = folds_of(ids_of(*documents[::-1])).both
    assert sorted(first) == sorted(again[0])
    for document in documents[:20]:
        expected = reference.document_hash(document) % 2
        assert len(folds_of(ids_of(document)).both[expected]) == 10


def test_a_sample_is_a_share_of_the_documents():
    documents = [tuple(np.random.default_rng(n).integers(0, 50, 9)) for n in range(400)]
    taken = sum((fold < 0).sum() for fold in folds_of(ids_of(*documents), 0.25).both)
    assert 60 < taken < 140


def test_no_documents_have_no_folds_and_no_halves():
    assert [len(fold) for fold in folds_of(ids_of()).both] == [0, 0]
    none = half_vectors(ids_of(), np.eye(3, dtype=np.float32), 5.0)
    matrix, documents = covariance(none)
    assert documents == 0
    assert not matrix.any()


def test_halves_are_means_of_rows():
    rows = np.eye(2, dtype=np.float32)
    found = half_vectors(ids_of([0] * 10 + [1] * 11, [0] * 19), rows, 42.0)
    assert found.first.tolist() == [[1, 0]]
    assert found.second == pytest.approx(np.array([[0, 1]]), abs=1e-6)
    assert found.weights.tolist() == [0.5]


def test_a_sample_of_halves_does_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr(split_half, "COLLECTION_DOCUMENTS", 5)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 3)).astype(np.float32)
    parts = [half_vectors(ids_of(rng.integers(0, 50, 25)), rows, 25.0) for _ in range(9)]
    one = two = HalfSample.empty(3)
    for part in parts:
        one = one.sampled(part)
    for part in parts[::-1]:
        two = two.sampled(part)
    assert len(one.weights) == 5
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_long_halves_are_cut_to_two_medians():
    first = np.array([[1, 0], [-1, 0], [1, 0], [-1, 0], [100, 0], [-100, 0]], np.float32)
    pairs = HalfSample(first, first, np.ones(6), np.arange(6, dtype=np.uint64))
    assert covariance(pairs)[0][0, 0] > 3000
    assert covariance(pairs, 2.0)[0][0, 0] == pytest.approx((4 + 2 * 4) / 6)


def test_no_signal_is_no_evidence():
    nothing = split_half.Evidence(np.zeros((2, 2)), np.zeros((2, 2)), 9)
    assert measure(nothing, np.ones(2)) is None


def test_axes_are_the_strongest_first():
    found = axes_of(np.diag([1.0, 4.0, 9.0, -1.0]))
    assert found.spectrum.tolist() == pytest.approx([1, 1, 0.5, 1e-6])
    assert np.abs(found.directions).argmax(axis=0).tolist() == [2, 1, 0, 3]


def test_folds_that_come_apart_are_one_behind_the_other():
    folds = Folds.of(ids_of([1, 2]), ids_of([3]))
    assert folds.second == 3
    assert [fold.tolist() for fold in folds.both] == [[1, 2, -1], [3, -1]]
