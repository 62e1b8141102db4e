"""Fit and embed a column of a Spark DataFrame: the same results as on one machine.

``fit`` and ``train_vectors`` give what `deltavec.fit` and `deltavec.train_vectors` give; ``embed``
and ``similarity`` give the frame with one more column; ``duplicates`` gives what
`deltavec.duplicates` gives. Spark reads, schedules, retries and adds up;
what is done to text is done by the kernels of `deltavec.core`, on Arrow batches.

Counts are added up in Spark and reach the driver as one table. Only what tasks return is used,
never a side effect, so a task that is run twice changes nothing.

>>> import deltavec as dv
>>> model = dv.spark.fit(frame, "text")  # doctest: +SKIP
>>> dv.spark.embed(frame, "text", model).write.parquet("vectors")  # doctest: +SKIP
"""

from deltavec.spark.duplicates import duplicates
from deltavec.spark.embed import embed, similarity
from deltavec.spark.fit import fit, train_vectors

__all__ = ["duplicates", "embed", "fit", "similarity", "train_vectors"]
