"""Fit, embed and compare columns of Spark DataFrames: the same results as on one machine.

``fit``, ``train_vectors``, ``for_collection`` and ``duplicates`` give what the functions of the
same names give on one machine; ``embed``, ``similarity`` and ``assign`` give the frame with one
more column; ``neighbors`` gives the nearest documents of queries. ``register`` makes a model a
function of SQL; ``Embedder`` is a stage of ``pyspark.ml``. Spark reads, schedules, retries and adds
up; what is done to text is done by the kernels of `deltavec.core`, on Arrow batches. Sessions may
be classic or of Spark Connect.

Counts are added up in Spark and reach the driver as one table. Only what tasks return is used,
never a side effect, so a task that is run twice changes nothing.

>>> import deltavec as dv
>>> model = dv.spark.fit(frame, "text")  # doctest: +SKIP
>>> dv.spark.embed(frame, "text", model).write.parquet("vectors")  # doctest: +SKIP
"""

from typing import Any

from deltavec.spark.duplicates import duplicates
from deltavec.spark.embed import assign, embed, neighbors, register, similarity
from deltavec.spark.fit import fit, train_vectors
from deltavec.spark.reduce import coverage, for_collection

__all__ = [
    "Embedder",
    "EmbedderModel",
    "assign",
    "coverage",
    "duplicates",
    "embed",
    "fit",
    "for_collection",
    "neighbors",
    "register",
    "similarity",
    "train_vectors",
]


def __getattr__(name: str) -> Any:
    if name not in ("Embedder", "EmbedderModel"):
        raise AttributeError(f"module 'deltavec.spark' has no attribute {name!r}")
    from deltavec.spark.ship import require_pyspark

    require_pyspark()  # their base classes are Spark's
    from deltavec.spark import ml

    return getattr(ml, name)
