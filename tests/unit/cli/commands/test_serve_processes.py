"""How many connections a server takes, and what it leaves alone."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from deltavec.cli.commands import serve_processes

resource = pytest.importorskip("resource", reason="limits of Unix")

PROGRAM = """
import resource, sys
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from deltavec.cli.commands.serve_processes import MOST_CONNECTIONS, OTHER_FILES, most_connections
print(most_connections(), *resource.getrlimit(resource.RLIMIT_NOFILE))
print(MOST_CONNECTIONS, OTHER_FILES)
"""


@pytest.mark.parametrize(("soft", "hard"), [(200, 200), (120, 300), (70, 70)])
def test_no_more_connections_are_taken_than_files_can_be_open(soft: int, hard: int) -> None:
    # A server that accepts more finds no number for the next one, and tries again without end.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
    )
    (taken, *limits), (most, others) = (
        list(map(int, line.split())) for line in done.stdout.splitlines()
    )
    assert limits == [hard, hard]  # as many as we may
    assert taken == max(8, min(most, hard - others))
    assert taken < hard


def test_what_is_there_when_a_server_starts_is_not_looked_through_again(monkeypatch):
    uvicorn = pytest.importorskip("uvicorn")
    frozen = []
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda *_, **__: frozen.append(gc.get_freeze_count())
    )
    monkeypatch.setattr(serve_processes.signal, "signal", lambda *_: None)
    try:
        serve_processes.run(None, None)
    finally:
        gc.unfreeze()
    assert frozen[0] > 1000
