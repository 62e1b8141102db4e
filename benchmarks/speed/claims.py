"""What must show: each ratio with its target, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from speed.sweeps import scaling
from speed.timing import million_per_second

Results = Mapping[str, Any]
Reading = Callable[[Results], float | None]


class Claim(NamedTuple):
    """One thing that must show.

    Attributes
    ----------
    what : str
        In words.
    section : str
        The section of the results it is read from.
    read : callable
        Its value in the results; None where it was not measured.
    least, most : float
        Between which it holds.
    unit : str
        What the value is in: ``x`` for a ratio, ``%`` for a share, ``s`` for seconds.
    """

    what: str
    section: str
    read: Reading
    least: float
    most: float
    unit: str

    def holds(self, value: float) -> bool:
        """Whether a measured value is as it must be."""
        return self.least <= value <= self.most

    @property
    def target(self) -> str:
        """What the value must be, in words."""
        if self.most == UNBOUNDED:
            return f"at least {shown(self.least, self.unit)}"
        if self.least == 0:
            return f"at most {shown(self.most, self.unit)}"
        return f"{shown(self.least, self.unit)} to {shown(self.most, self.unit)}"


UNBOUNDED = float("inf")


def shown(value: float, unit: str) -> str:
    """A value in its unit."""
    if unit == "%":
        return f"{100 * value:.0f} %"
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def rate_of(results: Results, name: str) -> float | None:
    """The rate of a row of the comparison; None if it is not there."""
    rows = results.get("peers", {}).get("rates", ())
    return next((row["million_words_per_second"] for row in rows if row["name"] == name), None)


def ours(results: Results, kind: str = "deltavec", dimensions: int = 100) -> float | None:
    """Our rate with all cores."""
    rows = results.get("peers", {}).get("rates", ())
    found = [row for row in rows if row["name"].startswith(f"{kind}, {dimensions} dimensions")]
    best = max(found, key=lambda row: row["threads"], default=None)
    return best["million_words_per_second"] if best else None


def times(peer: str, kind: str = "deltavec", dimensions: int = 100) -> Reading:
    """How many times the rate of a peer."""

    def read(results: Results) -> float | None:
        return quotient(ours(results, kind, dimensions), rate_of(results, peer))

    return read


def quotient(value: float | None, by: float | None) -> float | None:
    """One measured value over another; None where either was not measured."""
    return None if value is None or not by else value / by


def share_of_bound(dimensions: int, threads: int, length: int | None = None) -> Reading:
    """Ours as a share of the bound, on documents as they are or of so many words each."""

    def read(results: Results) -> float | None:
        return next(
            (
                roof["share_of_bound"]
                for roof in results.get("roofline", {}).get("rooflines", ())
                if (roof["dimensions"], roof["threads"], roof.get("length"))
                == (dimensions, threads, length)
            ),
            None,
        )

    return read


def two_threads(results: Results) -> float | None:
    """How many times the rate of one thread two reach."""
    return scaling(results.get("threads", {}).get("points", []), 100, 2)


def at(section: str, key: str, value: str) -> Reading:
    """The rate of a section's point with this value and the most threads."""

    def read(results: Results) -> float | None:
        points = [
            place for place in results.get(section, {}).get("points", ()) if place[key] == value
        ]
        best = max(points, key=lambda place: place["threads"], default=None)
        return best["million_words_per_second"] if best else None

    return read


def ratio(upper: Reading, lower: Reading) -> Reading:
    """One reading over another."""
    return lambda results: quotient(upper(results), lower(results))


def file_to_file(results: Results) -> float | None:
    """The rate from file to file between the two largest corpora, over the rate in memory.

    Start-up is in the time of both, so it drops out.
    """
    section = results.get("growth")
    if section is None or len(section["points"]) < 2:
        return None
    less, more = section["points"][-2:]
    seconds = more["median_seconds"] - less["median_seconds"]
    if seconds <= 0:
        return None
    rate = million_per_second(more["words"] - less["words"], seconds)
    return quotient(rate, section["in_memory_million_words_per_second"])


def memory_growth(results: Results) -> float | None:
    """Peak memory of the largest corpus over that of 100,000 documents."""
    points = results.get("growth", {}).get("points", ())
    peaks = {place["documents"]: place["peak_megabytes"] for place in points}
    return quotient(peaks[max(peaks)], peaks.get(100_000)) if peaks else None


def cold(key: str) -> Reading:
    """Seconds of a cold start."""
    return lambda results: results.get("cold", {}).get(key, {}).get("median_seconds")


LIST = "deltavec, list of strings"
REGEX, TFIDF = "regex + dict + scipy", "scikit-learn TfidfVectorizer"
POTION, MINILM = "model2vec potion-base-8M", "sentence-transformers MiniLM"

CLAIMS = (
    Claim(f"embed, over {REGEX}", "peers", times(REGEX), 12, UNBOUNDED, "x"),
    Claim(
        f"embed a list of strings, over {REGEX}", "peers", times(REGEX, LIST), 12, UNBOUNDED, "x"
    ),
    Claim(f"embed, over {TFIDF}.transform", "peers", times(TFIDF), 12, UNBOUNDED, "x"),
    Claim(f"embed, over {POTION}", "peers", times(POTION), 50, UNBOUNDED, "x"),
    Claim(f"embed, over {MINILM}", "peers", times(MINILM), 1000, UNBOUNDED, "x"),
    Claim("share of the bound", "roofline", share_of_bound(100, 2), 0.8, UNBOUNDED, "%"),
    Claim(
        "share of the bound, documents of ten words, 300 dimensions",
        "roofline",
        share_of_bound(300, 2, 10),
        0.7,
        UNBOUNDED,
        "%",
    ),
    Claim("2 threads, over 1 thread", "threads", two_threads, 1.8, UNBOUNDED, "x"),
    Claim(
        "half non-ASCII text, over ASCII text",
        "scripts",
        ratio(at("scripts", "text", "half non-ASCII"), at("scripts", "text", "as it is")),
        0.5,
        UNBOUNDED,
        "x",
    ),
    Claim(
        "time of fit's counting pass, over the embedding pass",
        "fit",
        ratio(at("fit", "pass", "embed"), at("fit", "pass", "count")),
        0,
        1.3,
        "x",
    ),
    Claim(
        "speed of training ppmi, 300 dimensions, over gensim word2vec",
        "training",
        lambda results: results.get("training", {}).get("times_faster_than_word2vec"),
        5,
        UNBOUNDED,
        "x",
    ),
    Claim(
        "`deltavec embed`, Parquet to Parquet, over in memory",
        "growth",
        file_to_file,
        0.75,
        UNBOUNDED,
        "%",
    ),
    Claim(
        "peak memory of the largest corpus, over that of 100,000 documents",
        "growth",
        memory_growth,
        0,
        1.15,
        "x",
    ),
    Claim(
        "exponent of time against documents",
        "growth",
        lambda results: results.get("growth", {}).get("exponent"),
        0.95,
        1.05,
        "",
    ),
    Claim("`import deltavec`", "cold", cold("import"), 0, 0.15, "s"),
    Claim(
        "first embed, nothing compiled yet",
        "cold",
        cold("first_embed_with_an_empty_cache"),
        0,
        10,
        "s",
    ),
    Claim("embed in a second process", "cold", cold("second_process"), 0, 1.5, "s"),
)
