"""What scikit-learn expects of a transformer, for text: `check_estimator` runs next to nothing."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils import estimator_html_repr, get_tags

import deltavec as dv
from deltavec import DocumentEmbedder
from deltavec.core.recipes import DEFAULTS

SEA = ["sea view", "the warm sea", "beach and sea", "warm beach", "a beach view", "sea"]
ROOM = ["quiet room", "the clean room", "room and bed", "clean bed", "a quiet bed", "room"]
DOCUMENTS = [text for pair in zip(SEA, ROOM, strict=True) for text in pair]
LABELS = np.array([0, 1] * 6)
WORDS = ["sea", "beach", "view", "warm", "room", "bed", "quiet", "clean", "the", "and"]
DIMENSIONS = 4


@pytest.fixture(scope="module")
def vectors():
    random = np.random.default_rng(11)
    matrix = random.standard_normal((len(WORDS), DIMENSIONS))
    matrix[:4, 0] += 2
    matrix[4:8, 1] += 2
    matrix[:, 2] += 3  # what all words have in common, and removal takes off
    return dv.WordVectors(WORDS, matrix)


@pytest.fixture
def embedder(vectors):
    return DocumentEmbedder(vectors)


@pytest.fixture
def expected(embedder):
    """The vectors of the documents."""
    return embedder.fit_transform(DOCUMENTS)


# Parameters


def test_making_one_does_nothing_but_keep_its_parameters():
    odd = DocumentEmbedder("no vectors", form="no form", a=-1, threads="many")
    assert odd.get_params()["form"] == "no form"
    assert set(vars(odd)) == set(odd.get_params())


def test_parameters_can_be_read_and_set(vectors):
    parameters = {
        "word_vectors": vectors,
        "recipe": "auto",
        "weighting": "sif",
        "form": "center",
        "n_components_removed": 2,
        "a": 1e-3,
        "t": 1e-4,
        "min_frequency": 0.1,
        "dimensions": 50,
        "window": 4,
        "context_smoothing": 0.5,
        "identity_share": 0.5,
        "spectrum_exponent": 0.5,
        "steepness": 0.1,
        "power_iterations": 3,
        "measured_documents": 10,
        "prior": vectors,
        "units": "words",
        "normalization": "folded",
        "tokenizer": "whitespace",
        "threads": 1,
    }
    assert DocumentEmbedder().set_params(**parameters).get_params() == parameters
    assert DocumentEmbedder(**parameters).get_params() == parameters


def test_parameters_reach_the_recipe(vectors):
    embedder = DocumentEmbedder(
        vectors, weighting="sif", form="center", n_components_removed=2, a=0.5, min_frequency=0.1
    ).fit(DOCUMENTS)
    assert embedder.model_.recipe == dv.Recipe("sif", "center", 2, a=0.5, min_frequency=0.1)


def test_every_parameter_of_either_recipe_is_one_of_the_embedder():
    own = {"word_vectors", "prior", "recipe", "units", "normalization", "tokenizer", "threads"}
    assert DocumentEmbedder().get_params().keys() == DEFAULTS.keys() | own


SPECTRAL = {
    "dimensions": 5,
    "window": 4,
    "context_smoothing": 0.5,
    "identity_share": 0.5,
    "spectrum_exponent": 0.5,
    "power_iterations": 3,
    "measured_documents": 10,
}


def test_spectral_takes_all_its_parameters():
    expected = dv.Recipe(form="spectral", **SPECTRAL)
    for said in ({"recipe": "spectral"}, {}, {"recipe": dv.Recipe(form="spectral", window=9)}):
        assert DocumentEmbedder(**said, **SPECTRAL).fit(DOCUMENTS).model_.recipe == expected
    embedder = DocumentEmbedder(recipe="spectral", dimensions=3)
    assert embedder.fit_transform(DOCUMENTS).shape == (len(DOCUMENTS), 3)


@pytest.mark.parametrize("given", [True, False])
def test_the_default_is_that_of_fit(vectors, given):
    given = vectors if given else None
    embedder = DocumentEmbedder(given)
    model = dv.fit(DOCUMENTS, given)
    assert np.array_equal(embedder.fit_transform(DOCUMENTS), model.embed(DOCUMENTS))
    assert embedder.model_.recipe == model.recipe


@pytest.mark.parametrize(
    ("parameters", "recipe"),
    [
        ({"recipe": "sif-center", "a": 0.5}, dv.Recipe("sif", "center", 0, a=0.5)),
        ({"recipe": "sif-center", "form": "sum"}, dv.Recipe("sif", "sum", 0)),
        ({"weighting": "sif"}, dv.Recipe("sif", "delta", 1)),
        ({"n_components_removed": 0}, dv.Recipe("idf", "delta", 0)),
        ({"recipe": dv.Recipe("unit", "sum", 2)}, dv.Recipe("unit", "sum", 2)),
    ],
)
def test_parameters_change_the_recipe_they_stand_beside(vectors, parameters, recipe):
    assert DocumentEmbedder(vectors, **parameters).fit(DOCUMENTS).model_.recipe == recipe


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"recipe": "spectral"}, "spectral learns its own word vectors: leave the vectors out"),
        ({"dimensions": 5}, "recipes of word vectors have no parameter 'dimensions'"),
        ({"recipe": "idf-sum", "window": 5}, "recipes of word vectors have no parameter 'window'"),
        ({"recipe": "idf-mean"}, "recipe must be 'auto', 'spectral' or one of"),
        ({"word_vectors": None, "recipe": "spectral", "a": 1.0}, "spectral recipes have no par"),
    ],
)
def test_a_parameter_of_the_other_recipe_is_refused(embedder, parameters, match):
    with pytest.raises(ValueError, match=match):
        embedder.set_params(**parameters).fit(DOCUMENTS)


def test_a_parameter_that_does_not_exist_is_refused(embedder):
    with pytest.raises(ValueError, match="Invalid parameter 'color'"):
        embedder.set_params(color=3)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        (
            {"form": "mean"},
            "form must be one of sum, center, delta, auto, spectral, got 'mean'",
        ),
        ({"weighting": "bm25"}, "weighting must be"),
        ({"n_components_removed": -1}, "n_components_removed must be"),
        ({"n_components_removed": np.float64(1.0)}, "n_components_removed must be"),
        ({"word_vectors": "glove.txt"}, "must be WordVectors or None, got str: load them first"),
        ({"tokenizer": "mecab"}, "tokenizer must be"),
        ({"threads": 0}, "threads must be"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_a_bad_parameter_is_refused_when_fitting(embedder, parameters, match, method):
    embedder.set_params(**parameters)
    with pytest.raises(ValueError, match=match):
        getattr(embedder, method)(DOCUMENTS)
    assert not hasattr(embedder, "model_")


def test_numbers_of_numpy_are_numbers(vectors, expected):
    embedder = DocumentEmbedder(
        vectors, n_components_removed=np.int64(1), a=np.float32(1e-4), form=np.str_("sum")
    )
    assert np.array_equal(embedder.fit_transform(DOCUMENTS), expected)
    assert DocumentEmbedder(dimensions=np.int64(3)).fit_transform(DOCUMENTS).shape[1] == 3


def test_clones_share_the_word_vectors_and_nothing_that_was_learned(embedder, vectors):
    twin = clone(embedder.fit(DOCUMENTS))
    assert twin.word_vectors is vectors
    assert np.shares_memory(twin.word_vectors.matrix, vectors.matrix)
    assert set(vars(twin)) == set(twin.get_params())


def test_a_deep_copy_keeps_what_was_learned(embedder, vectors, expected):
    twin = copy.deepcopy(embedder)
    assert twin.word_vectors is vectors
    assert np.array_equal(twin.transform(DOCUMENTS), expected)


# Fit and transform


@pytest.mark.parametrize("use", ["transform", "get_feature_names_out"])
def test_nothing_comes_out_before_fit(embedder, use):
    with pytest.raises(NotFittedError, match="DocumentEmbedder instance is not fitted yet"):
        getattr(embedder, use)(DOCUMENTS)


def test_fit_returns_the_embedder_and_ignores_y(embedder, expected):
    assert embedder.fit(DOCUMENTS, LABELS) is embedder
    assert np.array_equal(embedder.transform(DOCUMENTS), expected)


def test_it_is_the_model_that_fit_makes(embedder, vectors):
    model = dv.fit(DOCUMENTS, vectors, "idf-delta-pca")
    embedder.set_params(recipe="idf-delta-pca")
    assert embedder.fit(DOCUMENTS).model_.info() == model.info()
    assert np.array_equal(embedder.transform(DOCUMENTS), model.embed(DOCUMENTS))


def test_fit_transform_is_fit_and_then_transform(embedder, expected):
    assert np.array_equal(clone(embedder).fit(DOCUMENTS).transform(DOCUMENTS), expected)
    assert np.array_equal(embedder.fit_transform(DOCUMENTS, LABELS), expected)


def test_a_second_fit_forgets_the_first(embedder, expected):
    embedder.fit(["the sea"] * 5)
    assert np.array_equal(embedder.fit_transform(DOCUMENTS), expected)


def test_a_fit_that_fails_leaves_what_was_learned(embedder, expected):
    with pytest.raises(dv.CorpusError):
        embedder.fit(["nothing known"])
    assert np.array_equal(embedder.transform(DOCUMENTS), expected)


def test_without_word_vectors_a_recipe_that_needs_them_trains_some():
    embedder = DocumentEmbedder(recipe="idf-delta-pca")
    matrix = embedder.fit_transform(DOCUMENTS * 5)
    assert np.array_equal(
        matrix, dv.fit(DOCUMENTS * 5, recipe="idf-delta-pca").embed(DOCUMENTS * 5)
    )
    assert embedder.word_vectors is None
    assert len(embedder.get_feature_names_out()) == matrix.shape[1]


def test_rows_keep_their_order(embedder, expected):
    order = np.random.default_rng(0).permutation(len(DOCUMENTS))
    shuffled = embedder.transform([DOCUMENTS[i] for i in order])
    assert np.array_equal(shuffled, expected[order])


def test_a_row_does_not_depend_on_its_company(embedder, expected):
    alone = [embedder.transform([document]) for document in DOCUMENTS]
    assert np.array_equal(np.concatenate(alone), expected)


def test_rows_are_float32_and_of_unit_length(expected):
    assert expected.dtype == np.float32
    assert np.linalg.norm(expected, axis=1) == pytest.approx(1, abs=1e-6)


def test_no_documents_give_no_rows_of_the_same_width(embedder):
    embedder.fit(DOCUMENTS)
    for nothing in (
        [],
        np.array([], dtype=object),
        pd.Series([], dtype=object),
        pl.Series([""])[:0],
    ):
        assert embedder.transform(nothing).shape == (0, DIMENSIONS)


def test_documents_that_are_empty_or_unknown_give_zeros(embedder):
    embedder.fit(DOCUMENTS)
    rows = embedder.transform(["", "sea", "xyzzy", None])
    assert list(rows.any(axis=1)) == [False, True, False, False]


# What documents come as


FORMS_OF_DOCUMENTS = {
    "list": list,
    "tuple": tuple,
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "array of strings": np.array,
    "pandas": pd.Series,
    "pandas of objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas on Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas with an odd index": lambda texts: pd.Series(
        texts, index=range(50, 50 - len(texts), -1)
    ),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow in chunks": lambda texts: pa.chunked_array([texts[:5], texts[5:]]),
    "a corpus": dv.read_corpus,
    "lists of words": lambda texts: [text.split() for text in texts],
}


@pytest.mark.parametrize("kind", FORMS_OF_DOCUMENTS)
def test_documents_may_come_as(embedder, expected, kind):
    documents = FORMS_OF_DOCUMENTS[kind](DOCUMENTS)
    assert np.array_equal(clone(embedder).fit_transform(documents), expected)
    assert np.array_equal(embedder.transform(documents), expected)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["sea", None, np.nan, "room"], dtype=object),
        pd.Series(["sea", None, np.nan, "room"], dtype="str"),
        pd.Series(["sea", pd.NA, None, "room"], dtype="string"),
        pd.Series(["sea", None, None, "room"], dtype=pd.ArrowDtype(pa.large_string())),
        np.array(["sea", None, np.nan, "room"], dtype=object),
        pl.Series(["sea", None, None, "room"]),
        pa.array(["sea", None, None, "room"]),
        ["sea", None, None, "room"],
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{getattr(column, 'dtype', '')}",
)
def test_missing_values_in_a_column_are_empty_documents(embedder, column):
    embedder.set_params(n_components_removed=0, form="sum")
    rows = embedder.fit_transform(column)
    assert list(rows.any(axis=1)) == [True, False, False, True]
    assert embedder.model_.info()["documents"] == 4


@pytest.mark.parametrize("method", ["fit", "transform", "fit_transform"])
def test_a_lone_string_is_refused(embedder, method):
    embedder.fit(DOCUMENTS)
    with pytest.raises(ValueError, match="expected a list of documents, got one str: wrap it"):
        getattr(embedder, method)("the sea")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"text": DOCUMENTS}),
        pd.DataFrame({"text": DOCUMENTS, "title": DOCUMENTS}),
        pl.DataFrame({"text": DOCUMENTS}),
        pa.table({"text": DOCUMENTS}),
        np.array([DOCUMENTS]).T,
        np.array("the sea"),
        scipy.sparse.eye(3, format="csr"),
    ],
    ids=["pandas", "two columns", "polars", "arrow", "array", "no column", "sparse"],
)
@pytest.mark.parametrize("method", ["fit", "transform", "fit_transform"])
def test_a_table_is_refused_and_the_error_says_how_to_choose_a_column(embedder, table, method):
    embedder.fit(DOCUMENTS)
    with pytest.raises(ValueError, match=r"one column of documents, .* 'text', not \['text'\]"):
        getattr(embedder, method)(table)


@pytest.mark.parametrize(
    "documents", [[1, 2], np.array([1.0, 2.0]), pd.Series([1, 2]), {"a": 1}, 3]
)
def test_what_is_no_text_is_refused(embedder, documents):
    with pytest.raises(ValueError, match=r"expected|must be a string"):
        embedder.fit(documents)


@pytest.mark.parametrize("removed", [0, 1])
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_a_generator_is_refused_when_fitting_as_it_is_read_again(embedder, removed, method):
    embedder.set_params(n_components_removed=removed)
    with pytest.raises(ValueError, match="can be read only once"):
        getattr(embedder, method)(document for document in DOCUMENTS)


def test_a_generator_can_be_transformed(embedder, expected):
    assert np.array_equal(embedder.transform(document for document in DOCUMENTS), expected)


# The rest of scikit-learn


def test_it_works_in_a_pipeline(embedder):
    pipeline = make_pipeline(embedder, LogisticRegression()).fit(DOCUMENTS, LABELS)
    assert pipeline.score(DOCUMENTS, LABELS) == 1.0
    assert list(pipeline.predict(["A warm beach!", "a clean, quiet bed"])) == [0, 1]
    assert list(pipeline[:-1].get_feature_names_out()) == [
        f"deltavec{i}" for i in range(DIMENSIONS)
    ]


def test_a_pipeline_gives_the_same_on_a_column_of_a_frame(embedder):
    frame = pd.DataFrame({"text": DOCUMENTS, "label": LABELS})
    train, test = train_test_split(frame, random_state=0, stratify=frame.label)
    pipeline = make_pipeline(embedder, LogisticRegression()).fit(train.text, train.label)
    again = make_pipeline(embedder, LogisticRegression()).fit(list(train.text), list(train.label))
    assert list(pipeline.predict(test.text)) == list(again.predict(list(test.text)))


def test_a_grid_of_forms_and_weightings_can_be_searched(embedder):
    grid = {
        "embed__form": ["sum", "center", "delta"],
        "embed__weighting": ["idf", "sif", "subsampling", "unit"],
        "embed__n_components_removed": np.arange(2),
    }
    pipeline = Pipeline([("embed", embedder), ("classify", LogisticRegression())])
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DOCUMENTS, LABELS)
    assert len(search.cv_results_["params"]) == 24
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_["embed"].word_vectors is embedder.word_vectors


def test_every_parameter_of_spectral_can_be_searched():
    pipeline = Pipeline([("embed", DocumentEmbedder()), ("classify", LogisticRegression())])
    grids = [{f"embed__{name}": [None, value]} for name, value in SPECTRAL.items()]
    grids.append({"embed__recipe": ["spectral", "idf-sum"]})
    search = GridSearchCV(pipeline, grids, cv=2, error_score="raise").fit(DOCUMENTS, LABELS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_grid_can_be_searched_by_two_processes(embedder):
    pipeline = Pipeline([("embed", embedder), ("classify", LogisticRegression())])
    grid = {"embed__form": ["sum", "delta"], "embed__threads": [1]}
    alone = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DOCUMENTS, LABELS)
    both = GridSearchCV(pipeline, grid, cv=2, error_score="raise", n_jobs=2).fit(DOCUMENTS, LABELS)
    for scores in ("split0_test_score", "split1_test_score"):
        assert np.array_equal(alone.cv_results_[scores], both.cv_results_[scores])


def test_word_vectors_can_be_searched_like_any_parameter(embedder, vectors):
    others = dv.WordVectors(WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 7)))
    pipeline = Pipeline([("embed", embedder), ("classify", LogisticRegression())])
    grid = {"embed__word_vectors": [vectors, others]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(DOCUMENTS, LABELS)
    assert search.best_params_["embed__word_vectors"] in (vectors, others)


def test_predictions_can_be_cross_validated_on_any_column(embedder):
    pipeline = make_pipeline(embedder, LogisticRegression())
    expected = cross_val_predict(pipeline, DOCUMENTS, LABELS, cv=3)
    for documents in (
        np.array(DOCUMENTS, dtype=object),
        pd.Series(DOCUMENTS),
        pl.Series(DOCUMENTS),
    ):
        assert list(cross_val_predict(pipeline, documents, LABELS, cv=3)) == list(expected)


@pytest.mark.parametrize("frames", [pd, pl], ids=["pandas", "polars"])
def test_a_column_transformer_hands_over_one_column(embedder, expected, frames):
    frame = frames.DataFrame({"stars": [float(i) for i in range(12)], "text": DOCUMENTS})
    columns = ColumnTransformer([("text", embedder, "text"), ("rest", "passthrough", ["stars"])])
    matrix = columns.fit_transform(frame)
    assert matrix.shape == (12, DIMENSIONS + 1)
    assert np.array_equal(matrix[:, :DIMENSIONS].astype(np.float32), expected)
    names = [f"text__deltavec{i}" for i in range(DIMENSIONS)]
    assert list(columns.get_feature_names_out()) == [*names, "rest__stars"]
    assert np.array_equal(columns.transform(frame), matrix)


def test_a_column_transformer_hands_over_a_column_on_arrow(embedder, expected):
    texts = pd.Series(DOCUMENTS, dtype=pd.ArrowDtype(pa.large_string()))
    frame = pd.DataFrame({"text": texts})
    columns = make_column_transformer((embedder, "text"))
    assert np.array_equal(columns.fit_transform(frame), expected)


def test_a_column_transformer_given_a_list_of_columns_hears_what_to_do(embedder):
    columns = make_column_transformer((embedder, ["text"]))
    with pytest.raises(ValueError, match=r"name the column as 'text', not \['text'\]"):
        columns.fit(pd.DataFrame({"text": DOCUMENTS}))


def test_it_stands_beside_other_features(embedder, expected):
    union = FeatureUnion([("dense", embedder), ("sparse", TfidfVectorizer())])
    matrix = union.fit_transform(DOCUMENTS).toarray()
    assert np.array_equal(matrix[:, :DIMENSIONS].astype(np.float32), expected)


def test_features_have_names(embedder):
    names = embedder.fit(DOCUMENTS).get_feature_names_out()
    assert names.dtype == object
    assert list(names) == ["deltavec0", "deltavec1", "deltavec2", "deltavec3"]
    assert list(embedder.get_feature_names_out(["text"])) == list(names)


def test_the_number_of_features_does_not_depend_on_the_documents(embedder):
    for documents in (DOCUMENTS, ["sea"], ["the", "xyzzy", ""]):
        assert clone(embedder).fit_transform(documents).shape == (len(documents), DIMENSIONS)


def test_output_can_be_a_pandas_frame(embedder, expected):
    embedder.set_output(transform="pandas")
    column = pd.Series(DOCUMENTS, index=[f"review {i}" for i in range(12)])
    for frame in (embedder.transform(column), embedder.fit_transform(column)):
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == list(embedder.get_feature_names_out())
        assert list(frame.index) == list(column.index)
        assert np.array_equal(frame.to_numpy(), expected)


def test_output_can_be_a_polars_frame(embedder, expected):
    frame = embedder.set_output(transform="polars").transform(pl.Series(DOCUMENTS))
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == list(embedder.get_feature_names_out())
    assert np.array_equal(frame.to_numpy(), expected)


def test_output_can_be_set_for_everything(embedder):
    with config_context(transform_output="pandas"):
        assert isinstance(embedder.fit_transform(DOCUMENTS), pd.DataFrame)


def test_tags_say_that_it_takes_text_and_no_target(embedder):
    tags = get_tags(embedder)
    assert tags.input_tags.string
    assert tags.input_tags.one_d_array
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    assert not tags.no_validation
    assert tags.requires_fit


def test_its_name_shows_parameters_and_no_matrix(embedder):
    text = "DocumentEmbedder(word_vectors=WordVectors(10 words, 4 dimensions))"
    assert repr(embedder) == text
    assert repr(embedder.fit(DOCUMENTS)) == text
    assert repr(DocumentEmbedder(form="sum")) == "DocumentEmbedder(form='sum')"


def test_it_shows_itself_in_a_notebook(embedder):
    for shown in (embedder, make_pipeline(embedder, LogisticRegression()), embedder.fit(DOCUMENTS)):
        html = estimator_html_repr(shown)
        assert "DocumentEmbedder" in html
        assert "array(" not in html
    assert "Fitted" in estimator_html_repr(embedder)


# Pickling: scikit-learn's way to send an estimator to another process


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


def through_joblib(thing):
    file = io.BytesIO()
    joblib.dump(thing, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("sent", [pickled, through_joblib])
def test_it_can_be_sent_to_another_process(embedder, expected, sent):
    received = sent(embedder)
    assert np.array_equal(received.transform(DOCUMENTS), expected)
    assert received.model_.info() == embedder.model_.info()
    assert np.array_equal(clone(received).fit_transform(DOCUMENTS), expected)
    assert (
        sent(DocumentEmbedder(form="sum")).get_params() == DocumentEmbedder(form="sum").get_params()
    )


def test_prior_vectors_are_a_parameter_shared_by_clones(vectors):
    embedder = clone(DocumentEmbedder(prior=vectors, dimensions=3, units="words"))
    assert embedder.prior is vectors
    told = dv.fit(
        DOCUMENTS * 3,
        recipe=dv.Recipe(form="spectral", n_components_removed=0, dimensions=3),
        units="words",
        prior=vectors,
    )
    embedder.fit(DOCUMENTS * 3)
    assert embedder.model_.info()["prior"] == told.info()["prior"]
    assert np.array_equal(embedder.transform(DOCUMENTS), told.embed(DOCUMENTS))


def test_prior_vectors_are_refused_where_nothing_learns_from_them(vectors):
    for embedder in (DocumentEmbedder(vectors, prior=vectors), DocumentEmbedder(form="sum")):
        with pytest.raises(dv.RecipeError, match="prior vectors are for spectral"):
            embedder.set_params(prior=vectors).fit(DOCUMENTS)
    with pytest.raises(dv.VectorsError, match="prior must be WordVectors or None, got str"):
        DocumentEmbedder(prior="glove.txt").fit(DOCUMENTS)
