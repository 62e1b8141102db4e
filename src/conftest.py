"""What examples in docstrings use: a folder with a small collection, its model and its texts."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import deltavec as dv

STORIES = (
    "Storms and flooding closed roads in the north of New South Wales",
    "Heavy rain brought flooding to towns on the coast",
    "The storm damaged roofs and cut power to homes",
    "Bush fires threatened homes in the mountains",
    "Firefighters stopped two bush fires near the coast",
    "Wind and heat made the fires in the mountains worse",
    "Australia won the first cricket test by ten wickets",
    "Rain stopped play in the second cricket test",
    "The captain made a hundred in the cricket final",
    "The bank raised interest rates for the first time in a year",
    "Shares fell as interest rates rose",
    "The dollar rose and shares in the bank fell",
)


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with news.csv, the model news.dv and the collection news.idx."""
    folder = tmp_path_factory.mktemp("examples")
    with (folder / "news.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", "text", "year"))
        table.writerows((f"s{i}", text, 2000 + i % 3) for i, text in enumerate(STORIES, start=1))
    model = dv.fit(STORIES)
    model.save(folder / "news.dv")
    corpus = dv.read_corpus(folder / "news.csv", column="text")
    dv.build_collection(model, corpus, folder / "news.idx", id_column="id", keep=["year"])
    return folder


@pytest.fixture(autouse=True)
def _examples(
    request: pytest.FixtureRequest,
    doctest_namespace: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run each example in that folder, with ``dv``, ``texts``, ``model`` and ``news`` at hand."""
    folder = request.getfixturevalue("example_folder")
    monkeypatch.chdir(folder)
    doctest_namespace |= {
        "dv": dv,
        "texts": list(STORIES),
        "model": dv.load(folder / "news.dv"),
        "news": dv.open_collection(folder / "news.idx"),
    }
