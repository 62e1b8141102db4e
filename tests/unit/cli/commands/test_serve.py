"""How many connections a server takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits of Unix")

PROGRAM = """
import resource, sys
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from deltavec.cli.commands.serve import CONNECTIONS, OTHER_FILES, connection_limit
print(connection_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
print(CONNECTIONS, OTHER_FILES)
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
