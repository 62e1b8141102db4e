"""``deltavec evaluate reviews``: reports, bad input, kills and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deltavec.lab.results import Results
from support.processes import Process
from support.typed import Deltavec, command, wait_for

ASKED = ("--group-column", "location", "--documents-per-location", 5, "--locations", 4)
QUICK = ("--skip", "doc2vec,lsa")

# Waits in the problem that it is told to, until somebody stops the process.
EMBEDDER = """
import os, pathlib, threading, time
import numpy as np

def embed(texts):
    if len(texts) > 2 and str(texts[0].count("\\n") + 1) == os.environ.get("WAIT_AT"):
        pathlib.Path("waiting").touch()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            threading.Event().wait(0.05)
    return np.array([[text.count(" "), len(text)] for text in texts])
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews.csv, reviews of six places, and an embedder."""
    folder = tmp_path_factory.mktemp("places")
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(30)]
    rows = []
    for place in range(6):
        own = [f"place{place}thing{number}" for number in range(4)]
        for _ in range(20):
            text = " ".join([*rng.choice(words, 7), *rng.choice(own, 3)])
            rows.append(f"{'hotel' if place < 3 else 'museum'},L{place},{text}\n")
    rng.shuffle(rows)
    (folder / "reviews.csv").write_text("kind,location,text\n" + "".join(rows), encoding="utf-8")
    (folder / "waiting_embedder.py").write_text(EMBEDDER, encoding="utf-8")
    return folder


def read(report: Path) -> Results:
    return Results.from_json((report / "results.json").read_text("utf-8"))


def test_the_command_writes_a_report(places: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    report = tmp_path / "report"
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, "--kind-column", "kind")
    done = deltavec(*arguments, "-k", "1-2,4", "--doc2vec-k", "4", "-o", report)
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == ["method", "1", "2", "4"]
    results = read(report)
    assert results.complete
    assert [problem.name for problem in results.problems] == ["1", "2", "4"]
    assert ["d2v-mc5" in problem.scores for problem in results.problems] == [False, False, True]
    assert results.settings["kinds"] == {"hotel": 2, "museum": 2}
    for name in ("report.md", "report.html"):
        assert "idf-delta-pca" in (report / name).read_text("utf-8")


def test_json_has_scores_and_where_time_went(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, *QUICK, "-k", "2")
    first = deltavec(*arguments, "-o", tmp_path / "report", "--json").json
    assert first["scores"]["2"]["idf-delta-pca"] > 0.6
    assert {"variants", "spectral"} <= {*first["details"]["2"]["seconds"]}
    again = deltavec(*arguments, "-o", tmp_path / "report", "--json").json
    assert again["scores"] == first["scores"]
    assert again["details"] == first["details"]  # not computed again


def begun(places: Path, report: Path, folder: Path, wait_at: int) -> subprocess.Popen[bytes]:
    """A run that waits in one of its problems."""
    return Process(
        waiting_command(places, report),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "WAIT_AT": str(wait_at), "PYTHONPATH": python_path(places)},
    )


def waiting_command(places: Path, report: Path) -> list[str]:
    return command(
        "evaluate", "reviews", places / "reviews.csv", *ASKED, *QUICK, "-k", "1-3",
        "--embedder", "waiting_embedder:embed", "-o", report,
    )  # fmt: skip


def python_path(places: Path) -> str:
    return os.pathsep.join(filter(None, [str(places), os.environ.get("PYTHONPATH")]))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_run_that_was_killed_goes_on_and_gives_the_same_results(
    places: Path, tmp_path: Path
) -> None:
    report, whole = tmp_path / "report", tmp_path / "whole"
    with begun(places, report, tmp_path, wait_at=2) as running:
        wait_for(lambda: (tmp_path / "waiting").exists(), running)
        running.kill()
    partial = read(report)
    assert not partial.complete
    assert [problem.name for problem in partial.problems] == ["1"]
    environment = {**os.environ, "PYTHONPATH": python_path(places)}
    for folder in (report, whole):
        subprocess.run(waiting_command(places, folder), env=environment, check=True)
    again, fresh = read(report), read(whole)
    assert again.complete
    assert again.problems[0] == partial.problems[0]
    assert [p.scores for p in again.problems] == [p.scores for p in fresh.problems]
    assert again.settings == fresh.settings


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_interrupt_leaves_a_valid_partial_report(places: Path, tmp_path: Path) -> None:
    report = tmp_path / "report"
    with begun(places, report, tmp_path, wait_at=3) as running:
        wait_for(lambda: (tmp_path / "waiting").exists(), running)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate()
    assert running.returncode == 130
    assert stdout == b""
    assert stderr == b"deltavec: interrupted\n"
    results = read(report)
    assert not results.complete
    assert [problem.name for problem in results.problems] == ["1", "2"]
    for name in ("report.md", "report.html"):
        assert "idf-delta-pca" in (report / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", "5"), "expected 4 locations with at least 25 reviews each (5 for each of 5 docume"),
        (("--group-column", "place"), "place"),
        (("--kind-column", "sort"), "sort"),
        (("--skip", "word2vec"), "skip must be one of doc2vec, tf-idf, lsa, got 'word2vec'"),
        (("--embedder", "no_such_module:embed"), "cannot import 'no_such_module'"),
        (("--vectors", "no-such-file.vec"), "no-such-file.vec"),
        (("--doc2vec-k", "9"), "doc2vec is asked for k = 9"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    options: tuple[str, ...], message: str, places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, "-k", "1")
    done = deltavec(*arguments, "-o", tmp_path / "report", *options)
    assert message in done.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("numbers", ["0-3", "5-2", "a", "1,,2", "-3", "1-", "1.5", ""])
def test_a_bad_range_is_wrong_usage(
    numbers: str, places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, "-o", tmp_path / "report")
    done = deltavec(*arguments, f"--reviews-per-document={numbers}")
    assert done.code == 2
    assert "expected" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_files_is_left_alone(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    (tmp_path / "thesis.tex").touch()
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, "-o")
    assert "holds other files" in deltavec(*arguments, tmp_path).error
    assert "is a file" in deltavec(*arguments, tmp_path / "thesis.tex").error
    assert "make it first" in deltavec(*arguments, tmp_path / "no" / "report").error


def test_vectors_and_a_way_to_train_them_exclude_each_other(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, "-o", tmp_path / "report")
    assert deltavec(*arguments, "-v", "a.vec", "--vectors-method", "ppmi").code == 2


def test_help_shows_an_example(deltavec: Deltavec) -> None:
    done = deltavec("evaluate", "reviews", "--help")
    assert done.code == 0
    assert "Examples:" in done.stdout
    assert "reviews" in deltavec("evaluate", "--help").stdout


def test_results_are_numbers_that_json_knows(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    arguments = ("evaluate", "reviews", places / "reviews.csv", *ASKED, *QUICK, "-k", "1")
    assert deltavec(*arguments, "-o", tmp_path / "report").code == 0
    text = (tmp_path / "report" / "results.json").read_text("utf-8")
    content = json.loads(text)
    assert content["measure"] == "ROC AUC"
    assert content["versions"]["deltavec"]
    assert len(content["data"]["sha256"]) == 64
    assert str(tmp_path) not in text
