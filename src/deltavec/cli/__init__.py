"""The command line, ``deltavec``: one file per command.

Only this layer prints. Results go to stdout or into files, progress and errors to stderr. Whatever
is slow to import is imported inside the commands, so that ``deltavec --help`` answers at once.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

SMALL = 4 << 30  # bytes of address space
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # of mallopt


def spare_address_space() -> None:
    """Reserve less memory than usual where the address space is limited (``ulimit -v``).

    Arrow's allocator reserves a gigabyte, and the system's 64 MB for each thread.
    """
    if sys.platform == "linux":
        import resource

        if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < SMALL:
            os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
            call_glibc("mallopt", M_ARENA_MAX, 1)


def call_glibc(name: str, *arguments: int) -> None:
    """Call a function of the GNU C library, where that is the system's."""
    import ctypes

    with suppress(AttributeError, OSError):
        getattr(ctypes.CDLL(None), name)(*arguments)


def main() -> None:
    """Run the command that the arguments name, and exit: 0, 1 (failed) or 2 (wrong usage)."""
    # Arrow's memory is given back after ten seconds without use, not at once: text that is read
    # chunk by chunk would have to be given fresh pages for each, which the system clears first.
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "10000")
    # Products of matrices have one thread (docs/decisions/0017). More would be started and wait for
    # work in loops, a tenth of a second in each of two libraries.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    spare_address_space()
    # Importing the compiler makes hundreds of thousands of objects, none of which is garbage.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        # A word that the terminal's encoding does not have is shown by its number.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from deltavec.cli.application import app

        app(prog_name="deltavec")
    except KeyboardInterrupt:  # before any command had begun
        sys.exit(130)
    finally:
        gc.freeze()  # whatever is left ends with the process, garbage or not
