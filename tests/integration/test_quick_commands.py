"""Commands that ask a little load a little: neither compiler nor pandas nor scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltavec as dv
from support.typed import reviews

SLOW = "numba llvmlite pandas sklearn scipy gensim matplotlib pyarrow.compute pyarrow.parquet"
COMMAND = """
import atexit, sys
slow = sys.argv.pop(1).split()
atexit.register(lambda: print("loaded:", *sorted({*slow} & {*sys.modules}), file=sys.stderr))
from deltavec.cli import main
main()
"""
EMBEDDED = """
import sys
import deltavec as dv
vectors = dv.load(sys.argv[2]).embed(["a quiet room", "the sea"])
print(vectors.tobytes().hex())
print("loaded:", *sorted({*sys.argv[1].split()} & {*sys.modules}), file=sys.stderr)
"""
FOUND = """
import sys
import deltavec as dv
for one in dv.open_collection(sys.argv[2]).search("a quiet room", 5):
    print(one.id, one.score.hex())
print("loaded:", *sorted({*sys.argv[1].split()} & {*sys.modules}), file=sys.stderr)
"""
DEMO = """
import sys
import deltavec.cli.application, deltavec.cli.commands.demo
import deltavec.core.fitting, deltavec.lab.stories, deltavec.training
print("loaded:", *sorted({*sys.argv[1].split()} & {*sys.modules}), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a collection."""
    folder = tmp_path_factory.mktemp("quick")
    model = dv.fit(reviews(), recipe="spectral")
    model.save(folder / "reviews.dv")
    dv.build_collection(model, reviews(), folder / "reviews.idx")
    return folder


def printed(program: str, *arguments: str, folder: Path) -> str:
    """What a program prints that loads nothing that is slow."""
    done = subprocess.run(
        [sys.executable, "-c", program, SLOW, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "loaded:"
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "reviews.idx", "a quiet room by the sea"),
        ("search", "reviews.idx", "room", "--by", "semantic", "--explain", "--json"),
        ("similar", "reviews.idx", "3", "--explain"),
        ("info", "reviews.idx"),
        ("info", "reviews.dv"),
        ("explain", "reviews.dv", "a quiet room", "calm, with a view of the sea"),
        ("keywords", "reviews.idx", "3"),
    ],
    ids=" ".join,
)
def test_a_question_loads_nothing_that_is_slow(made: Path, arguments: tuple[str, ...]) -> None:
    assert printed(COMMAND, *arguments, folder=made)


def test_a_few_documents_are_embedded_without_the_compiler(made: Path) -> None:
    here = dv.load(made / "reviews.dv").embed(["a quiet room", "the sea"])
    assert printed(EMBEDDED, "reviews.dv", folder=made).strip() == here.tobytes().hex()


def test_answers_without_the_compiler_are_those_with_it(made: Path) -> None:
    found = dv.open_collection(made / "reviews.idx").search("a quiet room", 5)
    expected = "".join(f"{one.id} {one.score.hex()}\n" for one in found)
    assert printed(FOUND, "reviews.idx", folder=made) == expected


def test_a_collection_is_built_without_pandas(made: Path) -> None:
    pq.write_table(pa.table({"text": reviews()}), made / "reviews.parquet")
    build = ("index", "build", "reviews.dv", "reviews.parquet", "--output", "again.idx")
    program = [sys.executable, "-c", COMMAND, "pandas", *build]
    done = subprocess.run(program, cwd=made, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1].strip() == "loaded:"


def test_the_demo_and_a_fit_begin_before_anything_slow_is_loaded(tmp_path: Path) -> None:
    assert printed(DEMO, folder=tmp_path) == ""
