"""``deltavec evaluate``: duplicate questions and Lee, typed as a user would."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from pathlib import Path

import pytest

from deltavec.core.recipes import RECIPES
from deltavec.lab.results import Results
from support.typed import Deltavec, Demonstration, command

TOPICS = (
    ("disk", "mount", "partition", "drive"),
    ("sound", "audio", "speaker", "volume"),
    ("wifi", "network", "router", "signal"),
)
QUICK = ("--skip", "doc2vec,lsa")
BASELINES = ["tf-idf", "tf-idf2"]


def write_forum(folder: Path, name: str, seed: int, questions: int = 24) -> None:
    rng = random.Random(seed)
    records = {}
    for place in range(questions):
        topic = TOPICS[place % 3]
        body = " ".join(rng.choices((*topic, "the", "to", "my"), k=12))
        records[str(place)] = {
            "title": f"{rng.choice(topic)} and {rng.choice(topic)}",
            "body": f"<p>{body} &amp; <code>{rng.choice(topic)}</code></p>",
            "dups": [str(place + 3)] if place % 4 == 0 and place + 3 < questions else [],
        }
    (folder / f"{name}_questions.json").write_text(json.dumps(records), encoding="utf-8")


@pytest.fixture
def forums(tmp_path: Path) -> Path:
    folder = tmp_path / "forums"
    folder.mkdir()
    write_forum(folder, "android", 1)
    write_forum(folder, "unix", 2)
    return folder


@pytest.mark.parametrize("name", ["duplicate-questions", "lee"])
def test_help_has_examples(name: str, deltavec: Deltavec) -> None:
    shown = deltavec("evaluate", name, "--help")
    assert shown.code == 0
    assert f"deltavec evaluate {name}" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 84


def test_forums_get_a_table_and_a_report(forums: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    report = tmp_path / "report"
    done = deltavec("evaluate", "duplicate-questions", forums, *QUICK, "-o", report)
    assert done.code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].strip() == "ROC AUC"
    assert lines[1].split() == ["method", "android", "unix"]
    assert [line.split()[0] for line in lines[3:-2]] == [*RECIPES, "spectral", *BASELINES]
    assert "report.html" in lines[-1]
    for name in ("results.json", "report.md", "report.html"):
        assert (report / name).stat().st_size > 1000
    found = Results.from_json((report / "results.json").read_text())
    assert found.complete
    assert found.experiment == "duplicate-questions"
    assert str(tmp_path) not in (report / "results.json").read_text()


def test_forums_as_json(forums: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    report = tmp_path / "report"
    arguments = ("evaluate", "duplicate-questions", forums, *QUICK, "--pairs", 50)
    done = deltavec(*arguments, "-o", report, "--json")
    assert done.json["complete"] is True
    assert list(done.json["scores"]["unix"]) == [*RECIPES, "spectral", *BASELINES]
    assert done.json["details"]["android"]["pairs"] == 50
    assert done.json["details"]["android"]["pairs_possible"] == 24 * 23 // 2
    again = deltavec(*arguments, "-o", report, "--json")
    assert again.json["scores"] == done.json["scores"]


def test_many_forums_are_summed_up(tmp_path: Path, deltavec: Deltavec) -> None:
    for number in range(6):
        write_forum(tmp_path, f"forum{number}", number)
    skipped = ("--skip", "doc2vec,lsa,tf-idf")
    done = deltavec(
        "evaluate", "duplicate-questions", tmp_path, *skipped, "-o", tmp_path / "report"
    )
    assert done.stdout.splitlines()[1].split() == ["method", "lowest", "mean", "highest"]


def test_an_embedder_beside_the_data_is_found(
    forums: Path, tmp_path: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "letters_of.py").write_text(
        "def embed(texts):\n    return [[text.count(c) for c in 'abcdefghij'] for text in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    done = deltavec(
        "evaluate", "duplicate-questions", forums, *QUICK, "--embedder", "letters_of:embed",
        "-o", "report", "--json",
    )  # fmt: skip
    assert "letters_of:embed" in done.json["scores"]["android"]


def test_interrupted_it_leaves_a_report_of_what_is_done_and_goes_on(
    forums: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    # An embedder that waits on the second forum for as long as nobody interrupts.
    (tmp_path / "stuck.py").write_text(
        "import pathlib, signal\n"
        "calls = []\n"
        "def embed(texts):\n"
        "    calls.append(texts)\n"
        "    if len(calls) == 3 and not pathlib.Path('go').exists():\n"
        "        pathlib.Path('waiting').touch()\n"
        "        print('waiting', flush=True)\n"
        "        signal.pause()\n"
        "    return [[len(text), 1.0] for text in texts]\n"
    )
    arguments = command(
        "evaluate", "duplicate-questions", forums, *QUICK, "--embedder", "stuck:embed",
        "-o", "report",
    )  # fmt: skip
    process = subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "deltavec: interrupted\n")
    report = tmp_path / "report"
    found = Results.from_json((report / "results.json").read_text())
    assert not found.complete
    assert [problem.name for problem in found.problems] == ["android"]
    assert "Unfinished" in (report / "report.html").read_text()

    (tmp_path / "go").touch()
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "unix" in done.stdout
    assert Results.from_json((report / "results.json").read_text()).complete
    assert "Unfinished" not in (report / "report.html").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("forum,label,text_a\nunix,1,a\n", "no column 'text_b'"),
        ("forum,label,text_a,text_b\nunix,1,a,b\nunix,1,a,c\n", "all 2 pairs are duplicates"),
        ("forum,label,text_a,text_b\nunix,0,a,b\n", "is marked as a duplicate"),
        ("forum,label,text_a,text_b\nunix,maybe,a,b\n", "row 1: expected the label 1"),
        ("forum,label,text_a,text_b\n", "holds no pairs"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_line_and_leaves_nothing(
    content: str, message: str, tmp_path: Path, deltavec: Deltavec
) -> None:
    table, report = tmp_path / "pairs.csv", tmp_path / "report"
    table.write_text(content)
    done = deltavec("evaluate", "duplicate-questions", table, "-o", report)
    assert message in done.error
    assert not report.exists()


def test_wrong_paths_and_names_are_one_line(
    forums: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    evaluate = ("evaluate", "duplicate-questions")
    report = ("-o", tmp_path / "report")
    assert "no such file or folder" in deltavec(*evaluate, tmp_path / "none", *report).error
    assert "found no questions" in deltavec(*evaluate, Path(__file__).parent, *report).error
    assert "skip must be one of" in deltavec(*evaluate, forums, "--skip", "bert", *report).error
    assert "module:function" in deltavec(*evaluate, forums, "--embedder", "x", *report).error
    assert "holds other files" in deltavec(*evaluate, forums, "-o", forums).error
    assert "found nothing there" in deltavec(*evaluate, forums, "-v", "none.vec", *report).error
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("name", ["duplicate-questions x -o y", "lee"])
def test_vectors_are_given_or_trained(name: str, deltavec: Deltavec) -> None:
    both = ("--vectors", "a.vec", "--vectors-method", "ppmi")
    assert deltavec("evaluate", *name.split(), *both).code == 2


def test_lee_prints_agreement_beside_the_published_figures(
    demonstration: Demonstration, deltavec: Deltavec
) -> None:
    vectors = demonstration.folder / "lee-news" / "news.safetensors"
    done = deltavec("evaluate", "lee", *QUICK, "--vectors", vectors)
    assert done.code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].strip() == "Pearson correlation"
    assert [line.split()[0] for line in lines[3:-3]] == [*RECIPES, "spectral", *BASELINES]
    assert lines[-1] == "published: LSA about 0.6, people among themselves about 0.605"


def test_lee_finds_what_the_demo_finds_and_writes_a_report(
    demonstration: Demonstration, tmp_path: Path, deltavec: Deltavec
) -> None:
    vectors = demonstration.folder / "lee-news" / "news.safetensors"
    report = tmp_path / "report"
    done = deltavec("evaluate", "lee", *QUICK, "--vectors", vectors, "--json", "-o", report)
    corpus, judged = done.json["scores"].values()
    for score in (max(corpus[recipe] for recipe in RECIPES), corpus["unit-sum"]):
        assert f"{score:.3f}".removeprefix("0") in demonstration.stdout
    assert judged["unit-sum"] == corpus["unit-sum"]
    assert judged["idf-sum-pca"] != corpus["idf-sum-pca"]
    found = Results.from_json((report / "results.json").read_text())
    assert found.problems[0].scores == corpus
    assert found.settings["vectors"] == "news.safetensors"
    assert "people among themselves" in (report / "report.md").read_text()
