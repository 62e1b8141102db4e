"""Lazy compilation of kernels, and the folder that keeps their machine code.

Importing numba takes longer than anything else a short program does. A kernel is therefore a
`LazyKernel`, which imports numba at its first call. Until then NumPy can do small work. When to
load the compiler is a ski-rental problem: a program that works without it until that has cost as
much as loading it pays at most twice the best choice. `CompileBudget` keeps the account.

numba's cache notices a change only in the file that a kernel stands in, not in the kernels that it
calls. So machine code is kept in a folder named after a digest of all kernel sources and of the
modules they import.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from deltavec.errors import CacheWarning, warn

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
IMPORT = re.compile(r"^from (deltavec[\w.]*) import", re.MULTILINE)
KERNEL = re.compile(r"^@(?:compiled|inlined)\b", re.MULTILINE)
STALE_AFTER = 30 * 24 * 3600  # seconds
LOADING = threading.RLock()
# Multiplications NumPy makes in the second or so that the compiler takes to load.
COMPILER_COST = 50_000_000
LEAST_ADDRESS_SPACE = 896 << 20  # bytes
COST_PER_BYTE = 50  # multiplications that tokenizing one byte of text in Python is worth


def compiled(function: Function) -> Function:
    """The function, compiled at its first call; it runs without the interpreter lock."""
    return cast(Function, LazyKernel(function))


def inlined(function: Function) -> Function:
    """Like `compiled`, and inlined into its callers: passing arrays costs many arguments."""
    return cast(Function, LazyKernel(function, forceinline=True))


class LazyKernel:
    """A function that numba compiles at its first call.

    Kernels call each other through the names in their modules. The first call therefore replaces
    every `LazyKernel` in the module, and in the modules of the kernels it calls, by numba's
    dispatcher.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self.options = options
        self.made: Callable[..., Any] | None = None
        self.ready: Callable[..., Any] | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.compiled()(*arguments)

    def compiled(self) -> Callable[..., Any]:
        """Numba's dispatcher of the function."""
        if self.ready is None:
            with LOADING:
                made = self.made or self._make()
            self.ready = made  # last: other threads must not start while names are replaced
        return self.ready

    def _make(self) -> Callable[..., Any]:
        BUDGET.load_compiler()
        import numba

        folder = cache_folder()
        previous = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder or "")
        try:
            decorate = numba.njit(cache=folder is not None, nogil=True, **self.options)
            self.made = decorate(self.function)
        finally:
            numba.config.CACHE_DIR = previous
        names = self.function.__globals__
        for name, value in list(names.items()):
            if isinstance(value, LazyKernel):
                names[name] = value.made or value._make()
        return self.made


class CompileBudget:
    """Work done in NumPy so far, in multiplications, against the cost of loading the compiler."""

    def __init__(self) -> None:
        self.spent = 0
        self.loaded = False
        self.compiled = 0  # kernels, by this process; others were in the cache
        self.on_compile: Callable[[int], None] | None = None  # told how many there are

    def allows(self, cost: int) -> bool:
        """Whether to do this work in NumPy; if so, its cost is charged."""
        if self.loaded or self.spent + cost > COMPILER_COST:
            return False
        self.spent += cost
        return True

    def preload(self, cost: int) -> None:
        """Load the compiler in the background if work of this cost will need it."""
        if not self.loaded and self.spent + cost > COMPILER_COST:
            threading.Thread(target=self._try_to_load, name="deltavec-compiler").start()

    def _try_to_load(self) -> None:
        with suppress(MemoryError):  # raised again where a kernel is needed
            self.load_compiler()

    def load_compiler(self) -> None:
        """Import numba now; servers call this at start-up."""
        require_address_space()
        from numba.core import event

        if not self.loaded:
            listener = event.TimingListener()
            listener.on_start = self._count
            event.register("numba:compile", listener)
        self.loaded = True

    def _count(self, event: Any) -> None:
        """Count a kernel that is compiled."""
        function = event.data["dispatcher"].py_func
        self.compiled += function.__module__.startswith("deltavec")
        if self.on_compile is not None:
            self.on_compile(self.compiled)


BUDGET = CompileBudget()


def require_address_space() -> None:
    """Raise a MemoryError if the limit on address space is too low to load numba and SciPy.

    Otherwise OpenBLAS, which finds no memory for its buffers, tries again forever.
    """
    if sys.platform != "win32":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if 0 <= limit < LEAST_ADDRESS_SPACE:
            raise MemoryError(
                f"compiled code needs {LEAST_ADDRESS_SPACE >> 20} MB of address space, and the "
                f"limit is {limit >> 20} MB: raise it with ulimit -v"
            )


def kernel_files(package: Path) -> list[Path]:
    """The package's files with kernels, and the modules of the package that these import."""
    sources = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    kernels = [path for path, text in sources.items() if KERNEL.search(text)]
    modules = {name for path in kernels for name in IMPORT.findall(sources[path])}
    imported = (package.parent / Path(*name.split(".")).with_suffix(".py") for name in modules)
    return sorted({*kernels, *(path for path in imported if path in sources)})


def kernel_digest(package: Path) -> str:
    """A digest of all that compiled kernels depend on."""
    digest = hashlib.blake2b(digest_size=10)
    for path in kernel_files(package):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def cache_folder() -> Path | None:
    """The folder for machine code of these sources; None, with a warning, if there is none.

    numba writes to the folder that it reads from. So a folder that is there but read-only, as in a
    container, is copied to the first that can be written.
    """
    digest = kernel_digest(PACKAGE)
    read_only: Path | None = None
    for parent in cache_parents():
        folder = parent / digest
        try:
            new = not folder.is_dir()
            if new and read_only:
                copy_cache(read_only, folder)
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            if read_only is None and folder.is_dir():
                read_only = folder
            continue
        if new:
            remove_stale(parent, digest)
        return folder
    warn(
        "no folder for compiled code can be written, so every process compiles it again; "
        "set NUMBA_CACHE_DIR to a writable folder",
        CacheWarning,
    )
    return None


def copy_cache(source: Path, target: Path) -> None:
    """Copy machine code in one step: another process may be about to use it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        copied = shutil.copytree(source, Path(unfinished) / target.name)
        with suppress(OSError):  # another process has copied it meanwhile
            copied.rename(target)


def cache_parents() -> Iterator[Path]:
    """Folders that may hold machine code, best first."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen) / "deltavec"
    yield PACKAGE / "__pycache__" / "kernels"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    yield Path(home) / "deltavec" / "kernels"
    if (private := private_temporary_folder()) is not None:
        yield private


def private_temporary_folder() -> Path | None:
    """A folder in the temporary directory that no other user can write to, or None."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        folder = Path(tempfile.gettempdir()) / f"deltavec-kernels-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
    return folder if private and found.st_uid in (user, 0) else None


def remove_stale(parent: Path, digest: str) -> None:
    """Delete the machine code of other sources; in a folder that installs share, only if old."""
    for folder in parent.iterdir():
        if folder.name == digest or not re.fullmatch("[0-9a-f]{20}", folder.name):
            continue
        if PACKAGE in parent.parents or time.time() - folder.stat().st_mtime > STALE_AFTER:
            shutil.rmtree(folder, ignore_errors=True)
