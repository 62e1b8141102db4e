"""``deltavec warm``: compile everything, once per machine or image."""

from __future__ import annotations

from deltavec.cli.printing import print_result
from deltavec.cli.progress import stages


def warm(*, as_json: bool = False) -> None:
    """Compile everything now, for instance in a container image.

    The machine code is kept in NUMBA_CACHE_DIR if that is set, else beside the package or in your
    cache folder. Run it once when you build a container image.

    Examples
    --------
    deltavec warm
    """
    with stages("loading the compiler") as work:
        from deltavec.collection.warm import compile_all
        from deltavec.core.jit import BUDGET, cache_folder

        compile_all(work.begin)
        folder = cache_folder()
    kept = str(folder) if folder else "nowhere: no folder can be written"
    found = {"kernels": BUDGET.compiled, "seconds": work.seconds, "folder": folder and str(folder)}
    shown = {"compiled": f"{BUDGET.compiled:,} kernels in {work.seconds:.1f} s", "kept in": kept}
    print_result(as_json, found, shown)
