"""Kernels are compiled when they are called; machine code belongs to one state of the sources."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from deltavec.core import jit
from deltavec.core.fitting import fit
from deltavec.core.jit import BUDGET, COMPILER_COST, CompileBudget, LazyKernel
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CacheWarning, InputError

MODULE = """
from deltavec.core.jit import compiled

@compiled
def twice(number):
    "Two times the number."
    return 2 * number

@compiled
def odd(number):
    return twice(number) + 1
"""
BUDGETED = """
import sys
from deltavec.core.jit import COMPILER_COST, BUDGET
import deltavec as dv
vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
assert "numba" not in sys.modules
assert BUDGET.allows(COMPILER_COST - 1) and not BUDGET.allows(2) and BUDGET.allows(1)
BUDGET.load_compiler()
assert "numba" in sys.modules
assert not BUDGET.allows(0)
"""
CALLER = """
from deltavec.callee import add
from deltavec.core.jit import compiled

@compiled
def result(number):
    return add(number)
"""
CALLEE = """
from deltavec.core.jit import compiled

@compiled
def add(number):
    return number + {amount}
"""


def test_the_first_call_puts_what_was_compiled_in_place_of_all_kernels(tmp_path: Path) -> None:
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(MODULE)
    described = importlib.util.spec_from_file_location("kernels_of_a_test", path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    odd, twice = module.odd, module.twice
    assert isinstance(odd, LazyKernel)
    assert twice.__doc__ == "Two times the number."
    assert odd(3) == 7
    assert not isinstance(module.odd, LazyKernel)
    assert not isinstance(module.twice, LazyKernel)
    assert twice(4) == 8  # whoever has the old one may call it
    assert twice.compiled() is module.twice


def test_the_budget_ends_when_the_work_has_cost_as_much_as_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", BUDGETED], capture_output=True, text=True)
    assert done.stderr == ""


def test_numba_imported_by_somebody_else_changes_nothing() -> None:
    budget = CompileBudget()
    assert "numba" in sys.modules
    assert budget.allows(COMPILER_COST)
    assert not budget.allows(1)
    budget.load_compiler()
    assert not budget.allows(0)


def test_the_compiler_is_loaded_in_the_background_if_there_is_enough_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget, loaded = CompileBudget(), threading.Event()
    monkeypatch.setattr(budget, "load_compiler", loaded.set)
    budget.preload(COMPILER_COST)
    assert not loaded.is_set()
    budget.preload(COMPILER_COST + 1)
    assert loaded.wait(60)
    loaded.clear()
    budget.loaded = True
    budget.preload(COMPILER_COST + 1)
    assert not loaded.is_set()


def run_copy(package: Path, code: str, **environment: str) -> str:
    """What a program prints that imports a copy of the package."""
    variables = {**os.environ, "PYTHONPATH": str(package.parent), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=variables, check=True
    )
    return done.stdout + done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with two kernels in two files, one of which calls the other."""
    copy = tmp_path / "deltavec"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(jit.PACKAGE, copy, ignore=ignored)
    (copy / "caller.py").write_text(CALLER)
    (copy / "callee.py").write_text(CALLEE.format(amount=1))
    return copy


@pytest.mark.compiled
def test_a_caller_follows_a_change_of_the_kernel_that_it_calls(package: Path) -> None:
    call = "from deltavec.caller import result; print(result(40))"
    folder = package / "__pycache__" / "kernels"
    assert run_copy(package, call, NUMBA_CACHE_DIR="") == "41\n"
    first = [path.name for path in folder.iterdir()]
    assert len(list(folder.rglob("caller.result*.nbc"))) == 1
    (package / "callee.py").write_text(CALLEE.format(amount=2))
    assert run_copy(package, call, NUMBA_CACHE_DIR="") == "42\n"
    second = [path.name for path in folder.iterdir()]
    assert len(first) == len(second) == 1
    assert first != second


@pytest.mark.compiled
def test_code_that_cannot_be_kept_is_compiled_all_the_same(package: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    code = """
import tempfile
from deltavec.core import jit
jit.cache_parents = lambda: iter([jit.Path(PATH)])
from deltavec.caller import result
print(result(1))
""".replace("PATH", repr(str(blocked)))
    printed = run_copy(package, code)
    assert printed.startswith("2\n")
    assert "set NUMBA_CACHE_DIR to a writable folder" in printed


def test_a_folder_that_others_can_write_to_is_no_place_for_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = jit.private_temporary_folder()
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert jit.private_temporary_folder() is None


def test_only_old_code_of_other_sources_is_removed_from_a_shared_cache(tmp_path: Path) -> None:
    mine, recent, old = ("0" * 20, "1" * 20, "2" * 20)
    for name in (mine, recent, old, "notes"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / old, (0, 0))
    jit.remove_stale(tmp_path, mine)
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine, recent, "notes"]


def test_a_vocabulary_is_a_dictionary_before_the_compiler_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BUDGET, "loaded", False)
    vocabulary = Vocabulary.of(["the", "room"])
    assert vocabulary.ids(["room", "pool", "the"]).tolist() == [1, -1, 0]
    assert "table" not in vocabulary.__dict__
    with pytest.raises(InputError, match="distinct, got 'the' twice"):
        Vocabulary.of(["the", "room", "the"])


def test_a_few_documents_go_by_it_as_long_as_that_is_less_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = fit(["sea room", "room"], WordVectors(["sea", "room"], [[1, 0], [0, 1]]), "idf-sum")
    by_kernels = model.embed_and_count(["Sea, and a room", ""])
    monkeypatch.setattr(BUDGET, "loaded", False)
    paid = BUDGET.spent
    without = model.embed_and_count(["Sea, and a room", ""])
    assert BUDGET.spent > paid
    assert without.vectors.tobytes() == by_kernels.vectors.tobytes()
    assert without.counts == by_kernels.counts


def test_a_folder_that_cannot_be_written_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(
        jit, "cache_parents", lambda: iter([tmp_path / "file", tmp_path / "folder"])
    )
    folder = jit.cache_folder.__wrapped__()
    assert folder == tmp_path / "folder" / jit.kernel_digest(jit.PACKAGE)
    assert folder.is_dir()
    assert jit.cache_folder.__wrapped__() == folder  # once it is there, nothing is swept


def test_without_any_folder_a_warning_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(jit, "cache_parents", lambda: iter([tmp_path / "file"]))
    with pytest.warns(CacheWarning, match="set NUMBA_CACHE_DIR"):
        assert jit.cache_folder.__wrapped__() is None


def test_the_folder_that_the_environment_names_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    parents = list(jit.cache_parents())
    assert parents[0] == tmp_path / "deltavec"
    assert len(parents) == 3  # there is no temporary folder here
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert list(jit.cache_parents())[-1].parent == tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="limits of Unix")
def test_too_little_address_space_is_a_memory_error_and_not_a_wait_without_end(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (700 << 20, -1))
    with pytest.raises(MemoryError, match="needs 896 MB of address space, and the limit is 700"):
        CompileBudget().load_compiler()
    CompileBudget().preload(COMPILER_COST + 1)  # a thread that says nothing
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (-1, -1))
    CompileBudget().load_compiler()


def test_machine_code_that_is_read_only_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, digest = tmp_path / "image", jit.kernel_digest(jit.PACKAGE)
    (source / digest).mkdir(parents=True)
    (source / digest / "kernel.nbc").write_bytes(b"code")
    writable = tempfile.TemporaryFile

    def temporary_file(dir: Path) -> object:
        if source in dir.parents:
            raise PermissionError
        return writable(dir=dir)

    monkeypatch.setattr(jit.tempfile, "TemporaryFile", temporary_file)
    monkeypatch.setattr(jit, "cache_parents", lambda: iter([source, tmp_path / "own"]))
    folder = jit.cache_folder.__wrapped__()
    assert folder == tmp_path / "own" / digest
    assert (folder / "kernel.nbc").read_bytes() == b"code"
    jit.copy_cache(source / digest, folder)  # another process was faster
    assert [entry.name for entry in (tmp_path / "own").iterdir()] == [digest]


def test_only_our_own_kernels_are_counted() -> None:
    budget, told = CompileBudget(), list[int]()
    for function in (LazyKernel.compiled, Path.exists):
        data = {"dispatcher": SimpleNamespace(py_func=function)}
        budget._count(SimpleNamespace(data=data))
        budget.on_compile = told.append
    assert budget.compiled == 1
    assert told == [1]


@pytest.mark.compiled
def test_kernels_are_counted_as_they_are_compiled(package: Path) -> None:
    code = """
from deltavec.core.jit import BUDGET
BUDGET.on_compile = lambda kernels: print("compiling", kernels)
from deltavec.caller import result
print(result(40), BUDGET.compiled)
"""
    assert run_copy(package, code, NUMBA_CACHE_DIR="").endswith("compiling 2\n41 2\n")
    assert run_copy(package, code, NUMBA_CACHE_DIR="") == "41 0\n"
