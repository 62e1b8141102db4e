"""The lowest versions that pyproject.toml promises to work with, as constraints for pip.

``python tools/lowest_versions.py > lowest.txt``, then ``pip install -c lowest.txt '.[serve,...]'``.
Only what deltavec itself asks for is held down; what those packages need is theirs to choose.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

LOWER_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9.]+)")


def lowest(requirement: str) -> str:
    """``numpy>=2.0`` as ``numpy==2.0``, without the condition that may follow a semicolon."""
    if not (found := LOWER_BOUND.fullmatch(requirement.partition(";")[0].strip())):
        sys.exit(f"expected a requirement with one lower bound, name>=version, got {requirement!r}")
    return f"{found['name']}=={found['version']}"


def main() -> None:
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in sorted({lowest(one) for group in groups for one in group}):
        print(requirement)


if __name__ == "__main__":
    main()
