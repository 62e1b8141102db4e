"""Commands killed at every step that changes a folder, and run again: nothing lost, mixed or left.

A command runs in a process of its own, forked from one that has everything loaded and compiled. It
ends itself by SIGKILL before its n-th step (a file opened for writing, renamed, removed, flushed, a
folder made or removed; Python tells of each by its audit events), or is killed from outside at some
moment. What stands at the output then must be what stood there before, or all of the new; and after
the same command has run again, undisturbed, the folder holds the new output and nothing else, and
the folder for temporary files nothing at all.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import deltavec as dv
from deltavec.cli import main

STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "fcntl.flock", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
TEXTS = [
    " ".join(Random(number).choices(["sea", "room", "wind", "quiet", "view", "calm", "bed"], k=9))
    for number in range(400)
]


TEMPORARY = "temporary"


def digest_of(path: Path) -> str:
    """What stands there: a digest of its files, or of nothing."""
    digest = hashlib.sha256()
    for file in sorted([path, *path.rglob("*")]):
        if file.is_file():
            digest.update(f"{file.relative_to(path.parent)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def documents_of(path: Path) -> str:
    """The documents of a collection with their vectors, in whatever order and files they are."""
    collection = dv.open_collection(path)
    texts = collection.documents(list(range(len(collection)))).column("text").to_pylist()
    vectors = [collection.index.vectors[row].tobytes() for row in range(len(collection))]
    rows = sorted(zip(collection.ids.to_pylist(), texts, vectors, strict=True))
    found = [hit.id for hit in collection.search("quiet room", k=5)]
    return hashlib.sha256(repr((rows, found)).encode()).hexdigest()


def strays_in(path: Path) -> list[str]:
    """The files of a collection that its description does not name."""
    description = path / "collection.json"
    if not description.exists():
        return []
    named = description.read_text() + " collection.json model.dv"
    return [file.name for file in path.iterdir() if file.name not in named]


@dataclass(frozen=True)
class Command:
    """A command: its arguments, the output it makes or changes, and what tells its states apart."""

    arguments: tuple[str, ...]
    output: str
    state: Callable[[Path], str] = digest_of


COMMANDS = {
    "fit": Command(("fit", "texts.txt", "-o", "new.dv"), "new.dv"),
    "embed npy": Command(("embed", "model.dv", "texts.txt", "-o", "new.npy"), "new.npy"),
    "embed parquet": Command(
        ("embed", "model.dv", "texts.txt", "-o", "new.parquet"), "new.parquet"
    ),
    "embed folder": Command(("embed", "model.dv", "texts.txt", "-o", "new/"), "new"),
    "index build": Command(("index", "build", "model.dv", "texts.txt", "-o", "new.idx"), "new.idx"),
    "vectors train": Command(
        ("vectors", "train", "texts.txt", "--min-count", "1", "-o", "new.safetensors"),
        "new.safetensors",
    ),
    "vectors train text": Command(
        (
            *("vectors", "train", "texts.txt", "--min-count", "1", "--dimensions", "4"),
            *("-o", "new.txt"),
        ),
        "new.txt",
    ),
    "duplicates": Command(("duplicates", "old.idx", "-o", "pairs.parquet"), "pairs.parquet"),
    "cluster": Command(("cluster", "old.idx", "-n", "3", "-o", "groups.csv"), "groups.csv"),
    "index add": Command(
        ("index", "add", "old.idx", "more.csv", "--update"), "old.idx", documents_of
    ),
    "index remove": Command(
        ("index", "remove", "old.idx", "3", "5", "--missing-ok"), "old.idx", documents_of
    ),
    "index compact": Command(("index", "compact", "old.idx"), "old.idx", documents_of),
}


@dataclass
class Kills:
    """How a campaign of kills went."""

    kills: int = 0
    finished: int = 0  # the call did not come so often: the command ended by itself
    lost: int = 0
    refused: int = 0
    left: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many kills did harm."""
        return self.lost + self.refused + self.left


def prepared(folder: Path) -> None:
    """The inputs of all commands."""
    (folder / "texts.txt").write_text("\n".join(TEXTS))
    (folder / TEMPORARY).mkdir()
    model = dv.fit(TEXTS)
    model.save(folder / "model.dv")
    rows = [f"{number},{text}" for number, text in enumerate(TEXTS)]
    for name, some in (
        ("old", rows[:40]),
        ("few", rows[40:50]),
        ("more", rows[8:12] + rows[50:60]),
    ):
        (folder / f"{name}.csv").write_text("\n".join(["id,text", *some]))
    old = dv.build_collection(
        model, dv.read_corpus(folder / "old.csv"), folder / "old.idx", id_column="id"
    )
    old.add(dv.read_corpus(folder / "few.csv"))  # several files of documents, to be joined


def ran(command: Command, folder: Path, step: int = 0, seconds: float = 0.0) -> int:
    """The exit code of a command, below zero if it was killed before a step or after some time."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        tempfile.tempdir = str(folder / TEMPORARY)
        quiet = os.open(folder.parent / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.argv = ["deltavec", *command.arguments]
        if step:
            dying(step)
        code = 1
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(code)
    if seconds:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def dying(step: int) -> None:
    """Let this process end itself before it changes a folder for the n-th time."""
    left = [step]

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event: str, details: tuple[object, ...]) -> None:
        if event in STEPS or (event == "open" and int(str(details[2] or 0)) & WRITING):
            count()

    flush = os.fsync

    def fsync(handle: int) -> None:
        count()
        flush(handle)

    os.fsync = fsync  # type: ignore[assignment]
    sys.addaudithook(hear)


def campaign(
    kills: int,
    seed: int,
    say: Callable[[str], object] = lambda line: None,
    until: float = 1e300,
    names: Sequence[str] = tuple(COMMANDS),
) -> Kills:
    """So many kills of the commands of these names, at places that follow from the seed."""
    outcome, begin, rng = Kills(), time.monotonic(), Random(seed)
    with tempfile.TemporaryDirectory(prefix="kills-") as scratch:
        sound = Path(scratch) / "sound"
        sound.mkdir()
        prepared(sound)
        here = Path(scratch) / "try"
        expected, lasting = {}, {}
        loaded(fresh(sound, here), names)
        for name in names:
            command = COMMANDS[name]
            before = time.monotonic()
            assert ran(command, fresh(sound, here)) == 0
            lasting[name] = time.monotonic() - before
            expected[name] = command.state(here / command.output)
        while outcome.kills < kills and time.monotonic() < until:
            name = rng.choice(names)
            if rng.random() < 0.7:
                how: tuple[int, float] = rng.randint(1, rng.choice([8, 30])), 0.0
            else:
                how = 0, rng.uniform(0, lasting[name])
            one_kill(outcome, name, how, sound, here, expected[name])
            say(f"{outcome.kills} kills, {outcome.failed} failures")
    outcome.seconds = round(time.monotonic() - begin, 1)
    return outcome


def loaded(folder: Path, names: Sequence[str]) -> None:
    """Load and compile here what these commands need, so that each of their processes has it."""
    before, said = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        for name in names:
            sys.argv = ["deltavec", *COMMANDS[name].arguments]
            with suppress(SystemExit), redirect_stdout(said), redirect_stderr(said):
                main()
    finally:
        os.chdir(before)


def fresh(sound: Path, folder: Path) -> Path:
    """A folder with the inputs and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound, folder)
    return folder


def one_kill(
    outcome: Kills,
    name: str,
    how: tuple[int, float],
    sound: Path,
    folder: Path,
    expected: str,
) -> None:
    """Kill a command, look at what stands there, run it again, and look once more."""
    command = COMMANDS[name]
    here = fresh(sound, folder)
    before = command.state(here / command.output)
    if ran(command, here, *how) >= 0:
        outcome.finished += 1
        return
    outcome.kills += 1
    what = f"{name}, step {how[0]}" if how[0] else f"{name}, after {how[1]:.3f} s"
    if command.state(here / command.output) not in (before, expected):
        outcome.lost += 1
        outcome.failures.append(f"{what}: half an output")
    if ran(command, here) != 0:
        outcome.refused += 1
        said = (here.parent / "said").read_text(errors="replace")
        outcome.failures.append(f"{what}: {said.strip()[-200:]}")
        return
    if command.state(here / command.output) != expected:
        outcome.lost += 1
        outcome.failures.append(f"{what}: another output than without the kill")
    known = {command.output, *(path.name for path in sound.iterdir())}
    extra = [path.name for path in here.iterdir() if path.name not in known]
    extra += [path.name for path in (here / TEMPORARY).iterdir()]
    extra += strays_in(here / command.output)
    if extra:
        outcome.left += 1
        outcome.failures.append(f"{what}: left {sorted(extra)}")
