"""Write tests/snapshots: the public names, the command line and the HTTP API of this version.

    python tools/take_snapshots.py [FOLDER]

``tests/integration/test_snapshots.py`` compares later versions with them, so run this only to
record a change that is meant.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import deltavec as dv  # noqa: E402
from deltavec.cli.application import app  # noqa: E402
from deltavec.server.app import create_app  # noqa: E402
from support.recorded import command_line, http_api  # noqa: E402
from support.served import ask, small_collection  # noqa: E402


def main(folder: Path) -> None:
    write(folder / "public_names.json", dv.__all__)
    write(folder / "command_line.json", command_line(app))
    with tempfile.TemporaryDirectory() as made:
        served = create_app(small_collection(Path(made)))
        write(folder / "http_api.json", http_api(ask(served, "GET", "/openapi.json").json))


def write(path: Path, value: Any) -> None:
    """Write a value as JSON for people to compare."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "tests" / "snapshots")
