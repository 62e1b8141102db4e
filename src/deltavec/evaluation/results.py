"""What an experiment found, as data: one row per problem, one score per method."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from deltavec.errors import InputError

PACKAGES = ("deltavec", "gensim", "numba", "numpy", "pyarrow", "scikit-learn", "scipy")


class Lengths(NamedTuple):
    """How many words the documents of a problem hold."""

    shortest: int
    mean: float
    longest: int


class WeightCurve(NamedTuple):
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

    def as_json(self) -> str:
        """The results as text; `from_json` reads them back."""
        content = asdict(self)
        for problem, record in zip(self.problems, content["problems"], strict=True):
            record["lengths"] = problem.lengths and problem.lengths._asdict()
        content["curve"] = self.curve and self.curve._asdict()
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Results:
        """The results that `as_json` wrote."""
        try:
            content = json.loads(text)
            problems = tuple(
                Problem(
                    record["name"],
                    record["scores"],
                    record["lengths"] and Lengths(**record["lengths"]),
                    record["details"],
                )
                for record in content.pop("problems")
            )
            curve = content.pop("curve")
            return cls(problems=problems, curve=curve and WeightCurve(**curve), **content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"these are no results that deltavec wrote: {error!r}") from None


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    found = {"python": platform.python_version(), "cores": str(os.cpu_count())}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a tree that was never installed
            found[name] = "unknown"
    return found


def write_results(results: Results, folder: Path) -> None:
    """Write ``results.json`` whole: under another name first, then renamed."""
    path = folder / "results.json"
    fresh = path.with_suffix(".json.new")
    fresh.write_text(results.as_json() + "\n", encoding="utf-8")
    fresh.replace(path)
