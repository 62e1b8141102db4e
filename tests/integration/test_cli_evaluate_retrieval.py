"""``deltavec evaluate retrieval``, as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.typed import Deltavec

TOPICS = {
    "storm": "storm flood rain wind river water",
    "market": "market share price bank profit trade",
    "match": "match goal team coach league player",
}


def write_judged(folder: Path) -> Path:
    """Thirty documents on three topics, and a query for each."""
    (folder / "qrels").mkdir(parents=True)
    with (
        (folder / "corpus.jsonl").open("w") as corpus,
        (folder / "qrels" / "test.tsv").open("w") as judgements,
    ):
        judgements.write("query-id\tcorpus-id\tscore\n")
        for topic, words in TOPICS.items():
            for number in range(10):
                some = " ".join(words.split()[(number + k) % 6] for k in range(4))
                record = {"_id": f"{topic}{number}", "title": "News", "text": f"{some} today"}
                corpus.write(json.dumps(record) + "\n")
                judgements.write(f"{topic}\t{topic}{number}\t1\n")
    with (folder / "queries.jsonl").open("w") as queries:
        for topic in TOPICS:
            queries.write(json.dumps({"_id": topic, "text": f"news of a {topic}"}) + "\n")
    return folder


def test_methods_are_compared(
    tmp_path: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_judged(tmp_path / "judged")
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def embed(texts):\n"
        "    return np.array([[len(text), 1.0] for text in texts])\n"
    )
    monkeypatch.chdir(tmp_path)
    arguments = ("evaluate", "retrieval", folder, "--embedder", "mine:embed")
    done = deltavec(*arguments, "--json")
    assert done.code == 0, done.stderr
    methods = done.json["methods"]
    assert {"hybrid", "keyword", "semantic", "tf-idf", "embedder"} <= set(methods)
    assert methods["hybrid"]["mean"]["ndcg_10"] == 1
    assert methods["hybrid"]["behind"]["ndcg_10"] == 0
    assert methods["embedder"]["behind"]["ndcg_10"] > 0
    assert "nDCG@10" in deltavec(*arguments).stdout


def test_a_folder_of_something_else_is_refused(tmp_path: Path, deltavec: Deltavec) -> None:
    done = deltavec("evaluate", "retrieval", tmp_path)
    assert done.code == 1
    assert "BEIR's layout" in " ".join(done.stderr.split())
