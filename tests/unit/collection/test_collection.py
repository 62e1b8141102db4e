"""Collections: built, opened, searched, compared, explained."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.collection import segment
from deltavec.collection.segment_writer import GROUP_DOCUMENTS
from deltavec.io.output.embed_to_file import Progress
from deltavec.search.lexical.writer import PostingsWriter

WORDS = ["sea", "beach", "room", "bed", "quiet", "loud"]
VECTORS = dv.WordVectors(
    WORDS, [[1, 0, 0.1], [0.9, 0.1, 0], [0, 1, 0.1], [0.1, 0.9, 0], [0, 0.1, 1], [0.1, 0, -1]]
)
TEXTS = ["sea beach", "quiet room", "loud bed", "beach", "bed room quiet", "", "zzz", "sea loud"]
TABLE = pa.table(
    {
        "text": TEXTS,
        "name": [f"d{number}" for number in range(8)],
        "rating": [1, 2, 3, 4, 5, 1, 2, None],
        "day": [datetime.date(2024, 1, number + 1) for number in range(8)],
    }
)


def fitted(recipe: str = "idf-sum") -> dv.EmbeddingModel:
    return dv.fit(TEXTS, VECTORS, recipe)


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(
        fitted("idf-sum-pca"), TABLE, tmp_path / "c.idx", id_column="name", keep=["rating", "day"]
    )


def test_a_collection_is_the_corpus_with_its_vectors(collection: dv.Collection) -> None:
    assert len(collection) == 8
    assert repr(collection) == f"Collection({str(collection.path)!r}, 8 documents)"
    assert collection.columns == ["rating", "day"]
    assert collection.ids.to_pylist() == TABLE["name"].to_pylist()
    everything = collection.documents(range(8))
    assert everything["text"].to_pylist() == TEXTS
    assert everything["rating"].to_pylist() == TABLE["rating"].to_pylist()
    assert everything["day"].type == pa.date32()
    own = fitted("idf-sum-pca").for_collection(TEXTS)
    assert collection.model.fingerprint == own.fingerprint
    assert np.array_equal(collection.index.vectors, own.embed(TEXTS))


def test_opening_again_gives_the_same(collection: dv.Collection) -> None:
    again = dv.open_collection(collection.path)
    assert again.description == collection.description
    assert again.documents(["d4", "d0"]).equals(collection.documents([4, 0]))
    assert np.array_equal(again.index.vectors, collection.index.vectors)


def test_a_second_pass_that_fails_leaves_the_collection_as_it_was(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[str] = []

    def halt(progress: Progress) -> None:
        if stages[-1] == "embedding":
            raise KeyboardInterrupt

    folder = collection.path.parent
    before = sorted(folder.rglob("*"))
    for postings_at_once in (1, 1 << 20):
        # Words are being listed when the documents fail, or wait for the documents' vectors.
        monkeypatch.setattr(PostingsWriter.finish, "__defaults__", (postings_at_once, None))
        with pytest.raises(KeyboardInterrupt):
            dv.build_collection(
                fitted("idf-sum-pca"), TABLE, collection.path,
                on_progress=halt, on_stage=stages.append,
            )  # fmt: skip
        assert stages[-1] == "embedding"
        assert sorted(folder.rglob("*")) == before
        assert dv.open_collection(collection.path).description == collection.description


def test_without_its_own_model_a_collection_uses_the_one_given(tmp_path: Path) -> None:
    model = fitted("idf-sum-pca")
    built = dv.build_collection(model, TEXTS, tmp_path / "c.idx", as_collection=False)
    assert built.model.fingerprint == model.fingerprint
    assert not built.info()["model_adapted"]
    plain = dv.build_collection(fitted(), TEXTS, tmp_path / "d.idx")
    assert not plain.info()["model_adapted"]  # the recipe has nothing to adapt


def test_documents_without_an_id_column_are_numbered(tmp_path: Path) -> None:
    built = dv.build_collection(fitted(), TEXTS, tmp_path / "c.idx")
    assert built.ids.to_pylist() == [str(number) for number in range(8)]
    assert built.text("3") == "beach"
    assert built.row("3") == 3


def test_whole_numbers_are_ids_as_text(tmp_path: Path) -> None:
    table = pa.table({"text": TEXTS, "id": [10 * number for number in range(8)]})
    built = dv.build_collection(fitted(), table, tmp_path / "c.idx", id_column="id")
    assert built.ids.to_pylist()[:2] == ["0", "10"]


def test_search_finds_what_brute_force_finds(collection: dv.Collection) -> None:
    found = collection.search("a quiet sea", k=8, by="semantic")
    cosines = collection.index.vectors @ collection.model.embed(["a quiet sea"])[0]
    order = np.argsort(-cosines, kind="stable")
    assert [one.id for one in found] == [f"d{row}" for row in order]
    assert [one.score for one in found] == pytest.approx(cosines[order], abs=1e-6)
    assert found[0].text == TEXTS[order[0]]
    assert found[0].columns == {
        "rating": TABLE["rating"][order[0]].as_py(),
        "day": TABLE["day"][order[0]].as_py(),
    }
    assert collection.search([["a", "quiet", "sea"]], k=8, by="semantic") == [found]


def test_a_list_of_queries_is_a_batch(collection: dv.Collection) -> None:
    queries = ["quiet sea", "loud", "no such word"]
    assert collection.search(queries, k=3) == [collection.search(one, k=3) for one in queries]
    assert collection.search([]) == []


def test_similar_takes_an_id_several_ids_or_a_text(collection: dv.Collection) -> None:
    vectors = collection.vectors()
    of_two = collection.similar(["d0", "d3"], k=3)
    mean = vectors[0] + vectors[3]
    expected = [row for row in np.argsort(-vectors @ mean, kind="stable") if row not in (0, 3)][:3]
    assert [one.id for one in of_two] == [f"d{row}" for row in expected]
    assert collection.similar(["d0"]) == collection.similar("d0")
    of_text = collection.similar(text="sea beach", k=8)
    assert of_text[0].id == "d0"
    assert of_text[0].score == pytest.approx(1, abs=1e-6)
    assert np.array_equal(collection.vectors(["d3", "d0"]), vectors[[3, 0]])
    for wrong in ({}, {"id": "d0", "text": "sea"}):
        with pytest.raises(dv.InputError, match="only one of them"):
            collection.similar(**wrong)


def test_whole_numbers_are_taken_wherever_ids_are(tmp_path: Path) -> None:
    built = dv.build_collection(fitted(), TEXTS, tmp_path / "n.idx")
    assert built.text(3) == built.text("3") == "beach"
    assert built.similar(3) == built.similar(np.int64(3)) == built.similar("3")
    assert built.keywords(3) == built.keywords("3")
    assert built.why("sea", 0) == built.why("sea", "0")
    assert np.array_equal(built.vectors([3]), built.vectors(["3"]))
    assert len(built.remove([3, 4])) == 6
    for wrong in (True, 1.5, None, b"3"):
        with pytest.raises(dv.InputError, match="a string or a whole number"):
            built.text(wrong)


def test_what_is_printed_fits_in_ten_lines(collection: dv.Collection) -> None:
    hits = collection.search("sea", k=8)
    found = next(one for one in hits if one.id == "d3")
    assert repr(found) == f"Hit(id='d3', score={found.score:.2f}, text='beach')"
    assert repr(collection.model) == (
        "EmbeddingModel(idf-sum-pca, 6 words, 3 dimensions, fitted on 8 documents)"
    )
    texts = [f"sea {'x' * 900}"] * 30
    long = dv.build_collection(fitted(), texts, collection.path.parent / "l.idx")
    why = collection.why("quiet sea", "d0")
    for one in (hits, long.search("sea", k=30), why, collection.cluster(2), collection.model):
        assert len(repr(one).splitlines()) <= 10
        assert len(repr(one)) < 1500
    assert repr(why).startswith(f"SearchExplanation(hybrid score {why.score:.2f}: sea ")
    assert "<td>d0</td>" in hits._repr_html_()
    assert "<td>sea</td>" in why._repr_html_()
    assert "clusters" in collection.cluster(2)._repr_html_()


def test_a_filter_leaves_only_what_fulfils_it(collection: dv.Collection) -> None:
    found = collection.search("sea", k=8, filter="rating >= 3 and day < '2024-01-05'")
    assert {one.id for one in found} == {"d2", "d3"}
    assert collection.search("sea", filter="rating > 5") == []
    assert {one.id for one in collection.search("sea", filter="id in ('d0', 'd7')")} == {"d0", "d7"}
    assert collection.mask("rating > 3").tolist() == [
        (rating or 0) > 3 for rating in TABLE["rating"].to_pylist()
    ]


def test_k_beyond_the_collection_is_the_collection(collection: dv.Collection) -> None:
    assert len(collection.search("sea", k=1000)) == 8
    assert len(collection.similar("d0", k=1000)) == 7


def test_a_query_without_known_words_finds_nothing(collection: dv.Collection) -> None:
    assert collection.search("xyzzy") == []
    assert collection.search("") == []
    assert collection.similar("d5") == []


def test_the_rows_nearest_to_a_vector_are_those_that_similar_shows(
    collection: dv.Collection,
) -> None:
    row = collection.find_row("d0")
    assert row == collection.row("d0") == 0
    assert collection.find_row("nope") is None
    query = collection.vector_query(collection.index.vectors[row], 3, row=row)
    scores, rows = collection.best([query], threads=1)[0]
    found = collection.similar("d0", 3)
    assert [(f"d{one}", score) for one, score in zip(rows, scores.tolist(), strict=True)] == [
        (one.id, one.score) for one in found
    ]


def test_similar_leaves_the_document_itself_out(collection: dv.Collection) -> None:
    found = collection.similar("d0", k=3)
    assert len(found) == 3
    assert "d0" not in {one.id for one in found}
    best = {one.id: one.score for one in collection.search(TEXTS[0], k=8, by="semantic")}
    assert all(one.score == pytest.approx(best[one.id], abs=1e-6) for one in found)


def test_similar_among_copies_leaves_only_itself_out(tmp_path: Path) -> None:
    built = dv.build_collection(fitted(), ["sea room"] * 5 + ["bed"], tmp_path / "c.idx")
    assert [one.id for one in built.similar("4", k=2)] == ["0", "1"]


def test_keywords_are_shares_of_the_document_itself(collection: dv.Collection) -> None:
    words = collection.keywords("d4", n=10)
    assert {word.word for word in words} == {"bed", "room", "quiet"}
    assert sum(word.share for word in words) == pytest.approx(1)
    assert [word.share for word in words] == sorted((word.share for word in words), reverse=True)
    assert collection.keywords("d6") == []
    assert len(collection.keywords("d4", n=1)) == 1


def test_explain_is_the_model_s(collection: dv.Collection) -> None:
    assert collection.explain("sea", "beach") == collection.model.explain("sea", "beach")


def test_duplicates_have_the_ids_of_documents(tmp_path: Path) -> None:
    table = pa.table({"text": ["sea room", "bed", "Sea room!"], "id": ["x", "y", "z"]})
    built = dv.build_collection(fitted(), table, tmp_path / "c.idx", id_column="id")
    found = built.duplicates()
    assert [group.tolist() for group in found.groups] == [["x", "z"]]
    assert (found.pairs.a.tolist(), found.pairs.b.tolist()) == (["x"], ["z"])
    assert built.similar_pairs(0.99).b.tolist() == ["z"]


def test_a_column_of_all_documents(collection: dv.Collection) -> None:
    assert collection.column("rating").to_pylist() == TABLE["rating"].to_pylist()
    with pytest.raises(dv.InputError, match="no column 'nope'; the columns are 'id', 'text', 'rat"):
        collection.column("nope")


def test_documents_come_in_any_order_from_any_group(tmp_path: Path) -> None:
    count = 3 * GROUP_DOCUMENTS + 7
    texts = [f"sea {number}" for number in range(count)]
    built = dv.build_collection(fitted(), texts, tmp_path / "c.idx")
    assert built.store.segments[0].sizes == [GROUP_DOCUMENTS] * 3 + [7]
    rows = np.random.default_rng(0).integers(0, count, 200)
    assert built.documents(rows)["text"].to_pylist() == [texts[row] for row in rows]
    assert built.documents([])["id"].to_pylist() == []
    assert built.entries(rows) == built.documents(rows).to_pylist()
    assert built.entries([]) == []


def test_a_date_that_python_does_not_have_is_text(tmp_path: Path) -> None:
    when = pa.array([0, 10**17], pa.timestamp("s"))
    table = pa.table({"text": ["a quiet sea", "a loud room"], "when": when})
    built = dv.build_collection(fitted(), table, tmp_path / "c.idx", keep=["when"])
    first, second = built.entries([0, 1])
    assert first["when"].year == 1970
    assert str(10**17) in second["when"]


def test_many_groups_are_read_and_not_all_of_them_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "GROUPS_KEPT", 2)
    texts = [f"sea {number}" for number in range(4 * GROUP_DOCUMENTS)]
    built = dv.build_collection(fitted(), texts, tmp_path / "c.idx")
    rows = [0, 3 * GROUP_DOCUMENTS, GROUP_DOCUMENTS, 2 * GROUP_DOCUMENTS, 1]
    assert [one["text"] for one in built.entries(rows)] == [texts[row] for row in rows]
    assert len(built.store.segments[0].kept) <= 2


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("d00", "no document has the id 'd00'; did you mean 'd0'"),
        ("quite other", "one is 'd0'"),
        (3, "no document has the id 3"),
        (0.5, "an id is a string or a whole number"),
        ("\ud800", "no document has the id"),
    ],
)
def test_an_unknown_id_is_an_error(id: str, said: str, collection: dv.Collection) -> None:
    with pytest.raises(dv.InputError, match=said):
        collection.similar(id)


def test_an_unknown_number_says_which_there_are(tmp_path: Path) -> None:
    built = dv.build_collection(fitted(), TEXTS, tmp_path / "c.idx")
    with pytest.raises(dv.InputError, match="numbered from 0 to 7"):
        built.text("8")


@pytest.mark.parametrize("k", [0, -1, True, 1.5, "3"])
def test_counts_are_whole_numbers_from_1_on(k: int, collection: dv.Collection) -> None:
    for ask in (collection.search, collection.similar):
        with pytest.raises(dv.InputError, match="k must be a whole number"):
            ask("d0", k)
    with pytest.raises(dv.InputError, match="n must be a whole number"):
        collection.keywords("d0", k)
    with pytest.raises(dv.InputError, match="n must be a whole number"):
        collection.cluster(k)


def test_wrong_questions_are_refused(collection: dv.Collection) -> None:
    with pytest.raises(dv.InputError, match="a query is a text"):
        collection.search(7)  # type: ignore[arg-type]
    with pytest.raises(dv.InputError, match="filter must be a string"):
        collection.search("sea", filter=["rating > 3"])  # type: ignore[arg-type]
    with pytest.raises(dv.InputError, match="a list of ids"):
        collection.documents("d0")
    with pytest.raises(dv.InputError, match="places are from 0 to 7, got 8"):
        collection.documents([0, 8])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"id_column": "nope"}, "no column 'nope'"),
        ({"id_column": "text"}, "holds the text"),
        ({"id_column": "day"}, "must hold text or whole numbers, got date32"),
        ({"id_column": "rating"}, "in every row, found none in row 7"),
        ({"keep": ["nope"]}, "no column 'nope'"),
        ({"keep": "rating"}, "keep must be a list"),
    ],
)
def test_wrong_columns_are_refused_and_nothing_is_written(
    options: dict[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(dv.InputError, match=said):
        dv.build_collection(fitted(), TABLE, tmp_path / "c.idx", **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("recipe", ["idf-sum", "idf-sum-pca"])  # one pass, two passes
def test_an_id_that_comes_twice_is_named(recipe: str, tmp_path: Path) -> None:
    table = pa.table({"text": ["sea", "room", "bed"], "id": ["x", "y", "x"]})
    with pytest.raises(dv.InputError, match="got 'x' in row 2 and before in row 0"):
        dv.build_collection(fitted(recipe), table, tmp_path / "c.idx", id_column="id")
    assert not list(tmp_path.iterdir())


def test_names_that_the_collection_needs_itself_are_refused(tmp_path: Path) -> None:
    table = pa.table({"review": ["sea"], "text": ["x"], "id": ["y"]})
    corpus = dv.read_corpus(table, column="review")
    for name in ("text", "id"):
        with pytest.raises(dv.InputError, match=f"called '{name}' cannot be kept"):
            dv.build_collection(fitted(), corpus, tmp_path / "c.idx", keep=[name])
    built = dv.build_collection(
        fitted(), corpus, tmp_path / "c.idx", id_column="id", keep=["id", "review"]
    )
    assert built.columns == []
    assert built.text("y") == "sea"


@pytest.mark.parametrize("recipe", ["idf-sum", "idf-sum-pca"])
def test_an_empty_corpus_is_refused(recipe: str, tmp_path: Path) -> None:
    with pytest.raises(dv.CorpusError, match="no documents"):
        dv.build_collection(fitted(recipe), [], tmp_path / "c.idx")
    assert not list(tmp_path.iterdir())


def test_what_can_be_read_once_needs_a_model_that_is_not_adapted(tmp_path: Path) -> None:
    with pytest.raises(dv.CorpusError, match="as_collection=False, --no-collection-model"):
        dv.build_collection(fitted("idf-sum-pca"), iter(TEXTS), tmp_path / "c.idx")
    built = dv.build_collection(
        fitted("idf-sum-pca"), iter(TEXTS), tmp_path / "c.idx", as_collection=False
    )
    assert len(built) == len(dv.build_collection(fitted(), iter(TEXTS), tmp_path / "d.idx")) == 8


def test_a_collection_of_unknown_words_can_be_asked(tmp_path: Path) -> None:
    built = dv.build_collection(fitted("idf-sum-pca"), ["xyz", ""], tmp_path / "c.idx")
    assert built.info()["documents_without_vector"] == 2
    assert [one.score for one in built.search("sea")] == [0, 0]
    with pytest.raises(dv.InputError, match="of 0 documents that have a vector"):
        built.cluster(1)


def test_models_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    model = dv.fit(TEXTS, VECTORS, "idf-sum", tokenizer=str.split)
    with pytest.raises(dv.ModelError, match="tokenizer of your own"):
        dv.build_collection(model, TEXTS, tmp_path / "c.idx")
    with pytest.raises(dv.InputError, match="expected a fitted model, got str"):
        dv.build_collection("m.dv", TEXTS, tmp_path / "c.idx")  # type: ignore[arg-type]


def test_progress_and_stages_are_told(tmp_path: Path) -> None:
    told: list[object] = []
    dv.build_collection(
        fitted("idf-sum-pca"),
        TEXTS,
        tmp_path / "c.idx",
        on_stage=told.append,
        on_progress=lambda reached: told.append(reached.documents),
    )
    assert told == ["adapting the model", 8, "embedding", 8, "listing words"]


def test_columns_of_codes_are_kept_as_their_values(tmp_path: Path) -> None:
    def table(values: list[str | None]) -> pa.Table:
        coded = pa.array(values).dictionary_encode()
        return pa.table({"text": ["sea"] * len(values), "city": coded})

    built = dv.build_collection(fitted(), table(["Rome", None]), tmp_path / "c.idx", keep=["city"])
    added = built.add(table(["Oslo", "Rome"]))  # another dictionary
    assert added.column("city").to_pylist() == ["Rome", None, "Oslo", "Rome"]
    assert added.mask("city == 'Rome'").tolist() == [True, False, False, True]
