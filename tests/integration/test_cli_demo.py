"""The demo: what it promises on real text, and that it leaves nothing behind."""

from __future__ import annotations

import shlex
import socket
from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.lab.stories import agreement, lee_documents
from support.typed import Deltavec, Demonstration


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work and keep temporary files in, without a network."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the demo opened a connection")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(socket.socket, "connect", refused)
    return tmp_path


def test_the_demo_agrees_with_people_as_promised(alone: Path, deltavec: Deltavec) -> None:
    found = deltavec("demo", "--json").json
    people = found["agreement"]
    assert set(people) == {*dv.RECIPES, "spectral"}
    assert found["recipe"] == "spectral"
    assert people["spectral"] > max(people[name] for name in dv.RECIPES)
    assert people["unit-sum"] == pytest.approx(0.40, abs=0.05)
    assert people["idf-sum-pca"] > 0.60
    assert people["idf-center"] > 0.60
    assert (found["documents"], found["judged"], found["pairs"]) == (350, 50, 1225)
    assert list(alone.iterdir()) == []


def test_the_demo_searches_and_says_why_finds_copies_and_topics(
    alone: Path, deltavec: Deltavec
) -> None:
    found = deltavec("demo", "--json").json
    first = found["hits"][0]
    assert {"storm", "wales", "south"} <= set(first["words"])
    assert sum(first["words"].values()) == pytest.approx(first["score"], rel=0.05)
    assert found["duplicates"]
    assert all(one["shared"] >= 0.5 for one in found["duplicates"])
    assert sum(topic["documents"] for topic in found["topics"]) == 350
    assert {"palestinian", "israeli"} <= {word for one in found["topics"] for word in one["words"]}


def test_the_demo_shows_what_it_found_and_how_well_it_does(demonstration: Demonstration) -> None:
    assert demonstration.stderr == ""
    for words in ("Search for", "Near-duplicates", "Topics", "Correlation with people", "LSA"):
        assert words in demonstration.stdout
    prose = [line for line in demonstration.stdout.splitlines() if "  deltavec " not in line]
    assert max(map(len, prose)) <= 80


def test_the_demo_keeps_its_files_if_asked_to_and_says_how_to_go_on(
    demonstration: Demonstration, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demonstration.folder)
    assert [entry.name for entry in Path.cwd().iterdir()] == ["lee-news"]
    lines = demonstration.stdout.splitlines()
    commands = [line for line in lines if line.startswith("  deltavec ")]
    assert len(commands) == 3
    assert commands[2] == "  deltavec serve lee-news/news.idx --open"  # runs until it is stopped
    for command in commands[:2]:
        assert deltavec(*shlex.split(command)[1:]).code == 0
    model = dv.load("lee-news/news.dv")
    assert len(model.embed(dv.read_corpus("lee-news/news.txt"))) == 350
    assert len(dv.open_collection("lee-news/news.idx")) == 350


def test_agreement_is_pearson_s_correlation_over_pairs() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)  # cosines .6, 0, .8
    judgements = np.array([[1, 0.5, 0.2], [0, 1, 0.6], [0, 0, 1]])
    expected = np.corrcoef([0.6, 0.0, 0.8], [0.5, 0.2, 0.6])[0, 1]
    assert agreement(vectors, judgements) == pytest.approx(expected, abs=1e-6)


def test_the_stories_are_whole() -> None:
    documents = lee_documents()
    assert len(documents.background) == 300
    assert len(documents.judged) == 50
    assert any("£" in story for story in documents.judged)  # the file is Latin-1
    assert documents.judgements.shape == (50, 50)
    assert documents.judgement(3, 1) == documents.judgement(1, 3) == documents.judgements[1, 3]
