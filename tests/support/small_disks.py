"""Programs on a disk that is soon full: a file system in memory that only they can see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MOUNT = "mount -t tmpfs -o size={size} small {disk} && exec {python} -c '{program}' \"$@\""


def run_on_small_disk(
    disk: Path, size: str, program: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What a Python program (without single quotes) says while this folder is a disk of this size.

    What it writes there is gone afterwards.
    """
    if not shutil.which("unshare"):
        pytest.skip("needs Linux, and a user who may mount")
    command = MOUNT.format(size=size, disk=disk, python=sys.executable, program=program)
    alone = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount")
    return subprocess.run(
        [*alone, "sh", "-c", command, "sh", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
