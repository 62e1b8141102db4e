"""A collection as tools: asked by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.cli.commands.mcp import tools_of

mcp = pytest.importorskip("mcp")

TEXTS = [
    f"a {kind} room near the {place}" for kind in ("quiet", "loud") for place in ("sea", "bar")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "rooms.idx"
    table = pa.table({"text": TEXTS * 5, "name": [f"r{n}" for n in range(20)], "stars": range(20)})
    dv.build_collection(dv.fit(TEXTS * 5), table, path, id_column="name", keep=["stars"])
    return path


async def ask(session: Any, tool: str, **arguments: Any) -> Any:
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    found = answer.structured_content
    return found.get("result", found)


def test_tools_answer_as_the_collection_does(folder: Path) -> None:
    collection = dv.open_collection(folder)

    async def session() -> None:
        async with mcp.Client(tools_of(folder)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"search", "similar", "read", "why"}
            found = await ask(client, "search", query="quiet sea", k=3, filter="stars > 5")
            hits = collection.search("quiet sea", k=3, filter="stars > 5")
            assert [one["id"] for one in found] == [hit.id for hit in hits]
            assert [one["score"] for one in found] == [hit.score for hit in hits]
            assert found[0]["columns"] == {"stars": hits[0].columns["stars"]}
            assert found[0]["excerpt"] == hits[0].text
            alike = await ask(client, "similar", id="r0", k=2)
            assert [one["id"] for one in alike] == [hit.id for hit in collection.similar("r0", 2)]
            text = await ask(client, "read", id="r1", begin=2, length=5)
            assert text == {"id": "r1", "stars": 1, "text": "quiet", "characters": len(TEXTS[1])}
            why = await ask(client, "why", query="quiet sea", id="r0")
            assert why["score"] == collection.why("quiet sea", "r0").score
            shares = sum(word["share"] for word in why["words"]) + why["center"]
            assert abs(shares - why["score"]) < 1e-9
            wrong = await client.call_tool("search", {"query": "sea", "filter": "moons > 1"})
            assert wrong.is_error
            assert "moons" in wrong.content[0].text
            collection.add(pa.table({"text": ["a harbor"], "name": ["new"], "stars": [1]}))
            assert (await ask(client, "read", id="new"))["text"] == "a harbor"

    asyncio.run(session())


def test_the_command_speaks_over_standard_input_and_output(folder: Path) -> None:
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "deltavec", "mcp", str(folder)]
    )

    async def session() -> None:
        async with mcp.Client(mcp.stdio_client(command)) as client:
            found = await ask(client, "search", query="loud bar", k=1)
            assert found[0]["excerpt"] == "a loud room near the bar"

    asyncio.run(asyncio.wait_for(session(), 120))
