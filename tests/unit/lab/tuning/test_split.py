"""Labeled documents in two halves: nothing is on both sides, and bad labels are refused."""

import numpy as np
import pyarrow as pa
import pytest

from deltavec.errors import CorpusError, InputError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.tuning import labels as pairs_module
from deltavec.lab.tuning.labels import ListedPairs, document_texts, read_pairs
from deltavec.lab.tuning.split import split_groups, split_pairs
from support.tuning import grouped, labeled_pairs


def halves_of(labels, texts=None, documents=3000, seed=0):
    texts = [f"text {place}" for place in range(len(labels))] if texts is None else texts
    corpus = read_corpus(pa.table({"text": texts, "group": labels}))
    return split_groups(corpus, "group", documents, seed)


def listed_of(triples, seed=0):
    return read_pairs(triples, by_id=False, seed=seed)


def cut(triples, seed=0):
    listed = listed_of(triples, seed)
    return split_pairs(listed, pa.array(listed.names), seed)


def named_pairs(half):
    """The pairs of a half by the names of their documents, with their labels."""
    texts = half.texts.to_pylist()
    return {
        (*sorted((texts[one], texts[other])), bool(label))
        for one, other, label in zip(
            half.pairs.first, half.pairs.second, half.pairs.positive, strict=True
        )
    }


def test_no_group_is_on_both_sides_and_every_document_is_there_once():
    table = grouped(groups=7)
    found = split_groups(read_corpus(table), "group", 3000, 0)
    group_of = dict(zip(table["text"].to_pylist(), table["group"].to_pylist(), strict=True))
    both = [half.texts.to_pylist() for half in (found.choosing, found.held_back)]
    names = [{group_of[text] for text in texts} for texts in both]
    assert not names[0] & names[1]
    assert sorted(map(len, names)) == [3, 4]
    assert sorted(both[0] + both[1]) == sorted(group_of)
    assert found.unit == "group"
    assert found.notes == ()


def test_all_pairs_of_a_half_are_compared_and_labeled_by_group():
    table = grouped(groups=4, documents=3)
    found = split_groups(read_corpus(table), "group", 3000, 0)
    group_of = dict(zip(table["text"].to_pylist(), table["group"].to_pylist(), strict=True))
    for half in (found.choosing, found.held_back):
        compared = named_pairs(half)
        assert len(compared) == len(half.pairs.first) == 15
        assert all((group_of[a] == group_of[b]) == label for a, b, label in compared)


def test_a_seed_gives_the_same_halves_and_another_gives_others():
    labels = [f"g{place % 10}" for place in range(400)]
    texts = [halves_of(labels, seed=seed).choosing.texts.to_pylist() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_documents_are_capped_and_the_largest_groups_come_first():
    labels = [f"g{place}" for place in range(60) for _ in range(100 - place)]
    found = halves_of(labels, documents=500)
    sizes = [len(half.texts) for half in (found.choosing, found.held_back)]
    assert sizes == [250, 250]  # 20 groups, 25 documents of each
    assert found.notes == ("20 of 60 groups are compared: the largest",)


def test_few_large_groups_give_more_documents_each():
    labels = [f"g{place % 4}" for place in range(2000)]
    found = halves_of(labels, documents=400)
    assert [len(half.texts) for half in (found.choosing, found.held_back)] == [200, 200]


def test_with_two_groups_in_a_half_errors_are_over_documents():
    found = halves_of([f"g{place % 4}" for place in range(20)])
    assert found.unit == "document"
    assert found.choosing.pairs.units == 10
    assert "over documents" in found.notes[0]


def test_documents_without_text_or_label_and_single_ones_are_left_out():
    labels = ["a", "a", "b", "b", "c", "c", "d", "d", "a", None, "lonely"]
    texts = [f"text {place}" for place in range(8)] + ["  ", "no label", "alone"]
    found = halves_of(labels, texts)
    compared = found.choosing.texts.to_pylist() + found.held_back.texts.to_pylist()
    assert sorted(compared) == texts[:8]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "c", "d"], "has 0 of 4 different labels"),
        (["a", "a", "a", "a"], "has 1 of 1 different labels"),
        (["a", "a", "b", "b", "c", "c"], "at least 4 groups"),
        ([None, None], "has 0 of 0 different labels"),
    ],
)
def test_labels_that_cannot_be_split_are_refused(labels, message):
    with pytest.raises(CorpusError, match=message):
        halves_of(labels)


def test_a_column_that_is_not_there_is_refused_before_reading():
    with pytest.raises(CorpusError, match=r"no column 'grop'.*did you mean 'group'"):
        split_groups(read_corpus(grouped()), "grop", 100, 0)


def test_no_document_of_a_pair_is_on_both_sides():
    pairs = labeled_pairs(grouped())
    found = cut(pairs)
    one, other = (set(half.texts.to_pylist()) for half in (found.choosing, found.held_back))
    assert not one & other
    assert named_pairs(found.choosing) | named_pairs(found.held_back) == {
        (*sorted(pair[:2]), bool(pair[2])) for pair in pairs
    }
    assert found.unit == "connected set"
    assert [int(half.pairs.positive.sum()) for half in found[:2]] == [10, 10]


def test_connected_documents_stay_together():
    chain = [(f"c{place}", f"c{place + 1}", place % 2) for place in range(6)]
    found = cut([*chain, *labeled_pairs(grouped())])
    sides = [
        {text for text in half.texts.to_pylist() if text.startswith("c")} for half in found[:2]
    ]
    assert sorted(map(len, sides)) == [0, 7]


def test_where_most_documents_are_connected_pairs_between_halves_are_left_out():
    positives = [(f"a{place}", f"b{place}", 1) for place in range(20)]
    negatives = [(f"a{place}", f"b{(place + 1) % 20}", 0) for place in range(20)]
    found = cut(positives + negatives)
    one, other = (set(half.texts.to_pylist()) for half in (found.choosing, found.held_back))
    assert not one & other
    assert found.unit == "cluster"
    kept = named_pairs(found.choosing) | named_pairs(found.held_back)
    assert sum(label for *_, label in kept) == 20
    lost = 40 - len(kept)
    assert lost > 0
    assert found.notes[0].startswith(f"{lost} of 40 pairs would join the parts")


def test_pairs_that_cannot_be_cut_are_refused():
    star = [("hub", f"d{place}", place % 2) for place in range(10)]
    with pytest.raises(CorpusError, match=r"10 pairs \(5 that belong together\) cannot be cut"):
        cut(star)


def test_repeats_and_pairs_of_a_document_with_itself_are_left_out():
    listed = listed_of([("a", "b", 1), ("b", "a", 1), ("a", "a", 0), ("a", "c", 0)])
    assert listed.names == ("a", "b", "c")
    assert listed.pairs.tolist() == [[0, 1], [0, 2]]
    assert listed.positive.tolist() == [True, False]
    assert listed.notes == (
        "pairs of a document with itself, left out: 1",
        "pairs listed before, left out: 1",
    )


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([("a", "b", 1), ("b", "a", 0)], "row 2: 'b' and 'a' have another label"),
        ([("a", "b", 1), ("c", "d", 1)], "expected pairs that belong together and .* got 2 and 0"),
        ([("a", "b", 2)], "row 1: expected the label 1"),
        ([("a", "", 1)], "row 1: a document is missing"),
    ],
)
def test_odd_pairs_are_refused(triples, message):
    with pytest.raises(CorpusError, match=message):
        listed_of(triples)


@pytest.mark.parametrize("pairs", [[], 7, [("a", "b")], ["ab"]])
def test_what_is_no_list_of_pairs_is_refused(pairs):
    with pytest.raises(InputError, match="list of"):
        listed_of(pairs)


def test_more_pairs_than_there_is_time_for_are_drawn(monkeypatch):
    monkeypatch.setattr(pairs_module, "MOST_PAIRS", 10)
    triples = [(f"a{place}", f"b{place}", int(place < 3)) for place in range(50)]
    listed = listed_of(triples)
    assert listed.positive.sum() == 3
    assert len(listed.pairs) == 10
    assert len(listed.names) == 20
    assert listed.notes == ("10 of 50 pairs are compared, drawn at random",)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_pairs_come_from_files(tmp_path, suffix):
    path = tmp_path / f"pairs.{suffix}"
    if suffix == "csv":
        path.write_text("label,id_a,id_b\n1,3,4\n0,4,5\n")
    elif suffix == "jsonl":
        path.write_text(
            '{"id_a": "3", "id_b": "4", "label": "1"}\n{"id_a": "4", "id_b": "5", "label": "0"}\n'
        )
    else:
        from pyarrow import parquet

        parquet.write_table(pa.table({"id_a": [3, 4], "id_b": [4, 5], "label": [1, 0]}), path)
    listed = listed_of(path)
    assert listed.names == ("3", "4", "5")
    assert not listed.are_texts
    assert listed.positive.tolist() == [True, False]


def test_texts_of_pairs_need_no_ids():
    frame = pa.table({"text_a": ["x", "y"], "text_b": ["y", "z"], "label": [True, False]})
    listed = listed_of(frame)
    assert listed.are_texts
    assert document_texts(listed, read_corpus(["else"]), None).to_pylist() == ["x", "y", "z"]


def test_columns_that_name_no_documents_are_refused():
    with pytest.raises(CorpusError, match=r"expected the columns label, id_a and id_b.*'left'"):
        listed_of(pa.table({"left": ["a"], "right": ["b"], "label": [1]}))


def test_ids_are_those_of_a_column_or_rows_from_0_on():
    table = pa.table({"id": ["x", "y", "z"], "text": ["one", None, "three"]})
    listed = listed_of([("z", "y", 1), ("x", "y", 0)])
    assert document_texts(listed, read_corpus(table), "id").to_pylist() == ["", "three", "one"]
    rows = listed_of([(0, 2, 1), (1, 2, 0)])
    assert document_texts(rows, read_corpus(table), None).to_pylist() == ["one", "three", ""]


def test_pairs_that_name_unknown_documents_are_refused():
    table = pa.table({"id": ["x", "y"], "text": ["one", "two"]})
    listed = listed_of([("x", "gone", 1), ("x", "y", 0)])
    with pytest.raises(CorpusError, match=r"\(1\): 'gone'; ids are those in .* 'id'"):
        document_texts(listed, read_corpus(table), "id")
    with pytest.raises(CorpusError, match="ids are rows from 0 to 1"):
        document_texts(listed, read_corpus(table), None)


def test_several_documents_of_one_id_are_refused():
    table = pa.table({"id": ["x", "x", "y"], "text": ["one", "two", "three"]})
    listed = ListedPairs(("x", "y"), False, np.array([[0, 1]]), np.array([True]), ())
    with pytest.raises(CorpusError, match="one document of each id, got several with 'x'"):
        document_texts(listed, read_corpus(table), "id")
