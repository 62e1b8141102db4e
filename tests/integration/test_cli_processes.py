"""What only a process of its own shows: pipes, signals, terminals, and how soon help is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import deltavec as dv
from support.processes import Process
from support.typed import Deltavec, command, reviews, wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of Unix")


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'numba', 'pyarrow', 'rich', 'scipy', 'gensim'}"
    check = f"import sys, deltavec.cli.application; print(*{heavy} & {{*sys.modules}})"
    imported = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert imported.stdout.split() == []


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fit", "--help"], ["fot"]])
def test_the_module_is_the_program(arguments: list[str]) -> None:
    program = Path(sys.executable).with_name("deltavec")
    if not program.exists():
        pytest.skip("the program is not beside this Python")
    said = [
        subprocess.run(begun + arguments, capture_output=True, check=False, env=os.environ)
        for begun in ([str(program)], [sys.executable, "-m", "deltavec"])
    ]
    assert said[0].stdout + said[0].stderr != b""
    assert (said[0].returncode, said[0].stdout, said[0].stderr) == (
        said[1].returncode,
        said[1].stdout,
        said[1].stderr,
    )


def test_a_corpus_through_a_pipe_gives_the_same_model(
    small: Path, tmp_path: Path, process: Deltavec
) -> None:
    expected = dv.load(small / "reviews.dv").fingerprint
    arguments = ("--vectors", small / "reviews.vec", "-o", tmp_path / "m.dv", "--json")
    lines = "\n".join(reviews()).encode()
    assert process("fit", "-", *arguments, stdin=lines).json["fingerprint"] == expected
    rows = (small / "reviews.csv").read_bytes()
    done = process("fit", "-", "--format", "csv", *arguments, stdin=rows)
    assert done.json["fingerprint"] == expected
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.dv"]


def test_a_reader_that_has_enough_is_left_in_peace(small: Path) -> None:
    # More than a pipe holds, so that writing meets the closed end.
    text = " ".join(f"word{number}" for number in range(9_000))
    arguments = command("explain", small / "reviews.dv", text, text, "--json")
    # Without a buffer Python passes over a write that is cut short, and nobody notices.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Process(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 0  # `deltavec search ... | head` is no failure under pipefail


def test_a_query_is_utf_8_where_the_locale_is_not(small: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        command("explain", small / "reviews.dv", "crème", "café", "--json"),
        env={**os.environ, **ascii_only},
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert (found["unknown_a"], found["unknown_b"]) == (["crème"], ["café"])


@pytest.mark.parametrize("which", [["café"], ["--filter", "id == 'café'"]])
def test_what_to_remove_is_utf_8_where_the_locale_is_not(
    small: Path, tmp_path: Path, which: list[str]
) -> None:
    table = pa.table({"id": ["café", "cafe"], "text": ["a quiet room", "a loud street"]})
    model = dv.load(small / "reviews.dv")
    dv.build_collection(model, table, tmp_path / "c.idx", id_column="id")
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    subprocess.run(
        command("index", "remove", tmp_path / "c.idx", *which),
        env={**os.environ, **ascii_only},
        check=True,
    )
    assert dv.open_collection(tmp_path / "c.idx").ids.to_pylist() == ["cafe"]


def test_an_interrupt_is_one_line_and_leaves_nothing_behind(small: Path, tmp_path: Path) -> None:
    arguments = command("vectors", "train", "-", "-o", tmp_path / "v.vec")
    with Process(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as running:
        assert running.stdin is not None
        wait_for(lambda: any(tmp_path.glob("*/*")), running)  # reading standard input has begun
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate()
    assert running.returncode == 130
    assert stdout == b""
    assert stderr == b"deltavec: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that is always full")
@pytest.mark.parametrize("how", ["--json", "--words=3"])
def test_a_full_disk_is_one_line(how: str, small: Path) -> None:
    arguments = command("explain", small / "reviews.dv", "a quiet bay", "loud", how)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"deltavec: no space left on device\n"


def on_a_terminal(*arguments: object, columns: int = 80) -> tuple[str, str]:
    """What a command writes to stdout, and what to a terminal that is its stderr."""
    import pty

    screen, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    with Process(
        command(*arguments), stdout=subprocess.PIPE, stderr=terminal, env=environment
    ) as running:
        os.close(terminal)
        seen = b""
        while True:
            try:
                piece = os.read(screen, 65_536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not piece:
                break
            seen += piece
        os.close(screen)
        assert running.stdout is not None
        stdout = running.stdout.read().decode()
        assert running.wait() == 0
    return stdout, seen.decode()


def test_progress_is_shown_on_a_terminal_and_only_there(
    small: Path, tmp_path: Path, process: Deltavec
) -> None:
    arguments = ("fit", small / "reviews.csv", "-v", small / "reviews.vec", "-o", tmp_path / "m.dv")
    stdout, screen = on_a_terminal(*arguments, "--json")
    assert json.loads(stdout)["documents"] == 72
    assert "counting words" in screen
    assert "documents/s" in screen
    assert process(*arguments).stderr == ""


def test_a_process_says_what_is_wrong_in_one_line(tmp_path: Path, process: Deltavec) -> None:
    assert "no such file" in process("fit", tmp_path / "no.csv", "-o", tmp_path / "m.dv").error
    assert process("fit").code == 2


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("deltavec vec", ["vectors"]),
        ("deltavec fit reviews.csv --recipe idf-d", ["idf-delta", "idf-delta-pca"]),
        ("deltavec fit reviews.csv --tokenizer w", ["words", "whitespace"]),
    ],
)
def test_the_shell_completes(typed: str, completed: list[str], process: Deltavec) -> None:
    done = process(
        _DELTAVEC_COMPLETE="complete_bash",
        COMP_WORDS=typed,
        COMP_CWORD=str(len(typed.split()) - 1),
    )
    assert done.stdout.split() == completed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_words_of_any_script_reach_any_output(
    encoding: str, small: Path, process: Deltavec
) -> None:
    done = process("explain", small / "reviews.dv", "bay Привет", "bay", PYTHONIOENCODING=encoding)
    assert done.code == 0


def test_an_embedding_that_was_killed_goes_on_and_gives_the_same_file(
    small: Path, tmp_path: Path, process: Deltavec
) -> None:
    corpus = tmp_path / "many.txt"
    corpus.write_text("\n".join(reviews() * 6_000))
    whole, again = tmp_path / "whole.parquet", tmp_path / "again.parquet"
    arguments = ("embed", small / "reviews.dv", corpus, "-o")
    with Process(command(*arguments, again)) as running:
        partial = tmp_path / "again.parquet.partial"
        wait_for(lambda: any(partial.glob("part-*")), running)
        running.kill()
    assert not again.exists()
    resumed = process(*arguments, again, "--json").json
    assert 0 < resumed["resumed_documents"] < resumed["documents"] == 72 * 6_000
    assert process(*arguments, whole).code == 0
    assert again.read_bytes() == whole.read_bytes()
    assert not partial.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as Linux does")
@pytest.mark.parametrize("megabytes", [512, 704, 800])
def test_a_fit_in_too_little_memory_says_so_and_ends(tmp_path: Path, megabytes: int) -> None:
    import resource

    (tmp_path / "a.txt").write_text("a quiet room by the sea\n" * 20_000)
    most = megabytes << 20
    done = subprocess.run(
        [sys.executable, "-m", "deltavec", "fit", "a.txt", "-o", "m.dv"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )  # fmt: skip
    assert done.returncode == 1
    assert "out of memory" in done.stderr
    assert not (tmp_path / "m.dv").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as Linux does")
def test_a_gigabyte_is_enough_to_fit_build_and_search(tmp_path: Path) -> None:
    import resource

    words = [f"word{number % 997} other{number % 89}" for number in range(20_000)]
    (tmp_path / "a.txt").write_text("\n".join(f"{word} quiet room" for word in words))
    for arguments in (
        ("fit", "a.txt", "-o", "m.dv"),
        ("index", "build", "m.dv", "a.txt", "-o", "m.idx"),
        ("search", "m.idx", "word7"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "deltavec", *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
