import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deltavec.core.learning.corpora import corpus_statistics
from deltavec.core.text.batches import FEW, as_corpus, as_text_batch, require_reiterable
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError, InputError

DOCUMENTS = ["Sea view", None, "", "quiet Größe"]


def words_of(corpus, tokenizer="words"):
    """The documents' bytes, as the kernels would see them."""
    return [
        texts.data[texts.ends[i] : texts.ends[i + 1]].tobytes()
        for texts in (as_text_batch(chunk, tokenizer) for chunk in as_corpus(corpus))
        for i in range(texts.documents)
    ]


@pytest.mark.parametrize(
    "corpus",
    [
        DOCUMENTS,
        tuple(DOCUMENTS),
        np.array(DOCUMENTS, object),
        np.array(["Sea view", np.nan, "", "quiet Größe"], object),
        pd.Series(DOCUMENTS),
        pd.Series(DOCUMENTS, dtype="string[pyarrow]"),
        pd.Series(["Sea view", np.nan, "", "quiet Größe"], dtype=object),
        pl.Series(DOCUMENTS),
        pa.array(DOCUMENTS),
        pa.array(DOCUMENTS, pa.large_string()),
        pa.array(DOCUMENTS, pa.string_view()),
        pa.array(DOCUMENTS).dictionary_encode(),
        pa.array(["x", *DOCUMENTS, "y"]).slice(1, 4),
        pa.chunked_array([DOCUMENTS[:1], DOCUMENTS[1:]]),
        pa.chunked_array([DOCUMENTS]),
        (document for document in DOCUMENTS),
        dict.fromkeys(DOCUMENTS).keys(),
    ],
    ids=lambda corpus: type(corpus).__name__,
)
def test_documents_come_from_any_collection(corpus):
    assert words_of(corpus) == [b"Sea view", b"", b"", "quiet Größe".encode()]


def test_no_documents_are_a_corpus():
    assert words_of([]) == []
    assert words_of(pa.array([], pa.string())) == []
    assert as_text_batch(pa.array([], pa.string()), "words").documents == 0
    assert words_of(pa.Array.from_buffers(pa.string(), 0, [None, None, pa.py_buffer(b"")])) == []
    assert words_of(pa.nulls(2)) == [b"", b""]
    assert words_of(pa.array([None, None], pa.string())) == [b"", b""]


def test_words_that_are_given_are_kept_as_they_are():
    assert words_of([["New York", "a"], [], None]) == [b"New York\xffa", b"", b""]
    assert words_of(pa.array([["New York", "a"], None])) == [b"New York\xffa", b""]


def test_a_callable_gives_the_words():
    assert words_of(["a b", None], str.split) == [b"a\xffb", b""]


def test_half_a_surrogate_pair_becomes_the_replacement_character():
    expected = ["a\ufffdb".encode(), b""]
    assert words_of(["a\ud800b", None]) == expected
    assert words_of(["a\ud800b", None] * FEW) == expected * FEW


def test_both_halves_of_a_pair_are_the_character_they_stand_for():
    assert words_of(["\ud83c\udf0a \ud800", "sea"]) == ["\U0001f30a \ufffd".encode(), b"sea"]


def test_a_few_documents_are_read_as_many_are():
    assert words_of(DOCUMENTS * FEW) == words_of(DOCUMENTS) * FEW
    for corpus in (["a", 7], ["a", 7] * FEW):
        with pytest.raises(CorpusError, match="every document must be a string, got int"):
            words_of(corpus)


def test_a_generator_can_be_read_once():
    corpus = as_corpus(document for document in DOCUMENTS)
    assert corpus.one_shot
    list(corpus)
    with pytest.raises(CorpusError, match="read only once"):
        list(corpus)
    with pytest.raises(CorpusError, match="write it to a file, or pass a list"):
        require_reiterable(corpus)


def test_an_iterable_can_be_read_again():
    corpus = require_reiterable(as_corpus(dict.fromkeys(DOCUMENTS).keys()))
    assert list(corpus) == list(corpus)


def test_what_comes_in_chunks_is_left_alone():
    corpus = as_corpus(DOCUMENTS)
    assert as_corpus(corpus) is corpus
    assert len(corpus) == 4


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ("one document", "expected a list of documents, got one str: wrap it in a list"),
        (b"bytes", "got one bytes"),
        (7, "expected a collection of documents, got int"),
        ({"a": 1}, "expected a collection of documents, got dict"),
        (np.array([["a", "b"]]), r"one column of documents, got a table of shape \(1, 2\)"),
        (pa.table({"text": ["a"]}), "got a table of shape"),
        (pd.DataFrame({"text": ["a"]}), "pass the column that holds the text"),
        (pl.DataFrame({"text": ["a"]}), "pass the column that holds the text"),
        (["a", 7], r"every document must be a string, got int \(7\) at place 1"),
        ([b"a"], "got bytes"),
        ([["a"], "b"], "a document as a list of words, got str"),
        ([["a", 7]], "a document as a list of words, got list"),
        (pa.array([1, 2]), "expected a column of strings, got int64"),
    ],
)
def test_what_is_no_corpus_is_refused(corpus, message):
    with pytest.raises(CorpusError, match=message):
        words_of(corpus)


@pytest.mark.parametrize("found", ["a b", 7])
def test_a_tokenizer_must_return_words(found):
    with pytest.raises(CorpusError, match="tokenizer must return a list of words"):
        words_of(["a b"], lambda document: found)


def test_a_tokenizer_must_return_strings():
    with pytest.raises(CorpusError, match="a document as a list of words"):
        words_of(["a b"], lambda document: [7])


def test_fit_refuses_what_is_no_tokenizer():
    import deltavec as dv

    for tokenizer in ("tokens", "bpe", 7):
        with pytest.raises(InputError, match=r"'words', 'whitespace', .* or a callable"):
            dv.fit(["a"], dv.WordVectors(["a"], [[1.0]]), "idf-sum", tokenizer=tokenizer)


def test_a_large_corpus_comes_in_several_chunks():
    vocabulary = Vocabulary.of(["a"])
    many = ["a"] * 40_000
    assert len(list(as_corpus(many))) == 3
    assert corpus_statistics(as_corpus(many), vocabulary, "words", 2).documents == 40_000


def test_a_pandas_column_is_mended_and_its_odd_value_named():
    assert words_of(pd.Series(["a\ud800b"], dtype=object)) == ["a\ufffdb".encode()]
    with pytest.raises(CorpusError, match=r"every document must be a string, got int \(7\)"):
        words_of(pd.Series(["a", 7], dtype=object))


def test_documents_that_are_bytes_for_the_kernels_stay_as_they_are():
    texts = as_text_batch(["a room", None], "words")
    assert as_text_batch(texts, "words") is texts
    assert as_text_batch(texts, "whitespace") is texts
