"""What went wrong in Spark, said in one line."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PythonException

from deltavec.errors import MissingDependencyError
from deltavec.spark.ship import failing_clearly


def test_a_python_without_our_packages_is_told_of_pyspark_python() -> None:
    wall = "org.apache.spark.SparkException: ...\nModuleNotFoundError: No module named 'pyarrow'\n"
    with (
        pytest.raises(MissingDependencyError, match=r"no module 'pyarrow'.*PYSPARK_PYTHON"),
        failing_clearly(),
    ):
        raise PythonException(wall * 20)


def test_a_module_of_somebody_elses_is_not_ours_to_explain() -> None:
    with pytest.raises(PythonException), failing_clearly():
        raise PythonException("ModuleNotFoundError: No module named 'theirs'")
