"""The results of an experiment: one row per problem, one score per method."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing

PACKAGES = ("deltavec", "gensim", "numba", "numpy", "pyarrow", "scikit-learn", "scipy")


@dataclass(frozen=True)
class Lengths:
    """The number of words in the documents of a problem."""

    shortest: int
    mean: float
    longest: int


@dataclass(frozen=True)
class WeightCurve:
    """The three weights of some words, by their term frequency in the corpus, for Figure 1."""

    term_frequencies: Sequence[float]
    idf: Sequence[float]
    sif: Sequence[float]
    subsampling: Sequence[float]


@dataclass(frozen=True)
class Problem:
    """One row of a table.

    Attributes
    ----------
    name : str
        The number of reviews in a document, or the name of a forum.
    scores : Mapping[str, float]
        The score of each method.
    lengths : Lengths or None
        The lengths of its documents.
    details : Mapping
        Numbers of documents and pairs, and the seconds that each method took.
    """

    name: str
    scores: Mapping[str, float]
    lengths: Lengths | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The results of an experiment, with its data and settings.

    Attributes
    ----------
    experiment : str
        ``reviews``, ``duplicate-questions`` or ``lee``.
    measure : str
        What a score is: ``ROC AUC``, or ``Pearson correlation``.
    problems : tuple of Problem
        The rows that are finished.
    settings : Mapping
        Options and seeds.
    data : Mapping
        Name, hash and size of what was read.
    curve : WeightCurve or None
        The weights of the words of the corpus.
    complete : bool
        Whether every problem is finished.
    versions : Mapping[str, str]
        The versions of Python and of the packages.
    """

    experiment: str
    measure: str
    problems: tuple[Problem, ...]
    settings: Mapping[str, Any]
    data: Mapping[str, Any]
    curve: WeightCurve | None = None
    complete: bool = True
    versions: Mapping[str, str] = field(default_factory=lambda: versions())

    @property
    def methods(self) -> list[str]:
        """The methods that have a score, in the order of their first one."""
        return list(dict.fromkeys(name for problem in self.problems for name in problem.scores))

    def as_json(self) -> str:
        """The results as JSON; `from_json` reads them back."""
        return json.dumps(asdict(self), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Results:
        """The results that `as_json` wrote."""
        try:
            content = json.loads(text)
            for record in content["problems"]:
                record["lengths"] = record["lengths"] and Lengths(**record["lengths"])
            problems = tuple(Problem(**record) for record in content.pop("problems"))
            curve = content.pop("curve")
            return cls(problems=problems, curve=curve and WeightCurve(**curve), **content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"not a results file of deltavec: {error!r}") from None


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    found = {"python": platform.python_version(), "cores": str(os.cpu_count())}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an extra, or a source tree that was never installed
            found[name] = "unknown"
    return found


def write_atomically(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename it."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
