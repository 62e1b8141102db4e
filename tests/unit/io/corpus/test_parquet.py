import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus import columns, parquet
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.parquet import dictionary_of, row_groups


def folded(path, text, rows, **options):
    """A file of a few kB in which all rows name one long text."""
    codes = pa.array([0] * rows, pa.int32())
    texts = pa.DictionaryArray.from_arrays(codes, pa.array([text]))
    options = {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30, **options}
    pq.write_table(pa.table({"text": texts}), path, write_statistics=False, **options)
    return path


@pytest.mark.parametrize("store_schema", [True, False])
def test_rows_that_unfold_to_far_more_than_their_file_are_decoded_a_few_at_once(
    tmp_path, store_schema
):
    text = "word " * 800_000  # 4 MB, 100,000 times: 400 GB
    path = folded(tmp_path / "a.parquet", text, 100_000, store_schema=store_schema)
    assert path.stat().st_size < 20_000
    before = pa.total_allocated_bytes()
    chunks = iter(read_corpus(path))
    for _ in range(3):
        assert set(next(chunks).to_pylist()) == {text}
    assert pa.total_allocated_bytes() - before < 2 * parquet.DECODED_BYTES


def test_a_dictionary_as_long_as_no_document_may_be_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "LARGEST_RECORD", 1000)
    path = folded(tmp_path / "a.parquet", "word " * 1000, 10)
    with pytest.raises(CorpusError, match=r"a\.parquet: a value may decode to 5,0\d\d bytes"):
        list(read_corpus(path))
    plain = folded(tmp_path / "b.parquet", "word " * 1000, 1, use_dictionary=False)
    with pytest.raises(CorpusError, match=r"b\.parquet: a value may decode"):
        list(read_corpus(plain))


def test_a_document_as_long_as_none_may_be_is_an_error(monkeypatch):
    monkeypatch.setattr(columns, "LARGEST_RECORD", 10)
    with pytest.raises(CorpusError, match="a document has 11 bytes, more than the 10"):
        list(read_corpus(pa.table({"text": ["a", "eleven byte"]})))


def first_chunk(path):
    ((chunk,),) = row_groups(path)
    return chunk


def test_a_column_without_a_dictionary_has_none(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a" * 300] * 9}), path, use_dictionary=False)
    with path.open("rb") as file:
        assert dictionary_of(file, first_chunk(path)).size == 0


def test_where_a_dictionary_cannot_be_read_the_whole_chunk_counts_as_one_value(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a" * 300, "b" * 500] * 9}), path, compression="none")
    chunk = first_chunk(path)
    with path.open("rb") as file:
        assert dictionary_of(file, chunk) == (808, 2)  # four bytes before each for its length
        file.seek(0, 2)
        assert dictionary_of(file, chunk._replace(begin=file.tell())) == (chunk.size, 1)


def test_a_dictionary_of_many_short_texts_is_read_in_large_batches(tmp_path):
    path = tmp_path / "a.parquet"
    texts = [f"{number:0100d}" for number in range(9000)]  # 0.9 MB that rows name
    pq.write_table(pa.table({"text": texts * 3}), path, row_group_size=10_000)
    assert [len(chunk) for chunk in read_corpus(path)] == [27_000]


def test_each_group_is_read_as_carefully_as_its_own_dictionary_asks(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    texts = ["a" * 1000, "b", "c", "d"] * 250 + ["b", "c", "d", "e"] * 250
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    monkeypatch.setattr(parquet, "DECODED_BYTES", 100_000)
    with path.open("rb") as file:
        at_once = [parquet.rows_at_once(path, file, group) for group in row_groups(path)]
    assert at_once[0] == 98 < at_once[1]  # the dictionary of the first has 1,015 bytes
    assert [text for chunk in read_corpus(path) for text in chunk.to_pylist()] == texts


@pytest.mark.parametrize("value", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_a_dictionary_of_any_kind_of_text_is_decoded_where_it_is_needed(value):
    texts = pa.array(["long " * 1000, "b", None]).cast(value)
    codes = pa.array([0, 1, None, 2] * 1000, pa.int16())
    column = pa.DictionaryArray.from_arrays(codes, texts)
    found = [
        text for chunk in read_corpus(pa.table({"text": column})) for text in chunk.to_pylist()
    ]
    assert found == ["long " * 1000, "b", "", ""] * 1000


def test_a_huge_dictionary_column_in_memory_is_not_unfolded_at_once():
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 50_000), pa.array(["word " * 200_000]))
    before = pa.total_allocated_bytes()
    chunks = iter(read_corpus(pa.table({"text": column})))
    assert len(next(chunks)) == columns.CHUNK_BYTES // 1_000_000
    assert pa.total_allocated_bytes() - before < 20 * columns.CHUNK_BYTES
