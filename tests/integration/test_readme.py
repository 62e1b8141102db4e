"""The README: its Python runs as it stands and prints what it says; its figures are measured."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.typed import Demonstration

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/benchmarks.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def rows(text: str) -> dict[str, dict[str, str]]:
    """The rows of the table whose first column is the method, each by the heads of its columns."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    begin = next(number for number, line in enumerate(cells) if line[0] == "method")
    heads = cells[begin]
    return {line[0]: dict(zip(heads, line, strict=True)) for line in cells[begin + 2 :]}


def test_the_python_of_the_readme_runs_and_prints_what_it_says(
    demonstration: Demonstration, tmp_path: Path
) -> None:
    shutil.copytree(demonstration.folder / "lee-news", tmp_path / "lee-news")
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    said = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert [ran.stdout] == said


def test_the_story_that_the_readme_explains_is_about_a_storm_in_new_south_wales(
    demonstration: Demonstration,
) -> None:
    row = int(re.findall(r'news.why\(query, "(\d+)"\)', README)[0])
    stories = (demonstration.folder / "lee-news" / "news.txt").read_text("utf-8").splitlines()
    assert "New South Wales" in stories[row]
    assert "storm" in stories[row]


def test_every_figure_of_vectors_in_the_readme_is_in_the_guide() -> None:
    guide = rows(GUIDE.split("<!-- summary -->")[1].split("<!-- end")[0])
    heads = {"reviews": "reviews k=1"}
    found = rows(README)
    del found["BM25 (bm25s, Snowball)"]
    for method, row in found.items():
        del row["search"]
        shown = {heads.get(head, head): cell for head, cell in row.items()}
        assert shown.items() <= guide[method].items(), method


def test_every_figure_of_search_is_that_of_the_result_files() -> None:
    engines = json.loads((ROOT / "benchmarks/results/retrieval_peers.json").read_text())
    embedders = json.loads((ROOT / "benchmarks/results/retrieval_embedders.json").read_text())
    sets = {"Cranfield": "cranfield", "CACM": "cacm", "Medline": "medline", "NPL": "npl"}
    measured = {
        "**deltavec**": [engines[one]["deltavec hybrid"]["nDCG@10"] for one in sets.values()],
        "BM25": [engines[one]["bm25s, Snowball"]["nDCG@10"] for one in sets.values()],
        "sentence-transformers MiniLM": [embedders[one]["MiniLM"] for one in sets.values()],
        "sparse tf-idf": [embedders[one]["tf-idf"] for one in sets.values()],
        "model2vec potion-base-8M": [embedders[one]["potion"] for one in sets.values()],
        "LSA 300": [embedders[one]["LSA"] for one in sets.values()],
    }
    shown = rows(GUIDE.split("## Search")[1].split("## Vectors")[0])
    assert set(shown) == set(measured)
    for method, values in measured.items():
        figures = [shown[method][head] for head in ("mean", *sets)]
        for cell, value in zip(figures, [sum(values) / 4, *values], strict=True):
            assert abs(float(cell) - value) <= 0.00051, (method, cell, value)
    readme = {method: row["search"] for method, row in rows(README).items()}
    for method, name in {
        "**deltavec**": "**deltavec**", "BM25": "BM25 (bm25s, Snowball)", "LSA 300": "LSA 300",
        "sentence-transformers MiniLM": "MiniLM", "model2vec potion-base-8M": "potion-base-8M",
        "sparse tf-idf": "sparse tf-idf",
    }.items():  # fmt: skip
        assert readme[name] == shown[method]["mean"]


def test_what_the_readme_points_to_is_there_and_it_is_short() -> None:
    pointed = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)|src=\"([^\"]+)\"", README)
    assert pointed
    for link in (one or other for one, other in pointed):
        assert (ROOT / link).exists(), link
    assert len(README.splitlines()) <= 90
