"""What runs in a container: no folder can be written but one, or none; there is no home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deltavec.core import jit

pytestmark = pytest.mark.compiled

PROGRAM = """
import numpy as np
from deltavec.core.jit import BUDGET, cache_folder
from deltavec.core.kernels.hashing import mix
print(int(mix(np.uint64(1))) > 0, BUDGET.compiled, cache_folder())
"""
READ_ONLY = 'for d in {folders}; do mount --bind "$d" "$d" && mount -o remount,ro,bind "$d"; done'


def run_read_only(folders: list[Path], *command: str, **environment: str) -> tuple[str, str]:
    """What a program prints, and its warnings, while these folders are read-only."""
    if not shutil.which("unshare"):
        pytest.skip("needs Linux")
    mounts = READ_ONLY.format(folders=" ".join(f"'{folder}'" for folder in folders))
    whole = ["unshare", "--mount", "sh", "-c", f'{mounts}; exec "$@"', "sh", *command]
    variables = {**os.environ, "HOME": "/proc/nonexistent", **environment}
    done = subprocess.run(whole, capture_output=True, text=True, env=variables)
    if "permitted" in done.stderr or "denied" in done.stderr:
        pytest.skip("needs a user who may mount")
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("package", "cache", "temporary", "home")}
    for folder in made.values():
        folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(jit.PACKAGE, made["package"] / "deltavec", ignore=ignored)
    return made


def test_a_cache_is_copied_where_it_cannot_be_written(folders: dict[str, Path]) -> None:
    settings = {
        "PYTHONPATH": str(folders["package"]),
        "NUMBA_CACHE_DIR": str(folders["cache"]),
        "TMPDIR": str(folders["temporary"]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    program = sys.executable, "-c", PROGRAM
    printed, _ = run_read_only([folders["home"]], *program, **settings)
    assert printed.startswith(f"True 1 {folders['cache']}")
    image = [folders["package"], folders["cache"]]
    for _ in range(2):
        printed, warned = run_read_only(image, *program, **settings)
        assert printed.startswith(f"True 0 {folders['temporary']}")
        assert warned == ""
    everywhere = [Path("/tmp"), Path("/var/tmp"), Path.cwd()]
    printed, warned = run_read_only([*image, *everywhere], *program, **settings)
    assert printed == "True 1 None\n"
    assert warned.count("set NUMBA_CACHE_DIR to a writable folder") == 1
