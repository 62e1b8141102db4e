"""Hand-made scores, findings counted by hand."""

from deltavec.lab.report.findings import (
    Count,
    ahead_of_delta,
    differences,
    findings,
    idf_beats,
    removal_helps,
    removal_is_mixed,
    unit_sum_is_behind,
    weight_differences,
    wins,
)
from deltavec.lab.report.tables import published
from deltavec.lab.results import Lengths, Problem


def problem(name="1", words=None, **scores):
    """A problem; sif_delta_pca=.5 is the score of sif-delta-pca."""
    lengths = None if words is None else Lengths(1, float(words), 10_000)
    return Problem(name, {name.replace("_", "-"): score for name, score in scores.items()}, lengths)


def test_only_a_higher_score_wins():
    problems = [problem(a=0.7, b=0.6), problem(a=0.6, b=0.6), problem(a=0.5, b=0.6)]
    assert wins(problems, "a", "b") == Count(1, 3)


def test_a_problem_that_lacks_a_score_does_not_count():
    assert wins([problem(a=0.7), problem(b=0.7), problem(a=0.7, b=0.6)], "a", "b") == Count(1, 1)
    assert differences([problem(a=0.7), problem(a=0.75, b=0.5)], "a", "b") == [0.25]


def test_removal_is_counted_for_idf():
    problems = [
        problem(idf_sum=0.6, idf_sum_pca=0.7, sif_sum=0.6, sif_sum_pca=0.5),
        problem(idf_sum=0.6, idf_sum_pca=0.5, sif_sum=0.6, sif_sum_pca=0.7),
    ]
    finding = removal_helps(problems, "sum")
    assert finding.counted == Count(1, 2)


def test_removal_is_mixed_only_if_it_helps_on_some_problems_and_not_on_all():
    helps, hurts = (problem(idf_center=0.6, idf_center_pca=score) for score in (0.7, 0.5))
    finding = removal_is_mixed([helps, hurts, helps])
    assert finding.counted == Count(1, 1)
    assert finding.note == "helps on 2 of 3"
    assert removal_is_mixed([helps, helps]).counted == Count(0, 1)
    assert removal_is_mixed([hurts, hurts]).counted == Count(0, 1)
    assert removal_is_mixed([helps]).counted == Count(0, 0)


def test_short_and_long_documents_part_where_the_paper_says():
    problems = [
        problem(words=449, idf_center=0.7, idf_delta=0.6),
        problem(words=450, idf_center=0.7, idf_delta=0.6),
        problem(words=900, idf_center=0.7, idf_delta=0.8),
        problem(idf_center=0.7, idf_delta=0.8),  # of unknown length
    ]
    short, long = ahead_of_delta(problems, "center", "", 450)
    assert short.counted == Count(1, 1)
    assert long.counted == Count(1, 2)


def test_with_removal_the_border_is_another():
    problems = [
        problem(words=299, idf_sum_pca=0.7, idf_delta_pca=0.6),
        problem(words=300, idf_sum_pca=0.7, idf_delta_pca=0.8),
    ]
    short, long = ahead_of_delta(problems, "sum", "-pca", 300)
    assert short.counted == Count(1, 1)
    assert long.counted == Count(1, 1)


def test_unit_sum_is_behind_only_if_every_idf_variant_is_ahead():
    problems = [
        problem(unit_sum=0.5, idf_sum=0.6, idf_delta=0.7),
        problem(unit_sum=0.65, idf_sum=0.6, idf_delta=0.7),
        problem(idf_sum=0.6),
    ]
    finding = unit_sum_is_behind(problems)
    assert finding.counted == Count(1, 2)
    assert finding.note == "0.125 below the best of them on average"


def test_weights_are_paired_over_forms_removal_and_problems():
    problems = [
        problem(idf_sum=0.75, sif_sum=0.5, idf_delta_pca=0.5, sif_delta_pca=0.75),
        problem(idf_sum=0.75, sif_sum=0.5, subsampling_sum=0.5),
    ]
    assert sorted(weight_differences(problems, "sif")) == [-0.25, 0.25, 0.25]
    assert idf_beats(problems, "sif").counted == Count(2, 3)
    assert idf_beats(problems, "subsampling").counted == Count(1, 1)


def test_without_problems_nothing_is_held_and_nothing_breaks():
    assert all(finding.counted == Count(0, 0) for finding in findings([]))
    assert str(Count(0, 0)) == "no such problems"


def test_the_published_tables_show_what_the_paper_says():
    by_claim = {finding.claim: finding for finding in findings(published("reviews").problems)}
    counts = {claim: finding.counted for claim, finding in by_claim.items()}
    assert counts["Removal always helps sum"] == Count(20, 20)
    assert counts["Removal always helps delta"] == Count(20, 20)
    assert counts["With removal, sum beats delta on documents below 300 words"] == Count(2, 2)
    assert counts["With removal, delta beats sum from 300 words on"] == Count(18, 18)
    assert counts["Without removal, center beats delta on documents below 450 words"] == Count(4, 4)
    # at 620 words (k = 6) center is ahead once more in its Table 1, which the paper passes over
    assert counts["Without removal, delta beats center from 450 words on"] == Count(15, 16)


def test_an_experiment_that_the_paper_lacks_has_no_published_table():
    assert published("lee") is None
    assert [problem.name for problem in published("duplicate-questions").problems][:2] == [
        "android",
        "english",
    ]
