"""Files at addresses such as ``s3://bucket/reviews.parquet``, by the file systems of pyarrow.

Credentials, regions and endpoints are pyarrow's: from the environment, or in the address. Parquet
is read where it is, batch by batch; other files and models are copied to a temporary folder first.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError, InputError, needing

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.+)")  # pathlib makes one slash of two
KEPT: list[tempfile.TemporaryDirectory[str]] = []  # copies, until the process ends


class Scan(NamedTuple):
    """What gives batches of a table again and again, as a dataset of pyarrow does."""

    schema: pa.Schema
    table: Any

    def to_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of some columns."""
        return iter(self.table.scan(selected_fields=tuple(columns)).to_arrow_batch_reader())


def address_of(path: object) -> str | None:
    """The address that a string or a path is, if it is one."""
    found = ADDRESS.fullmatch(str(path)) if isinstance(path, str | os.PathLike) else None
    if found is None:
        return None
    scheme = found[1].lower()
    return f"{scheme}://{'/' if scheme == 'file' else ''}{found[2]}"


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    from pyarrow import fs  # here: most programs read files of this machine

    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{address}: pyarrow cannot open it ({error})") from None
    return found


def fetch(address: str) -> Path:
    """A copy of a file or a folder on this machine, or where it is if it is there already."""
    from pyarrow import fs

    system, path = file_system(address)
    if isinstance(system, fs.LocalFileSystem):
        return Path(path)
    folder = tempfile.TemporaryDirectory(prefix="deltavec-")
    target = Path(folder.name, path.rstrip("/").rpartition("/")[2])
    KEPT.append(folder)
    try:
        info = system.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            raise InputError(f"{address}: there is no such file or folder")
        if info.type == fs.FileType.Directory:
            target.mkdir()
        fs.copy_files(path, str(target), source_filesystem=system)
    except OSError as error:
        raise InputError(f"{address}: {error}") from None
    return target


@contextmanager
def uploading(address: str) -> Iterator[Path]:
    """A path on this machine, which is copied to an address at the end of the context."""
    from pyarrow import fs

    system, path = file_system(address)
    with tempfile.TemporaryDirectory(prefix="deltavec-") as folder:
        local = Path(folder, path.rstrip("/").rpartition("/")[2])
        if address.endswith("/"):
            local.mkdir()
        yield local
        try:
            if local.is_dir():
                system.create_dir(path)
            fs.copy_files(str(local), path, destination_filesystem=system)
        except OSError as error:
            raise InputError(f"{address}: cannot be written ({error})") from None


def open_dataset(source: Any) -> Any:
    """A dataset, for what is one or has one: Parquet at an address, Delta and Iceberg tables."""
    if type(source).__module__ == "pyarrow._dataset":
        return source
    if hasattr(source, "to_pyarrow_dataset"):  # deltalake
        return source.to_pyarrow_dataset()
    if hasattr(source, "scan") and hasattr(source, "metadata_location"):  # pyiceberg
        return Scan(source.schema().as_arrow(), source)
    if not isinstance(source, str | os.PathLike):
        return None
    address = address_of(source)
    if address is None:
        return open_table(Path(source), str(source))
    from pyarrow import dataset, fs

    system, path = file_system(address)
    if isinstance(system, fs.LocalFileSystem):
        return open_table(Path(path), path)
    names = []
    if system.get_file_info(path).type == fs.FileType.Directory:
        names = [one.path for one in system.get_file_info(fs.FileSelector(path, recursive=True))]
    if any("/_delta_log/" in name for name in names):
        return delta_dataset(address)
    if path.endswith(".parquet") or any(name.endswith(".parquet") for name in names):
        return dataset.dataset(path, filesystem=system, format="parquet", partitioning="hive")
    return None


def open_table(path: Path, name: str) -> Any:
    """The Delta or Iceberg table in a folder; None if there is none."""
    if os.path.isdir(path / "_delta_log"):  # noqa: PTH112, False for what is no path
        return delta_dataset(name)
    if not os.path.isdir(path / "metadata"):  # noqa: PTH112
        return None
    versions = sorted(path.glob("metadata/*.metadata.json"))
    if not versions:
        return None
    with needing("iceberg", f"{name} is an Iceberg table"), refusing(name, "an Iceberg"):
        from pyiceberg.table import StaticTable

        table = StaticTable.from_metadata(str(versions[-1]))
        return Scan(table.schema().as_arrow(), table)


def delta_dataset(name: str) -> Any:
    """The rows that a Delta table has now."""
    with needing("delta", f"{name} is a Delta table"), refusing(name, "a Delta"):
        from deltalake import DeltaTable

        return DeltaTable(name).to_pyarrow_dataset()


@contextmanager
def refusing(name: str, kind: str) -> Iterator[None]:
    """Turn whatever a library says of a table into an error that names it."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        raise CorpusError(f"{name} is {kind} table that cannot be read: {error}") from None
