"""The first commands on a machine: nothing is compiled yet, so each begins with an empty cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from measuring import MAIN, command
from run import Given, Step
from texts import read_column

DOCUMENTS = 2_000
COLD = "import os; os.environ['NUMBA_CACHE_DIR'] = {cache!r}; "


def steps(given: Given) -> dict[str, Step]:
    """A fit of 2,000 documents with an empty cache, a build after it, both again, and the demo."""
    folder = given.path
    texts = read_column(Path(given.corpus), DOCUMENTS).to_pylist()
    (folder / "texts.txt").write_text("\n".join(" ".join(text.split()) for text in texts))

    def step(cache: str, *arguments: str, cold: bool) -> Step:
        def run() -> dict[str, Any]:
            if cold:
                shutil.rmtree(folder / cache, ignore_errors=True)
            for made in {"a.dv", "a.idx"} & {arguments[-1]}:
                shutil.rmtree(folder / made, ignore_errors=True)
            program = COLD.format(cache=str(folder / cache)) + MAIN
            return command(*arguments, program=program, cwd=folder)._asdict()

        return run

    fit = ("fit", "texts.txt", "-o", "a.dv")
    build = ("index", "build", "a.dv", "texts.txt", "-o", "a.idx")
    return {
        "fit, cold": step("one", *fit, cold=True),
        "index build after it, cold": step("one", *build, cold=False),
        "fit, warm": step("one", *fit, cold=False),
        "index build, warm": step("one", *build, cold=False),
        "demo, cold": step("two", "demo", cold=True),
        "demo, warm": step("two", "demo", cold=False),
    }
