import pyarrow as pa
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import text_sizes
from deltavec.io.corpus.corpus import read_corpus


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_sizes_are_bytes_and_none_of_what_is_not_there(kind: pa.DataType) -> None:
    column = pa.array(["left out", "sea", None, "", "caf\u00e9"]).cast(kind)
    assert text_sizes(column.slice(1)).tolist() == [3, 0, 0, 5]
    assert text_sizes(column.slice(3)).tolist() == [0, 5]
    assert text_sizes(column.slice(5)).tolist() == []


def test_dictionary_indices_that_point_outside_are_an_error_of_ours():
    codes = pa.array([0, 1, 5], pa.int32())
    bad = pa.DictionaryArray.from_arrays(codes, pa.array(["sea", "room"]), safe=False)
    with pytest.raises(CorpusError, match="'text' is damaged: a dictionary index points outside"):
        list(read_corpus(pa.table({"text": bad})))
