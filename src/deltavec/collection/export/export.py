"""`Collection.export`: documents in another store, and the encoder of queries for them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltavec.collection.export import stores
from deltavec.collection.export.documents import exported_batches
from deltavec.collection.export.encoder import (
    ENCODER_FOLDER,
    QueryEncoder,
    encoder_of,
    load_query_encoder,
)
from deltavec.core.arguments import require_one_of
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import Artifact

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

ENCODER = "encoder"
FILES = ("parquet", "opensearch")
EXPORTED_FOLDER = Artifact(
    "export", 1, "export.json", re.compile(r"export\.json|documents\.(parquet|ndjson)|index\.json"),
    folders={ENCODER: ENCODER_FOLDER},
)  # fmt: skip


def export(
    collection: Collection,
    target: Any,
    format: str,
    name: str,
    dtype: str,
    encoder: str | os.PathLike[str] | None,
) -> QueryEncoder:
    """Write the documents of a collection to a store: see `Collection.export`."""
    require_one_of("format", format, stores.WRITERS)
    kinds = ("float32", "float16", "int8") if format == "parquet" else ("float32", "float16")
    require_one_of("dtype", dtype, kinds)
    in_files = format in FILES
    folder = Path(target) / ENCODER if in_files else encoder
    before = load_query_encoder(folder) if folder and Path(folder).exists() else None
    made, terms = encoder_of(collection, format, name, before)
    batches = exported_batches(collection, terms)
    if not in_files:
        with stores.opened(format, target) as store:
            stores.WRITERS[format](made, batches, store, dtype)
        if encoder is not None:
            made.save(encoder)
        return made
    if encoder is not None:
        raise InputError(f"the encoder of {format} files is in their folder: leave encoder= out")
    with EXPORTED_FOLDER.replacing(Path(target)) as fresh:
        stores.WRITERS[format](made, batches, fresh, dtype)
        made.save(fresh / ENCODER)
        about = {"documents": made.documents, "model": made.model.fingerprint, "dtype": dtype}
        EXPORTED_FOLDER.write_manifest(fresh, about)
    return made
