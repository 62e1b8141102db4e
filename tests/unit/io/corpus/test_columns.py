import pyarrow as pa
import pytest

from deltavec.io.corpus.columns import text_sizes


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_sizes_are_bytes_and_none_of_what_is_not_there(kind: pa.DataType) -> None:
    column = pa.array(["left out", "sea", None, "", "caf\u00e9"]).cast(kind)
    assert text_sizes(column.slice(1)).tolist() == [3, 0, 0, 5]
    assert text_sizes(column.slice(3)).tolist() == [0, 5]
    assert text_sizes(column.slice(5)).tolist() == []
