"""What a collection is, in a few figures."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from deltavec.collection.coverage import TextCounts, refit_reason
from deltavec.collection.description import Description
from deltavec.core.model import EmbeddingModel


def facts(stated: Description, model: EmbeddingModel, schema: pa.Schema) -> dict[str, Any]:
    """Sizes, columns, model, coverage, and whether a refit is due.

    Parameters
    ----------
    stated
        What the collection says it is.
    model
        Its model.
    schema
        The columns of its documents.
    """
    fitted = TextCounts.of(model.statistics)
    reason = refit_reason(fitted, stated.built, stated.added)
    return {
        "documents": stated.documents,
        "documents_without_vector": stated.zero_rows,
        "dimensions": stated.dimensions,
        "ids": stated.id_column or "row numbers",
        "columns": {name: str(schema.field(name).type) for name in stated.columns},
        "vector_bytes": stated.vectors.bytes,
        "document_bytes": sum(segment.bytes for segment in stated.segments),
        "recipe": model.recipe.name,
        "model_adapted": stated.own_model,
        "fingerprint": stated.model,
        "documents_built": stated.built.documents,
        "documents_added": stated.added.documents,
        "additions": stated.additions,
        "coverage_at_fit": fitted.coverage,
        "coverage_built": stated.built.coverage,
        "coverage_added": stated.added.coverage,
        "refit_due": reason is not None,
        "refit_reason": reason,
    }
