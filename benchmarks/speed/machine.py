"""Where it was measured: versions, commit and the machine's shape, with nothing that names it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measuring import commit

PACKAGES = (
    "deltavec", "gensim", "model2vec", "numba", "numpy", "pyarrow", "scikit-learn", "scipy",
    "sentence-transformers", "spacy", "torch",
)  # fmt: skip
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def surroundings(cores: int) -> dict[str, Any]:
    """Everything a reader needs to compare with a run of their own."""
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {name: found(name) for name in PACKAGES},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "cores_used": cores,
            "memory_gigabytes": gigabytes(),
            "caches": caches(),
            "load_before": round(os.getloadavg()[0], 2),
        },
    }


def found(package: str) -> str | None:
    """A package's version, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def gigabytes() -> int:
    """The machine's memory."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def caches() -> dict[str, str]:
    """The sizes of the first core's data caches by level, where the system tells them."""
    sizes = {}
    for folder in sorted(CACHES.glob("index*")):
        kind, level, size = (
            (folder / name).read_text("utf-8").strip() for name in ("type", "level", "size")
        )
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes
