"""Count the modules and functions of deltavec that a request walks through.

    python tools/trace_walks.py [--source OTHER_CHECKOUT/src]

Each walk runs twice in one process without the JIT, on 60 documents; the second run is traced in
all threads. Counted are functions of deltavec that are called, not lambdas, comprehensions or
module bodies.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PLACES = ("sea", "beach", "harbor", "island", "coast")
MOODS = ("quiet", "loud", "lovely", "shabby")
ROOMS = ("room", "garden", "street")
HIDDEN = {"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"}
QUERY = "a quiet room by the sea"


def documents() -> list[str]:
    """60 short reviews."""
    return [
        f"The {mood} {room} by the {place}: {MOODS[number % 4]} and {mood}, near the {place}."
        for place in PLACES
        for number, mood in enumerate(MOODS)
        for room in ROOMS
    ]


class Trace:
    """The functions of a package that are called in all threads while it is entered.

    It is installed before any thread starts, since a thread takes its profiler when it starts.
    """

    def __init__(self, package: Path) -> None:
        self.prefix = f"{package}{os.sep}"
        self.entered = False
        self.called: set[tuple[str, str]] = set()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def __enter__(self) -> Trace:
        self.called.clear()
        self.entered = True
        return self

    def __exit__(self, *error: object) -> None:
        self.entered = False

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        of_package = code.co_filename.startswith(self.prefix) and code.co_name not in HIDDEN
        if self.entered and event == "call" and of_package:
            self.called.add((code.co_filename, f"{code.co_qualname}:{code.co_firstlineno}"))

    @property
    def modules(self) -> int:
        """How many modules were walked through."""
        return len({filename for filename, _ in self.called})


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """What is traced; each can be run again."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from starlette.testclient import TestClient
    from typer.testing import CliRunner

    import deltavec as dv
    from deltavec.cli.application import app

    texts = documents()
    corpus = folder / "a.parquet"
    ids = [f"review-{number}" for number in range(len(texts))]
    pq.write_table(pa.table({"id": ids, "text": texts}), corpus)
    model = dv.fit(texts)
    model.save(folder / "model.dv")
    index = folder / "a.idx"

    def build() -> dv.Collection:
        return dv.build_collection(model, dv.read_corpus(corpus), index, id_column="id")

    collection = build()
    identity = collection.search(QUERY, 3)[0].id
    client = TestClient(application(collection), base_url="http://localhost")
    client.__enter__()  # starts what the server starts with

    def get(path: str, **query: object) -> None:
        answer = client.get(path, params={"query": QUERY, **query})  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text

    def command(*arguments: object) -> None:
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output

    def embed_file() -> None:
        (folder / "b.parquet").unlink(missing_ok=True)
        command("embed", folder / "model.dv", corpus, "-o", folder / "b.parquet")

    return {
        "fit": lambda: dv.fit(texts),
        "embed one document": lambda: model.embed([texts[0]]),
        "build_collection from Parquet": build,
        "open_collection": lambda: dv.open_collection(index),
        "search": lambda: collection.search(QUERY, 10),
        "why": lambda: collection.why(QUERY, identity),
        "GET /search": lambda: get("/search"),
        "GET /search?explain=true": lambda: get("/search", explain="true"),
        "GET /why": lambda: get("/why", id=identity),
        "deltavec embed a.parquet -o b.parquet": embed_file,
        "deltavec search --explain -k 3": lambda: command(
            "search", index, QUERY, "--explain", "-k", 3
        ),
    }


def application(collection: Any) -> Any:
    """The server of a collection, whatever this checkout calls its package."""
    import importlib

    for package in ("deltavec.server.app", "deltavec.serve.app"):
        try:
            module = importlib.import_module(package)
        except ModuleNotFoundError:
            continue
        return module.create_app(collection, name="reviews")
    raise SystemExit("this checkout has no server")


def print_table() -> None:
    """Print the table for the deltavec that is on the path."""
    warnings.simplefilter("ignore")
    import deltavec

    trace = Trace(Path(deltavec.__file__).parent)
    print(f"{'walk':40} {'modules':>8} {'functions':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, walk in walks(Path(folder)).items():
            walk()
            with trace as found:
                walk()
            print(f"{name:40} {found.modules:8} {len(found.called):10}", flush=True)
    sys.stdout.flush()
    os._exit(0)  # a started application may hold threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="where deltavec is")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print_table()
        return
    environment = {
        **os.environ,
        "PYTHONPATH": str(asked.source.resolve()),
        "NUMBA_DISABLE_JIT": "1",
    }
    done = subprocess.run([sys.executable, __file__, "--here"], env=environment, check=False)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
