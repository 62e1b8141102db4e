import functools
import json
import os
from dataclasses import astuple

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.core.model import remove_components
from deltavec.core.text.batches import as_corpus
from deltavec.evaluation.groups import Group, Groups, groups_of
from deltavec.lab.experiment import Progress
from deltavec.lab.results import Lengths, Results
from deltavec.lab.reviews.benchmark import review_benchmark
from deltavec.lab.reviews.methods import review_documents
from deltavec.lab.reviews.sample import choose_locations
from deltavec.lab.reviews.settings import ReviewSettings
from deltavec.lab.variants import variants
from deltavec.lab.words import KnownWords, document_lengths, read_words, weight_curve

COMMON = [f"word{number}" for number in range(40)]


def table(locations=6, reviews=12, seed=0):
    """Reviews in which a third of the words are the location's own."""
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(locations):
        own = [f"place{place}thing{number}" for number in range(5)]
        for _ in range(reviews):
            words = [*rng.choice(COMMON, 8), *rng.choice(own, 3)]
            rows.append((f"L{place}", "hotel" if place < 4 else "museum", " ".join(words)))
    order = rng.permutation(len(rows))
    names, kinds, texts = zip(*(rows[place] for place in order), strict=True)
    return pa.table({"location": names, "kind": kinds, "text": texts})


@functools.cache
def small_vectors():
    return dv.train_vectors(dv.read_corpus(table()), dimensions=8)


def benchmark(reviews=None, **options):
    asked = {
        "vectors": small_vectors(),
        "group_column": "location",
        "ks": (1, 3),
        "documents_per_location": 4,
        "locations": 5,
        "skip": ("doc2vec",),
    }
    return review_benchmark(table() if reviews is None else reviews, **asked | options)


def located(*sizes, kinds=()):
    """Locations A, B, ... with so many reviews each."""
    ends = np.cumsum([0, *sizes])
    locations = [
        Group(chr(65 + place), kinds[place] if kinds else "", np.arange(*ends[place : place + 2]))
        for place in range(len(sizes))
    ]
    locations.sort(key=lambda location: (-len(location.rows), location.name))
    return Groups(tuple(locations), int(ends[-1]), "")


def choose(groups, locations, reviews, *, by_kind=False):
    """The locations with at least so many reviews."""
    return choose_locations(
        groups,
        ReviewSettings(
            group_column="location",
            kind_column="kind" if by_kind else None,
            ks=(1,) if reviews < 4 else (reviews // 2,),
            documents_per_location=max(2, reviews if reviews < 4 else 2),
            locations=locations,
        ),
    )


def names(sample):
    return "".join(location.name for location in sample.locations)


# Which locations


def test_locations_are_the_most_reviewed_ties_by_name():
    sample = choose(located(3, 9, 5, 9, 5), 3, 3)
    assert names(sample) == "BDC"


def test_kinds_have_equal_shares_and_the_first_get_what_is_over():
    found = located(9, 8, 7, 6, 5, 4, kinds="xxxyyy")
    sample = choose(found, 4, 2, by_kind=True)
    assert (names(sample), sample.kinds, sample.notes) == ("ABDE", {"x": 2, "y": 2}, ())
    assert choose(found, 5, 2, by_kind=True).kinds == {"x": 3, "y": 2}


def test_a_kind_with_too_few_reviews_is_filled_up_from_the_others_and_that_is_said():
    found = located(9, 8, 7, 6, 5, 1, kinds="xxxyyy")
    sample = choose(found, 4, 6, by_kind=True)
    assert names(sample) == "ABCD"
    assert sample.kinds == {"x": 3, "y": 1}
    assert sample.notes == (
        "1 of 2 locations of the kind 'y': no more of them have 6 reviews; others take their place",
    )


def test_too_few_reviews_are_told_with_numbers():
    with pytest.raises(dv.CorpusError) as raised:
        choose(located(9, 8, 3), 3, 4)
    assert str(raised.value) == (
        "expected 3 locations with at least 4 reviews each (2 for each of 2 documents), got 2 of 3;"
        " the next, 'C', has 3: ask for smaller k, fewer documents of each location, or fewer"
        " locations"
    )


def test_reviews_without_text_or_location_are_not_drawn():
    found = groups_of(
        dv.read_corpus(
            pa.table(
                {
                    "text": ["good", None, " \n", "bad", "fair", "fine"],
                    "location": ["a", "a", "a", None, "b", "a"],
                }
            )
        ),
        "location",
    )
    assert [(place.name, place.rows.tolist()) for place in found.groups] == [
        ("a", [0, 5]),
        ("b", [4]),
    ]
    assert found.documents == 6


def test_the_hash_of_the_data_does_not_depend_on_batches_but_on_every_label():
    rows = table()
    parts = pa.concat_tables([rows.slice(0, 7), rows.slice(7)])
    digest = groups_of(dv.read_corpus(rows), "location", "kind").digest
    assert groups_of(dv.read_corpus(parts), "location", "kind").digest == digest
    assert groups_of(dv.read_corpus(rows), "location").digest != digest


# Which reviews


def test_no_review_is_drawn_twice_and_each_is_of_its_location():
    sample = choose(located(10, 7, 6), 3, 6)
    drawn = sample.documents(2, 3, seed=0)
    assert drawn.shape == (9, 2)
    assert len(np.unique(drawn)) == drawn.size
    assert (drawn[:3] < 10).all()
    assert ((drawn[3:6] >= 10) & (drawn[3:6] < 17)).all()
    assert np.sort(drawn[6:].reshape(-1)).tolist() == [*range(17, 23)]
    assert sample.labels(3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_draw_is_a_permutation_s_beginning_cut_into_documents():
    sample = choose(located(5, 4), 2, 4)
    order = np.random.default_rng([7, 2, 1]).permutation([5, 6, 7, 8])
    assert sample.documents(2, 2, seed=7)[2:].tolist() == order.reshape(2, 2).tolist()


def test_a_draw_depends_on_seed_and_k_only():
    sample = choose(located(30, 30), 2, 4)
    assert (sample.documents(2, 5, seed=1) == sample.documents(2, 5, seed=1)).all()
    assert (sample.documents(2, 5, seed=1) != sample.documents(2, 5, seed=2)).any()


# Short ways and long ones


@pytest.fixture(scope="module")
def made():
    """Documents made the short way, from counts; and their texts, concatenated."""
    corpus = dv.read_corpus(table())
    texts = [text for chunk in corpus for text in chunk.to_pylist()]
    vectors = dv.train_vectors(corpus, dimensions=12)
    # Not every word has a vector, and one word that has does not occur.
    vectors = dv.WordVectors(
        [*vectors.words[3:], "elsewhere"],
        np.vstack([vectors.matrix[3:], np.ones((1, vectors.dimensions))]),
    )
    rows = np.random.default_rng(1).permutation(len(texts))[:60]
    words = read_words(corpus, np.sort(rows), "words")
    documents = review_documents(
        words, words.positions(rows.reshape(20, 3)), np.repeat(np.arange(5), 4)
    )
    joined = ["\n".join(texts[row] for row in three) for three in rows.reshape(20, 3)]
    return corpus, vectors, words, documents, joined


def test_counts_of_concatenated_reviews_are_sums_of_counts(made):
    _, _, source, documents, joined = made
    assert documents.texts == joined
    spelled = source.vocabulary.words
    assert [[spelled[word] for word in words] for words in documents.tokens] == [
        text.split() for text in joined
    ]
    counts = documents.counts.toarray()
    for text, row in zip(joined, counts, strict=True):
        assert {spelled[word]: row[word] for word in np.flatnonzero(row)} == {
            word: text.split().count(word) for word in text.split()
        }
    lengths = [len(text.split()) for text in joined]
    assert document_lengths(documents.counts) == Lengths(
        min(lengths), np.mean(lengths), max(lengths)
    )


def test_all_recipes_agree_with_models_fitted_on_the_same_corpus(made):
    corpus, vectors, source, documents, joined = made
    known = KnownWords.of(source, vectors)
    found = {
        variant.name: variant.vectors
        for variant in variants(documents.counts[:, known.columns], known.vectors, known.statistics)
    }
    assert tuple(found) == dv.RECIPES
    for name, rows in found.items():
        model = dv.fit(corpus, vectors, name)
        if name.endswith("-pca"):
            model = remove_components(model, as_corpus(joined))
        # float32 sums in another order
        np.testing.assert_allclose(rows, model.embed(joined), atol=2e-6, err_msg=name)


def test_a_document_without_known_words_or_of_which_nothing_is_left_is_a_zero_row():
    corpus = dv.read_corpus(["sea sky", "room", "sea room room"])
    vectors = dv.WordVectors(["sea", "room"], [[1.0, 0.0], [0.0, 1.0]])
    words = read_words(corpus, np.arange(3), "words")
    unknown = dv.WordVectors(["room"], [[0.0, 1.0]])
    documents = review_documents(words, np.array([[0], [1]]), np.array([0, 1]))
    known = KnownWords.of(words, unknown)
    for variant in variants(documents.counts[:, known.columns], known.vectors, known.statistics):
        assert (variant.vectors[0] == 0).all(), variant.name
    known = KnownWords.of(words, vectors)
    for variant in variants(
        documents.counts[:, known.columns][1:], known.vectors, known.statistics
    ):
        # One document alone is all that it has in common.
        assert (variant.vectors == 0).all() == variant.name.endswith("-pca"), variant.name


def test_the_curve_holds_weights_from_the_most_frequent_word_to_the_rarest(made):
    statistics = made[2].statistics
    curve = weight_curve(statistics, 10)
    assert curve.term_frequencies[0] == statistics.term_frequencies.max()
    assert curve.term_frequencies[-1] == statistics.term_frequencies.min()
    assert (np.diff(curve.term_frequencies) <= 0).all()
    assert len({len(column) for column in astuple(curve)}) == 1


# The whole


def test_planted_locations_are_found_by_every_method():
    results = benchmark(skip=(), doc2vec_ks=(3,), kind_column="kind")
    assert [problem.name for problem in results.problems] == ["1", "3"]
    expected = [
        *dv.RECIPES, "spectral", "tf-idf", "tf-idf2", "lsa",
    ]  # fmt: skip
    assert list(results.problems[0].scores) == expected
    assert {*results.problems[1].scores} == {*expected, "d2v-mc1", "d2v-mc5"}
    for problem in results.problems:
        for name, score in problem.scores.items():
            assert score > (0.4 if name.startswith("d2v") else 0.6), name
    details = results.problems[1].details
    assert (details["documents"], details["pairs"], details["positive_pairs"]) == (20, 190, 30)
    assert [*details["seconds"]] == [
        "variants", "spectral", "d2v-mc1", "d2v-mc5", "tf-idf", "lsa",
    ]  # fmt: skip
    assert results.problems[1].lengths == Lengths(33, 33.0, 33)
    assert results.complete
    assert results.settings["kinds"] == {"hotel": 3, "museum": 2}
    assert Results.from_json(results.as_json()).problems == results.problems


def test_one_column_is_the_area_over_models_fitted_by_hand():
    reviews = table()
    corpus = dv.read_corpus(reviews)
    vectors = dv.train_vectors(corpus, dimensions=8)
    results = benchmark(reviews, vectors=vectors, ks=(2,), seed=3)
    sample = choose(groups_of(corpus, "location"), 5, 8)
    texts = reviews["text"].to_pylist()
    documents = [
        "\n".join(texts[row] for row in rows) for rows in sample.documents(2, 4, seed=3).tolist()
    ]
    for name in ("unit-sum", "idf-delta", "sif-center"):
        expected = dv.pairwise_auc(dv.fit(corpus, vectors, name).embed(documents), sample.labels(4))
        assert results.problems[0].scores[name] == pytest.approx(expected, abs=1e-3), name


def test_a_problem_scores_the_same_whatever_other_k_there_are():
    alone, together = benchmark(ks=(3,)), benchmark(ks=(1, 2, 3))
    assert alone.problems[0].scores == together.problems[2].scores


def test_vectors_of_a_file_are_used_and_only_its_name_is_told(tmp_path):
    vectors = dv.train_vectors(dv.read_corpus(table()), dimensions=6)
    dv.save_vectors(vectors, tmp_path / "own.safetensors")
    results = benchmark(vectors=tmp_path / "own.safetensors", ks=(1,))
    assert results.settings["vectors"] == "own.safetensors"
    assert results.settings["vectors_dimensions"] == 6
    assert str(tmp_path) not in results.as_json()


def test_an_embedder_of_one_s_own_is_one_more_column():
    seen = []

    def lengths(texts):
        seen.append(texts)
        return np.array([[len(text), 1.0] for text in texts])

    from deltavec.lab.baselines import Embedder

    results = benchmark(embedder=Embedder("my:lengths", lengths), ks=(2,))
    assert list(results.problems[0].scores)[-1] == "my:lengths"
    assert len(seen[-1]) == 20
    assert all(text.count("\n") == 1 for text in seen[-1])


# Going on


def test_finished_problems_are_not_computed_again(tmp_path):
    stages, notices = [], []
    asked = {
        "vectors": None,
        "folder": tmp_path,
        "progress": Progress(stages.append, notice=notices.append),
    }
    first = benchmark(**asked)
    assert "fitting spectral" in stages
    stages.clear()
    again = benchmark(**asked)
    assert again.problems == first.problems
    assert stages == ["reading locations", "counting words", "evaluating"]
    assert notices == ["2 of 2 problems are there from an earlier run"]


@pytest.mark.parametrize("changed", [{"seed": 1}, {"skip": ("doc2vec", "lsa")}, {"ks": (1,)}])
def test_other_settings_are_computed_anew(tmp_path, changed):
    notices = []
    benchmark(folder=tmp_path)
    benchmark(folder=tmp_path, progress=Progress(notice=notices.append), **changed)
    assert notices == []


def test_other_texts_are_computed_anew(tmp_path):
    notices = []
    benchmark(folder=tmp_path)
    benchmark(table(seed=1), folder=tmp_path, progress=Progress(notice=notices.append))
    assert notices == []


def test_a_run_that_was_stopped_goes_on_with_the_same_results(tmp_path):
    asked = {"vectors": None, "ks": (1, 2, 3)}
    whole = benchmark(folder=tmp_path / "whole", **asked)
    partial = []

    def stop(results):
        partial.append(results)
        if len(partial) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        benchmark(folder=tmp_path / "cut", progress=Progress(results=stop), **asked)
    assert [problem.name for problem in partial[-1].problems] == ["1", "2"]
    assert not partial[-1].complete
    stages = []
    again = benchmark(folder=tmp_path / "cut", progress=Progress(stages.append), **asked)
    assert [p.scores for p in again.problems] == [p.scores for p in whole.problems]
    assert again.complete
    assert "learning the vocabulary" not in stages  # the vectors were kept


def test_progress_only_grows_to_the_end_within_the_evaluation():
    told = []
    benchmark(progress=Progress(told.append, told.append))
    evaluating = told[told.index("evaluating") + 1 :]
    assert evaluating == sorted(evaluating)
    assert evaluating[-1] == pytest.approx(1.0)


def test_results_hold_no_paths_of_this_machine(tmp_path):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table(), tmp_path / "reviews.parquet")
    results = benchmark(tmp_path / "reviews.parquet", ks=(1,))
    assert results.data["name"] == "reviews.parquet"
    assert os.sep not in json.dumps(results.data)


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": (4,)}, "expected 5 locations with at least 16 reviews each"),
        ({"locations": 7}, "expected 7 locations .* got 6 of 6"),
        ({"locations": 1}, "locations must be a whole number from 2 on, got 1"),
        ({"documents_per_location": 1}, "documents_per_location must be .* from 2 on, got 1"),
        ({"group_column": "place"}, "place"),
        ({"kind_column": "sort"}, "sort"),
        ({"kind_column": "location"}, "'location' names the groups"),
        ({"group_column": "text"}, "'text' holds the text"),
        ({"ks": ()}, "at least one number of reviews"),
        ({"ks": (0,)}, "k must be a whole number from 1 on, got 0"),
        ({"ks": (1.5,)}, "k must be a whole number"),
        ({"skip": ("d2v",)}, "skip must be one of doc2vec, tf-idf, lsa, got 'd2v'"),
        ({"skip": (), "doc2vec_ks": (2,)}, "doc2vec is asked for k = 2"),
        ({"vectors_method": "glove"}, "vectors_method must be one of ppmi, word2vec"),
        ({"embedder": "no_such_module:embed"}, "cannot import 'no_such_module'"),
        ({"embedder": "numpy"}, "module:function"),
        ({"seed": -1}, "seed must be a whole number from 0 on"),
        ({"tokenizer": "letters"}, "letters"),
    ],
)
def test_bad_input_is_refused_before_any_work(options, message):
    stages = []
    with pytest.raises(dv.InputError, match=message):
        benchmark(progress=Progress(stages.append), **options)
    assert all(stage.startswith(("reading locations", "trying ")) for stage in stages)


def test_one_location_only_is_refused():
    rows = table().append_column("town", [["Rome"] * 72])
    with pytest.raises(dv.CorpusError, match="at least two locations, got 'Rome'"):
        benchmark(rows, group_column="town")


def test_a_location_of_two_kinds_is_refused():
    rows = pa.table({"text": ["a", "b"], "location": ["x", "x"], "kind": ["hotel", "museum"]})
    with pytest.raises(dv.CorpusError, match="'hotel' and 'museum' for 'x'"):
        benchmark(rows, kind_column="kind")


def test_labels_that_are_neither_text_nor_numbers_are_refused():
    rows = pa.table({"text": ["a", "b"], "location": [[1], [2]]})
    with pytest.raises(dv.CorpusError, match=r"expected labels .* 'location', got list"):
        benchmark(rows)


def test_numbers_name_locations_too():
    rows = table()
    numbers = [int(name[1:]) for name in rows["location"].to_pylist()]
    named, numbered = (
        benchmark(rows, ks=(1,)),
        benchmark(rows.set_column(0, "location", [numbers]), ks=(1,)),
    )
    assert named.problems[0].scores == numbered.problems[0].scores


def test_vectors_that_know_none_of_the_words_are_refused():
    with pytest.raises(dv.CorpusError, match="has a vector"):
        benchmark(vectors=dv.WordVectors(["nothing"], [[1.0]]))


def test_what_can_be_read_only_once_is_refused():
    with pytest.raises(dv.CorpusError, match="only once"):
        benchmark(text for text in ["a", "b"])
