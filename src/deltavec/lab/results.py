"""What an experiment found, as data: one row per problem, one score per method."""

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
    """How many words the documents of a problem hold."""

    shortest: int
    mean: float
    longest: int


@dataclass(frozen=True)
class WeightCurve:
    """The three weights of some words against their share of the corpus, for Figure 1."""

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
        What sets it apart: the number of reviews in a document, or a forum.
    scores : Mapping[str, float]
        The score of each method.
    lengths : Lengths or None
        How long its documents are.
    details : Mapping
        Numbers of documents and pairs, and the seconds that each step took.
    """

    name: str
    scores: Mapping[str, float]
    lengths: Lengths | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """All that an experiment found, and from what.

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
        The weights of the corpus' words.
    complete : bool
        Whether every problem is finished.
    versions : Mapping[str, str]
        Of Python and of the packages that matter.
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
        """The methods that some problem has a score for, in the order of their first one."""
        return list(dict.fromkeys(name for problem in self.problems for name in problem.scores))

    @property
    def seconds(self) -> dict[str, float]:
        """How long each step took, the preparation and all problems together."""
        total = dict(self.data.get("preparation_seconds", {}))
        for problem in self.problems:
            for step, taken in problem.details.get("seconds", {}).items():
                total[step] = total.get(step, 0.0) + taken
        return {step: round(taken, 3) for step, taken in total.items()}

    def as_json(self) -> str:
        """The results as text; `from_json` reads them back."""
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
            raise InputError(f"these are no results that deltavec wrote: {error!r}") from None


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    found = {"python": platform.python_version(), "cores": str(os.cpu_count())}
    return found | {name: installed(name) for name in PACKAGES}


def installed(package: str) -> str:
    """The version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:  # run from a tree that was never installed
        return "unknown"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
