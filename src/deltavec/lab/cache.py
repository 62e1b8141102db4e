"""Finished parts of an experiment, kept on disk so that a run that was stopped goes on.

Each part (the columns of one method on one problem) is a JSON file whose name ends in a hash of
all that the part depends on: data, settings, seeds, versions. What was computed from anything else
has another name, and is never read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltavec.core.vectors import WordVectors
from deltavec.io.vectors.load import load_vectors, save_vectors
from deltavec.lab.results import installed, write_whole

# Raised when what is computed changes although the version does not.
FORMAT = 1
OWN_PACKAGES = ("deltavec", "numpy", "scipy")


@dataclass(frozen=True)
class Part:
    """One piece of work, and all that its outcome depends on.

    Attributes
    ----------
    name : str
        What it is, for people: the beginning of the file's name.
    origin : Mapping
        What it depends on, as JSON knows it.
    packages : tuple of str
        The packages whose versions it depends on.
    """

    name: str
    origin: Mapping[str, Any]
    packages: tuple[str, ...] = OWN_PACKAGES

    @property
    def key(self) -> str:
        """A hash of all that the outcome depends on."""
        versions = {package: installed(package) for package in self.packages}
        described = [FORMAT, self.name, self.origin, versions]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Cache:
    """Outcomes in a folder; without one, nothing is kept."""

    folder: Path | None

    def get(self, part: Part) -> dict[str, Any] | None:
        """The outcome of a part, if it is finished."""
        if self.folder is None:
            return None
        try:
            outcome = json.loads(self._path(part, ".json").read_text("utf-8"))
        except (OSError, ValueError):  # not there, or not whole
            return None
        return outcome if isinstance(outcome, dict) else None

    def put(self, part: Part, outcome: Mapping[str, Any]) -> None:
        """Keep the outcome of a part: whole, or not at all."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(part, ".json"), json.dumps(outcome, allow_nan=False))

    def vectors(self, part: Part, train: Callable[[], WordVectors]) -> WordVectors:
        """The word vectors of an earlier run, or else those that training gives now."""
        if self.folder is None:
            return train()
        path = self._path(part, ".safetensors")
        if path.exists():
            return load_vectors(path)
        vectors = train()
        self.folder.mkdir(parents=True, exist_ok=True)
        save_vectors(vectors, path)
        return vectors

    def _path(self, part: Part, suffix: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{part.name}-{part.key}{suffix}"
