"""The documents of a collection in one file, after many changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deltavec.collection.changes.rewriting import merge_segments, sources_of
from deltavec.collection.folder import changing, write_description
from deltavec.core.model import EmbeddingModel


def compact(folder: Path, model: EmbeddingModel) -> None:
    """Join the files of documents; see `Collection.compact`."""
    with changing(folder, model.fingerprint) as before:
        joined = merge_segments(folder, list(sources_of(before.segments, None)), before.columns)
        if (joined,) != before.segments:
            write_description(folder, replace(before, segments=(joined,)))
