"""Cold start: importing, the first embedding of all, and that of every later process."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from speed.launching import launched, python
from speed.setting import Setting
from speed.tables import fitted
from speed.timing import digits, rounded

FIRST_REPEATS = 3
HEAVY = ("numba", "sklearn", "scipy", "pyarrow", "gensim", "numpy")
IMPORT = f"""
import json, sys, time
begin = time.perf_counter()
import deltavec
seconds = time.perf_counter() - begin
print(json.dumps([seconds, [name for name in {HEAVY!r} if name in sys.modules]]))
"""
EMBED = """
import sys
import deltavec
deltavec.load(sys.argv[1]).embed(["a quiet room by the sea"])
"""


def cold(setting: Setting) -> dict[str, Any]:
    """Seconds of each, whole processes but for the import."""
    folder = setting.folder / "small.dv"
    fitted(setting.sample[:200], setting.seen_words[:1000], 100).save(folder)
    imports = [
        json.loads(launched(python(IMPORT), setting.cores).output)
        for _ in range(setting.plan.repeats)
    ]
    first, second = [], []
    for _ in range(min(FIRST_REPEATS, setting.plan.repeats)):
        with tempfile.TemporaryDirectory(dir=setting.folder) as cache:
            first.append(embed_seconds(folder, cache, setting.cores))
            second += [embed_seconds(folder, cache, setting.cores) for _ in range(FIRST_REPEATS)]
    return {
        "import": result([seconds for seconds, _ in imports]),
        "loaded_by_import": sorted({name for _, names in imports for name in names}),
        "first_embed_with_an_empty_cache": result(first),
        "second_process": result(second),
    }


def embed_seconds(model: Path, cache: str, cores: int) -> float:
    """How long a process takes that loads a model and embeds one document."""
    # Wherever compiled kernels may be kept, it is this folder.
    kept = {"NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache}
    return launched(python(EMBED, str(model)), cores, variables=kept).seconds


def result(seconds: list[float]) -> dict[str, Any]:
    """The time in the middle, and all of them."""
    return {"median_seconds": digits(statistics.median(seconds)), "seconds": rounded(seconds)}
