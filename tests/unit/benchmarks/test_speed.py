"""The arithmetic behind `make bench`: rates, bounds, exponents, and what must show."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from speed import report, text
from speed.claims import CLAIMS, Claim, file_to_file, memory_growth
from speed.figures import DRAWN, write_figures
from speed.growth import exponent
from speed.sweeps import scaling
from speed.timing import bound, growth_exponent, interleaved

NO_END = float("inf")


def measured(quick=False):
    return {
        "text": "generated",
        "documents": 10,
        "words": 2000,
        "python": "3.11.7",
        "commit": "abc",
        "quick": quick,
        "versions": {"deltavec": "0.1.0", "torch": None},
        "machine": {
            "system": "Linux", "cores": 4, "cores_used": 2, "memory_gigabytes": 8, "caches": {},
        },
    }  # fmt: skip


def rate(name, value, threads=2, dimensions=100):
    return {
        "name": name, "threads": threads, "dimensions": dimensions, "documents": 10, "words": 2000,
        "seconds": [1.0], "million_words_per_second": value,
    }  # fmt: skip


def results():
    """Results as a run on two cores would give them."""
    points = [(10_000, 2.0, 300.0), (100_000, 3.0, 310.0), (1_000_000, 21.0, 320.0)]
    places = [
        {
            "documents": documents, "words": 200 * documents, "median_seconds": seconds,
            "peak_megabytes": peak, "million_words_per_second": documents / 5000 / seconds,
        }
        for documents, seconds, peak in points
    ]  # fmt: skip
    return {
        "peers": {
            "rates": [
                rate("deltavec, 100 dimensions, 1 thread", 20.0, threads=1),
                rate("deltavec, 100 dimensions, 2 threads", 40.0),
                rate("deltavec, 256 dimensions, 2 threads", 30.0, dimensions=256),
                rate("regex + dict + scipy", 2.0),
                rate("scikit-learn TfidfVectorizer", 4.0, dimensions=900),
                rate("model2vec potion-base-8M", 0.5, dimensions=256),
            ],
            "absent": {"sentence-transformers MiniLM": "torch: not to be had"},
            "measured": measured(),
        },
        "growth": {
            "points": places,
            "npy": places[1],
            "in_memory_million_words_per_second": 12.0,
            "start_up_seconds": 1.0,
            "exponent": 1.0,
            "exponents_of_other_fits": {"start-up left in": 0.9, "from 100,000 documents": None},
            "measured": measured(),
        },
    }


def row_of(what):
    found = [claim for claim in CLAIMS if claim.what == what]
    return report.claim_row(found[0], results())


def test_the_bound_of_two_equal_rates_is_half_of_one():
    assert bound(40, 40) == 20


def test_the_bound_is_below_both_rates():
    assert bound(40, 90) == pytest.approx(1 / (1 / 40 + 1 / 90))
    assert bound(40, 90) < 40


def test_time_that_grows_as_size_does_has_the_exponent_one():
    assert growth_exponent([1e4, 1e5, 1e6], [0.3, 3.0, 30.0]) == pytest.approx(1)


def test_time_that_grows_with_the_square_has_the_exponent_two():
    assert growth_exponent([10, 100, 1000], [2, 200, 20_000]) == pytest.approx(2)


def test_each_function_is_called_once_to_warm_up_and_then_in_turn():
    calls = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert "".join(calls) == "ab" + "ababab"
    assert [len(some) for some in seconds.values()] == [3, 3]


def test_two_threads_are_compared_with_one():
    points = [
        {"dimensions": 100, "threads": threads, "million_words_per_second": value}
        for threads, value in ((1, 20), (2, 37))
    ]
    assert scaling(points, 100, 2) == pytest.approx(1.85)
    assert scaling(points, 100, 4) is None


def test_a_claim_holds_at_its_bounds_and_not_beyond():
    claim = Claim("", "growth", lambda results: None, 0.95, 1.05, "")
    assert [claim.holds(value) for value in (0.94, 0.95, 1.05, 1.06)] == [False, True, True, False]


def test_a_ratio_above_its_target_is_said_to_hold():
    assert row_of("embed, over regex + dict + scipy") == [
        "embed, over regex + dict + scipy", "at least 12 x", "20 x", "yes",
    ]  # fmt: skip


def test_a_ratio_below_its_target_is_said_not_to_hold():
    assert row_of("embed, over scikit-learn TfidfVectorizer.transform")[2:] == ["10 x", "**no**"]


def test_a_peer_that_is_absent_is_said_to_be():
    assert row_of("embed, over sentence-transformers MiniLM")[2:] == ["absent, see below", "-"]
    assert "absent: torch: not to be had" in report.told(results())


def test_memory_is_compared_with_that_of_a_hundred_thousand_documents():
    assert memory_growth(results()) == pytest.approx(320 / 310)
    assert memory_growth({}) is None


def test_the_rate_from_file_to_file_is_that_between_the_two_largest_corpora():
    assert row_of("`deltavec embed`, Parquet to Parquet, over in memory")[2] == "83 %"
    assert file_to_file({}) is None
    found = results()
    found["growth"]["points"] = found["growth"]["points"][:1]
    assert file_to_file(found) is None


def test_the_exponent_is_fitted_from_a_size_on_with_start_up_taken_off():
    places = [
        {"documents": size, "median_seconds": 2 + size / 1000} for size in (10, 10_000, 100_000)
    ]
    assert exponent(places, 2, 1_000) == pytest.approx(1)
    assert exponent(places, 0, 1_000) < 1
    assert exponent(places, 2, 50_000) is None


def test_every_figure_of_what_was_measured_is_an_svg(tmp_path):
    write_figures(results(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"throughput.svg", "growth.svg"}
    for path in tmp_path.iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert {name for name, _, _ in DRAWN.values()} == set(report.FIGURES.values())


def test_text_is_cut_into_documents_of_one_length():
    column = text.strings(["one two three", "four, five", "six"])
    assert text.recut(column, 2, 6).to_pylist() == ["one two ", "three\nfour, ", "five\nsix\n"]


def test_short_text_is_used_again_for_longer_documents():
    column = text.strings(["one two three"])
    assert text.recut(column, 5, 5).to_pylist() == ["one two three\none two "]


def test_a_longer_corpus_is_the_text_over_and_over():
    pieces = text.repeated(text.strings(["a", "b", "c"]), 7)
    assert [document for piece in pieces for document in piece.to_pylist()] == [*"abcabca"]


def test_results_name_no_machine_and_no_path():
    from speed.machine import surroundings

    told = json.dumps(surroundings(2))
    assert not re.search(r"/\w+/|host", told)
