"""What scripts that go over corpora are asked on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from corpora import CORPORA


def asked(description: str) -> argparse.Namespace:
    """The folder of the data, which corpora, and where what takes long is kept."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    return parser.parse_args()
