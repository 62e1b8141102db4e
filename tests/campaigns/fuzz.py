"""Readers under mutated files, many thousand times, each try in a process that may die.

A child process does the tries and says the number of each before it begins; whoever watches it
knows which one it died of, or hung in, and starts another behind it. A try fails by a crash, by
taking more than `LONGEST` seconds of the processor (or so long that nothing else explains it), or
by any exception that is not deltavec's own.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

LONGEST = 60.0  # seconds; a page of Parquet may claim 2 GB, which takes a while to lay out
WAITING = 600.0  # seconds of the clock: who waits for nothing uses no processor
FIRST = 600.0  # before the first try: it compiles
ADDRESS_SPACE = 8 << 30
CHILD = 25_000  # tries of one process


@dataclass
class Outcome:
    """How a campaign went."""

    reader: str
    seed: int
    tries: int = 0
    read: int = 0
    refused: int = 0
    crashes: int = 0
    hangs: int = 0
    tracebacks: int = 0
    seconds: float = 0.0
    most_memory_mb: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many tries failed."""
        return self.crashes + self.hangs + self.tracebacks


def files_in(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their names in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def put(folder: Path, files: dict[str, bytes], before: dict[str, bytes]) -> None:
    """Make a folder hold these files, where it held others; those that are mapped stay whole."""
    for name in before.keys() | files.keys():
        if before.get(name) != files.get(name):
            path = folder / name
            path.unlink(missing_ok=True)
            if name in files:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[name])
            elif path.parent != folder:
                with suppress(OSError):  # others are in it
                    path.parent.rmdir()


def child(name: str, seed: int, first: int, last: int, folder: Path) -> None:
    """Do the tries of these numbers; what came of each goes to stdout."""
    from campaigns.readers import READERS
    from deltavec.errors import DeltavecError

    warnings.simplefilter("ignore")
    reader = READERS[name]
    say = sys.stdout.write
    sound = files_in(folder / "sound")
    here = folder / "try"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    put(here, sound, {})
    reader.read(here, Random(0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    held = sound
    for number in range(first, last):
        rng = Random(f"{name}/{seed}/{number}")
        files = reader.mutated(dict(sound), rng)
        put(here, files, held)
        held = files
        say(f"begin {number}\n")
        sys.stdout.flush()
        try:
            reader.read(here, rng)
            say("read\n")
        except DeltavecError:
            say("refused\n")
        except Exception as error:
            kind = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            where = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in where if "deltavec" in frame.filename] or where
            say(f"fail {kind} at {Path(ours[-1].filename).name}:{ours[-1].lineno}\n")
        if number % 100 == 99 or number == last - 1:
            say(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}\n")
    say("done\n")
    sys.stdout.flush()


class Watched:
    """A child at work, and what it says, line by line."""

    def __init__(self, name: str, seed: int, first: int, last: int, folder: Path) -> None:
        command = [sys.executable, __file__, name, str(seed), str(first), str(last), str(folder)]
        quiet = {**os.environ, "OMP_NUM_THREADS": "1", "DELTAVEC_TRACEBACK": ""}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=quiet
        )
        self.rest = b""
        self.lines: list[str] = []

    def line(self, patience: float) -> str | None:
        """The next line; None if the child is dead, "" if it works for so long and says nothing."""
        assert self.process.stdout is not None
        while not self.lines:
            begin, used = time.monotonic(), self.worked()
            while not select.select([self.process.stdout], [], [], 1.0)[0]:
                if self.worked() - used > patience or time.monotonic() - begin > WAITING:
                    return ""
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            *whole, self.rest = (self.rest + data).split(b"\n")
            self.lines += [line.decode("utf-8", "replace") for line in whole]
        return self.lines.pop(0)

    def worked(self) -> float:
        """The seconds of the processor that the child has had; others on the machine take none."""
        with suppress(OSError, IndexError):  # it is dead
            after = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
            return (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def end(self) -> int:
        """Its exit code, once it has ended."""
        self.process.kill()
        if self.process.stdout:
            self.process.stdout.close()
        return self.process.wait()


def campaign(
    name: str, tries: int, seed: int, keep: Path | None = None, until: float = float("inf")
) -> Outcome:
    """So many tries of a reader, or as many as there is time for.

    Parameters
    ----------
    name
        The reader, a key of `campaigns.readers.READERS`.
    tries, seed
        How many, and what they follow from.
    keep
        Where the files of failed tries go.
    until
        When to stop, in seconds of `time.monotonic`.
    """
    from campaigns.readers import READERS

    outcome, begin = Outcome(name, seed), time.monotonic()
    room = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=room) as scratch:
        folder = Path(scratch)
        (folder / "sound").mkdir()
        READERS[name].make(folder / "sound")
        number = 0
        while number < tries and time.monotonic() < until:
            last = min(tries, number + CHILD)
            number = watched(
                outcome, Watched(name, seed, number, last, folder), folder, keep, until
            )
    outcome.seconds = round(time.monotonic() - begin, 1)
    return outcome


def watched(outcome: Outcome, work: Watched, folder: Path, keep: Path | None, until: float) -> int:
    """Count what a child says until it is done, dead or late; the number of the next try."""
    number, patience, dying = -1, FIRST, "before its first try"
    while True:
        line = work.line(patience)
        if line is None or line == "":
            code = work.end()
            if number < 0:
                raise RuntimeError(f"{outcome.reader}: the child ended {dying}, code {code}")
            outcome.tries += 1
            outcome.crashes += line is None
            outcome.hangs += line == ""
            note(outcome, number, f"crash {code}" if line is None else "hang", folder, keep)
            return number + 1
        word, _, rest = line.partition(" ")
        if word == "begin":
            number, patience = int(rest), LONGEST
            if time.monotonic() > until:
                work.end()
                return number
        elif word == "done":
            work.end()
            return number + 1
        elif word == "memory":
            outcome.most_memory_mb = max(outcome.most_memory_mb, int(rest))
        else:
            outcome.tries += 1
            outcome.read += word == "read"
            outcome.refused += word == "refused"
            if word == "fail":
                outcome.tracebacks += 1
                note(outcome, number, rest, folder, keep)


def note(outcome: Outcome, number: int, what: str, folder: Path, keep: Path | None) -> None:
    """Remember a failed try; the number says how to make its files again."""
    outcome.failures.append(f"{outcome.reader}/{outcome.seed}/{number}: {what}")
    if keep is not None:
        from campaigns.readers import READERS

        name = f"{outcome.reader}-{outcome.seed}-{number}"
        rng = Random(f"{outcome.reader}/{outcome.seed}/{number}")
        put(keep / name, READERS[outcome.reader].mutated(files_in(folder / "sound"), rng), {})


def summary(outcome: Outcome) -> dict[str, Any]:
    """What is worth keeping of a campaign."""
    kinds = Counter(failure.partition(": ")[2] for failure in outcome.failures)
    return {**asdict(outcome), "failures": [f"{n} x {kind}" for kind, n in kinds.most_common(50)]}


if __name__ == "__main__":
    if len(sys.argv) == 6:
        child(sys.argv[1], *map(int, sys.argv[2:5]), Path(sys.argv[5]))
    else:
        done = campaign(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path("failures"))
        sys.stdout.write(json.dumps(summary(done), indent=2) + "\n")
