"""Commands whose output, or whose folder for temporary files, is on a disk that is soon full."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.small_disks import run_on_small_disk

PROGRAM = """
import sys, tempfile
tempfile.tempdir = sys.argv.pop(1)
from deltavec.cli import main
main()
"""
TRAIN = ("vectors", "train", "{disk}/../words.txt", "--min-count", "1", "-o")


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("size", "arguments"),
    [
        ("4k", (*TRAIN, "{disk}/v.safetensors")),
        ("200k", ("demo", "-o", "{disk}/demo")),
    ],
    ids=["vectors train", "demo"],
)
def test_a_full_disk_is_one_line_and_no_bug_of_ours(
    size: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    texts = (f"room{n} sea{n % 7} view{n % 90} of the beach" for n in range(400))
    (tmp_path / "words.txt").write_text("\n".join(texts))
    typed = [one.format(disk=disk) for one in arguments]
    done = run_on_small_disk(disk, size, PROGRAM, str(tmp_path), *typed)
    assert done.returncode == 1, done.stderr
    said = done.stderr.strip().splitlines()[-1]
    assert "space left" in said.lower()
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr
