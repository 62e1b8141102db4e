"""Pages that are unpacked by whoever wants them, and those that turn out to be odd."""

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba  # noqa: F401, where it is loaded pages are unpacked by ourselves
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from deltavec.errors import CorpusError
from deltavec.io.corpus import parquet
from deltavec.io.corpus.columns import Piece, bounded
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.formats import Wanted
from deltavec.io.output.embed_to_file import embed_to_file

pytestmark = pytest.mark.compiled

TEXTS = [f"number {number} by the sea, the quiet sea" for number in range(4000)]


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    monkeypatch.setattr(parquet, "LEAST_UNPACKED", 0)
    monkeypatch.setattr(parquet, "CHUNK_BYTES", 20_000)


def written(path, texts, **options):
    options = {"use_dictionary": False, "data_page_size": 5000, "write_batch_size": 50, **options}
    pq.write_table(pa.table({"text": texts}), path, **options)
    return path


def texts_in(pieces):
    return [text for piece in pieces for text in piece.batch[0].to_pylist()]


def test_pieces_stay_packed_until_they_are_looked_at_in_any_thread(tmp_path):
    pieces = list(read_corpus(written(tmp_path / "a.parquet", TEXTS)).pieces())
    assert len(pieces) > 5
    assert all(0 < piece.packed <= 20_000 for piece in pieces)
    assert all("batch" not in piece.__dict__ for piece in pieces)
    assert sum(piece.documents for piece in pieces) == len(TEXTS)
    assert pieces[-1].consumed == 1
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda piece: piece.batch, reversed(pieces)))
    assert texts_in(pieces) == TEXTS


@pytest.mark.parametrize("gap", [0, 1500, 3999])
@pytest.mark.parametrize("rows", [700, 4000])
def test_pages_that_turn_out_to_be_odd_are_read_all_the_same(tmp_path, gap, rows):
    texts = [None if number == gap else text for number, text in enumerate(TEXTS)]
    path = written(tmp_path / "a.parquet", texts, row_group_size=rows)
    assert texts_in(read_corpus(path).pieces()) == texts
    in_many_hands = list(read_corpus(path).pieces())
    assert texts_in(reversed(in_many_hands)) != texts
    assert texts_in(in_many_hands) == texts


def test_behind_an_odd_page_nothing_is_packed_any_more(tmp_path):
    path = written(tmp_path / "a.parquet", [None, *TEXTS], row_group_size=700)
    packed = [bool(piece.packed and piece.batch) for piece in read_corpus(path).pieces()]
    assert packed[0]
    assert not any(packed[1:])


def test_rows_that_pyarrow_leaves_out_are_missed():
    few = SimpleNamespace(iter_batches=lambda *given: iter([pa.record_batch({"text": TEXTS[:9]})]))
    pieces = parquet._rows(few, 5, 0, Wanted("a", "text"), 3, 9)
    assert [text for batch in pieces for text in batch[0].to_pylist()] == TEXTS[3:9]
    with pytest.raises(pa.ArrowInvalid, match="a group of 10 rows or more holds 9"):
        list(parquet._rows(few, 5, 0, Wanted("a", "text"), 3, 10))


def test_text_that_is_not_utf8_is_repaired_when_it_is_unpacked(tmp_path):
    broken = pa.array([b"sea \xff"] * 4000, pa.binary()).cast(pa.string(), safe=False)
    path = written(tmp_path / "a.parquet", broken)
    pieces = list(read_corpus(path).pieces())
    assert pieces[0].packed
    assert set(texts_in(pieces)) == {"sea \ufffd"}


@pytest.mark.parametrize("how", ["written anew", "another in its place", "cut short"])
def test_a_file_that_changes_while_it_is_read_is_told(tmp_path, how):
    path = written(tmp_path / "a.parquet", TEXTS)
    pieces = list(read_corpus(path).pieces())
    if how == "written anew":
        later = path.stat().st_mtime_ns + 1_000_000_000
        written(path, TEXTS)
        os.utime(path, ns=(later, later))
    elif how == "another in its place":
        written(tmp_path / "b.parquet", TEXTS).replace(path)
    else:
        os.truncate(path, 100)
    with pytest.raises(CorpusError, match=r"a\.parquet: changed while it was read; read it again"):
        _ = pieces[1].batch


def test_a_file_that_is_gone_is_told(tmp_path):
    path = written(tmp_path / "a.parquet", TEXTS)
    pieces = list(read_corpus(path).pieces())
    path.unlink()
    with pytest.raises(CorpusError, match=r"a\.parquet: damaged after row \d+ \(.*No such file"):
        _ = pieces[1].batch


def test_packed_pieces_beyond_the_bounds_are_cut():
    batch = pa.record_batch({"text": TEXTS})
    size = sum(map(len, TEXTS))
    piece = Piece(len(batch), 1.0, lambda: batch, size)
    assert [one is piece for one in bounded([piece], size, len(TEXTS))] == [True]
    for most_bytes, most_documents in ((size - 1, len(TEXTS)), (size, len(TEXTS) - 1)):
        cut = list(bounded([piece], most_bytes, most_documents))
        assert len(cut) == 2
        assert texts_in(cut) == TEXTS
        assert 0 < cut[0].consumed < cut[1].consumed == 1


def test_what_comes_before_a_packed_piece_stays_before_it():
    small = [Piece.of(pa.record_batch({"text": [text]}), None) for text in TEXTS[:3]]
    packed = Piece(1, None, lambda: pa.record_batch({"text": TEXTS[3:4]}), 10)
    found = list(bounded([*small[:2], packed, small[2]], 10_000))
    assert [one.documents for one in found] == [2, 1, 1]
    assert texts_in(found) == [*TEXTS[:2], TEXTS[3], TEXTS[2]]


class StopError(Exception):
    """Ends a run."""


def test_an_embedding_goes_on_within_a_packed_piece(tmp_path):
    path = written(tmp_path / "a.parquet", TEXTS)
    words = ["sea", "quiet", *map(str, range(4000))]
    drawn = np.random.default_rng(0).standard_normal((len(words), 8), np.float32)
    model = dv.fit(TEXTS[:10], dv.WordVectors(words, drawn), "idf-sum")

    def stop(progress):
        if progress.documents > 2000:
            raise StopError

    output = tmp_path / "vectors.npy"
    with pytest.raises(StopError):
        embed_to_file(model, path, output, shard_documents=77, on_progress=stop)
    done = embed_to_file(model, path, output, shard_documents=77)
    assert 0 < done.resumed_documents < 2500
    assert done.resumed_documents % 77 == 0
    assert np.array_equal(np.load(output), model.embed(TEXTS))
