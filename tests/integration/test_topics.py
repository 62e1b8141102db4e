"""Topics of the demo's collection: what they are called, and what they say of each document."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyarrow import parquet
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import deltavec as dv
from deltavec.server.map_view import MapView, describe_topics
from support.typed import Deltavec

# Verbs, nouns, adjectives and numbers, which that list of stop words has as well.
LISTED = """
    amount back bill bottom call cry describe detail empty fill find fire found front full give
    go interest keep made mill mine move name part put see seem serious show side sincere system
    take thick thin top first last former latter next two three four five six eight nine ten eleven
    twelve fifteen twenty forty fifty sixty hundred"""


@pytest.mark.parametrize("n", [4, 8, 16, None])
def test_no_function_words_name_the_demos_topics(collection: dv.Collection, n: int | None) -> None:
    found = collection.cluster(n, levels=2, words=8)
    assert found.wider is not None
    named = {word for words in [*found.names, *found.wider.names] for word in words}
    assert named & ENGLISH_STOP_WORDS.difference(LISTED.split()) == set()
    assert all(len(words) == 8 for words in found.names)


def test_cluster_finds_a_number_says_why_and_writes_several_topics(
    lee: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    output = tmp_path / "topics.parquet"
    arguments = ("--levels", 2, "--per-document", 2, "-o", output)
    done = deltavec("cluster", lee, *arguments, "--json").json
    assert 8 <= len(done["clusters"]) <= 32
    assert "nearly as stable" in done["reason"]
    (wide,) = done["levels"]
    assert {one["parent"] for one in done["clusters"]} == set(range(len(wide)))
    assert sum(one["documents"] for one in wide) == 350
    table = parquet.read_table(output)
    assert table.column_names == [
        *("id", "rank", "cluster", "name", "cosine", "cluster_2", "name_2")
    ]
    own = table.filter(pc.equal(table["rank"], 1))
    assert len(own) == 350
    shown = deltavec("cluster", lee, "--levels", 2).stdout
    assert f"{len(done['clusters'])} clusters: the most that are nearly as stable" in shown


def test_the_explorer_has_the_same_names(collection: dv.Collection, map_view: MapView) -> None:
    found = collection.cluster(8)
    told = describe_topics(map_view.clusters)["topics"]
    assert [topic["words"] for topic in told] == found.names
    assert [topic["name"] for topic in told] == [", ".join(words[:3]) for words in found.names]
