"""One contestant in a process of its own; it does what it is told, a line at a time.

    python -m speed.worker name given.json

It answers each line with a line of JSON: first what it is, or why it cannot be; then, for each
line ``run``, the seconds of one run, and for ``save PATH`` that the last result is there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from speed.peers import CONTESTANTS, Given


def given(path: Path) -> Given:
    """What the file says the contestant gets."""
    told = json.loads(path.read_text("utf-8"))
    texts = pq.read_table(told["texts"])["text"].to_pylist()
    return Given(
        texts[: told["documents"]],
        texts,
        Path(told["model"]),
        Path(told["models"]),
        told["threads"],
        told["seen_words"],
    )


def answers_only() -> Any:
    """A file for answers; whatever else is printed goes where errors go."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def dimensions_of(result: Any) -> int | None:
    """How many numbers a document became; None if words were parted and no more."""
    return int(result.shape[1]) if hasattr(result, "shape") else None


def serve(name: str, path: Path, answers: Any) -> None:
    """Set up, then answer until there are no more lines."""

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    told = given(path)
    try:
        run = CONTESTANTS[name](told)
        result = run()  # compiled, cached, allocated: outside the clock
    except (ImportError, OSError) as error:
        answer({"absent": f"{type(error).__name__}: {error}"})
        return
    answer({"ready": True, "dimensions": dimensions_of(result)})
    for line in sys.stdin:
        asked, _, argument = line.strip().partition(" ")
        if asked == "run":
            result = None
            begin = time.perf_counter()
            result = run()
            answer({"seconds": time.perf_counter() - begin})
        elif asked == "save":
            np.save(argument, result)
            answer({"saved": True})


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), answers_only())
