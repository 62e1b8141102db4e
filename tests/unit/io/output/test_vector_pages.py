"""A parquet file of vectors that we write ourselves is read like one of pyarrow's."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltavec.io.output import shards
from deltavec.io.output.vector_pages import PAGE_BYTES, VectorPages


def schema_of(width):
    return shards.of_run(shards.shard_schema(pa.schema([]), width), {"made": "from this"})


def written(groups, schema):
    file = io.BytesIO()
    pages = VectorPages(file, schema)
    for vectors in groups:
        pages.add(vectors)
    pages.finish()
    return pa.BufferReader(file.getvalue())


def by_pyarrow(vectors, schema):
    sink = pa.BufferOutputStream()
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    pq.write_table(pa.table([column], schema=schema), sink)
    return pa.BufferReader(sink.getvalue())


@given(st.integers(1, 40), st.lists(st.integers(0, 30), max_size=20), st.integers(0, 99))
def test_any_groups_of_vectors_come_back_as_they_were(width, sizes, seed):
    rng = np.random.default_rng(seed)
    groups = [rng.standard_normal((size, width), np.float32) for size in sizes]
    schema = schema_of(width)
    table = pq.read_table(written(groups, schema))
    table.validate(full=True)
    assert table.schema.equals(schema)
    assert shards.run_of(table.schema) == shards.run_of(schema)
    whole = np.concatenate([np.empty((0, width), np.float32), *groups])
    assert shards.vectors_of(table).tobytes() == whole.tobytes()


@pytest.mark.parametrize("width", [1, 2, 300, PAGE_BYTES // 4 + 1])
def test_it_is_the_same_table_and_the_same_columns_as_pyarrow_writes(width):
    vectors = np.arange(3 * PAGE_BYTES // (4 * width) * width + width, dtype=np.float32)
    vectors = vectors.reshape(-1, width)
    schema = schema_of(width)
    ours = pq.ParquetFile(written([vectors], schema))
    theirs = pq.ParquetFile(by_pyarrow(vectors, schema))
    assert ours.schema.equals(theirs.schema)
    assert ours.schema_arrow.equals(theirs.schema_arrow, check_metadata=True)
    assert ours.metadata.num_rows == theirs.metadata.num_rows == len(vectors)
    assert ours.read().equals(theirs.read())


def test_a_group_of_rows_can_be_read_by_itself():
    groups = [np.full((5, 7), value, np.float32) for value in range(20)]
    file = pq.ParquetFile(written(groups, schema_of(7)))
    assert file.num_row_groups == 20
    assert np.array_equal(shards.vectors_of(file.read_row_group(17)), groups[17])


def test_gaps_of_a_view_are_not_written():
    vectors = np.arange(40, dtype=np.float32).reshape(4, 10)[::2, :6]
    table = pq.read_table(written([vectors], schema_of(6)))
    assert np.array_equal(shards.vectors_of(table), vectors)
