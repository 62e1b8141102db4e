"""Programs for Spark: the example for spark-submit, what the guide tells, compiled code on disk."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from support.spark_cluster import require_java, settings, spark_program, surroundings
from support.typed import reviews

ROOT = Path(__file__).parents[2]
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMPILES = """
from deltavec import WordVectors
from deltavec.core.jit import BUDGET
BUDGET.load_compiler()
print('sea' in WordVectors(['sea'], [[1.0]]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews.parquet and reviews.vec."""
    folder = tmp_path_factory.mktemp("programs")
    table = pa.table({"id": range(72), "text": reviews(), "stars": [5] * 72})
    pq.write_table(table, folder / "reviews.parquet")
    dv.save_vectors(dv.train_vectors(reviews(), dimensions=8), folder / "reviews.vec")
    return folder


def submitted(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What comes of the example when it is typed after spark-submit."""
    require_java()
    options = [word for pair in settings(folder).items() for word in ("--conf", "=".join(pair))]
    job = str(ROOT / "examples" / "spark_job.py")
    return subprocess.run(
        [
            spark_program("spark-submit"),
            "--master",
            "local[2]",
            *options,
            job,
            *map(str, arguments),
        ],
        cwd=folder,
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_job_fits_a_model_and_embeds_with_it(folder: Path) -> None:
    address = (folder / "reviews.dv").as_uri()
    with_vectors = ("--vectors", folder / "reviews.vec", "--recipe", "idf-delta-pca")
    fitted = submitted(folder, "fit", folder / "reviews.parquet", address, *with_vectors)
    assert fitted.returncode == 0, fitted.stdout
    embedded = submitted(
        folder, "embed", folder / "reviews.parquet", "reviews.dv", "vectors", "--keep", "id"
    )
    assert embedded.returncode == 0, embedded.stdout
    rows = pq.read_table(folder / "vectors").sort_by("id")
    assert rows.column_names == ["id", "embedding"]
    found = np.array(rows["embedding"].to_pylist(), np.float32)
    np.testing.assert_array_equal(found, dv.load(folder / "reviews.dv").embed(reviews()))


def test_a_wrong_column_is_one_line_of_the_job(folder: Path) -> None:
    done = submitted(folder, "fit", folder / "reviews.parquet", "other.dv", "--column", "body")
    assert done.returncode == 1
    # spark-submit passes on what Python says of errors with what it prints.
    assert done.stdout == "spark_job.py: expected a column 'body', found id, text, stars\n"
    assert "at org.apache" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keep", "ID"], "--keep: expected columns, got 'ID'; there are id, text, stars"),
        ([], "[PATH_ALREADY_EXISTS]"),
    ],
)
def test_what_is_wrong_with_the_job_is_one_line(
    folder: Path, arguments: list[str], message: str
) -> None:
    dv.fit(reviews()).save(folder / "small.dv")
    (folder / "taken").mkdir(exist_ok=True)
    (folder / "taken" / "file").touch()
    done = submitted(folder, "embed", folder / "reviews.parquet", "small.dv", "taken", *arguments)
    assert done.returncode == 1
    assert done.stdout.startswith(f"spark_job.py: {message}")
    assert done.stdout.count("\n") == 1
    assert "at org.apache" not in done.stderr


def test_what_the_guide_tells_works(folder: Path, tmp_path: Path) -> None:
    require_java()
    shutil.copy(folder / "reviews.parquet", tmp_path)
    blocks = PYTHON_BLOCK.findall((ROOT / "docs" / "guides" / "spark.md").read_text("utf-8"))
    assert blocks
    options = [word for pair in settings(tmp_path).items() for word in ("--conf", "=".join(pair))]
    environment = {**surroundings(), "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"])}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a deltavec beside whose kernels nothing can be written, by whomever."""
    folder = tmp_path_factory.mktemp("installed")
    source = Path(dv.__file__).parent
    shutil.copytree(source, folder / "deltavec", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "deltavec" / "__pycache__").touch()
    return folder


def compiling(read_only: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that needs compiled code, its home and settings as given."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-c", COMPILES],
        env={**kept, "PYTHONPATH": str(read_only), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_compile_at_once_share_the_folder_they_are_told(
    read_only: Path, tmp_path: Path
) -> None:
    told = {"HOME": "/dev/null", "NUMBA_CACHE_DIR": str(tmp_path)}
    processes = [compiling(read_only, **told) for _ in range(2)]
    answers = [process.communicate() for process in processes]
    assert [answer for answer, _ in answers] == ["True\n"] * 2, answers
    assert list(tmp_path.rglob("*.nbi"))
    assert compiling(read_only, **told).communicate()[0] == "True\n"


def test_beside_a_read_only_install_compiled_code_goes_to_the_user_s_own_folder(
    read_only: Path, tmp_path: Path
) -> None:
    answer, complaint = compiling(read_only, HOME=str(tmp_path)).communicate()
    assert answer == "True\n", complaint
    assert list(tmp_path.rglob("*.nbi"))


def test_without_a_home_compiled_code_goes_to_a_private_temporary_folder(
    read_only: Path, tmp_path: Path
) -> None:
    told = {"HOME": "/dev/null", "TMPDIR": str(tmp_path)}
    answer, complaint = compiling(read_only, **told).communicate()
    assert answer == "True\n", complaint
    assert list(tmp_path.glob("deltavec-kernels-*/*/*/*.nbi"))
