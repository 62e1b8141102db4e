"""Tuning as a whole: what is tried, what is recommended, and what the budget allows."""

from dataclasses import replace

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.statistics import CorpusStatistics
from deltavec.errors import CorpusError, InputError
from deltavec.io.artifacts.model import load_recipe
from deltavec.io.corpus.corpus import read_corpus
from deltavec.lab.tuning.candidates import DEFAULT, combine, other_candidates, other_windows
from deltavec.lab.tuning.jackknife import Gain
from deltavec.lab.tuning.results import Trial, choose
from deltavec.lab.tuning.tune import parse_budget
from support.tuning import grouped, labeled_pairs


@pytest.fixture(scope="module")
def table():
    return grouped(groups=10, documents=8)


@pytest.fixture(scope="module")
def tuned(table):
    return dv.tune(table, group_column="group")


def statistics_of(documents, length, words=2000):
    counts = np.full(words, documents * length // words)
    return CorpusStatistics(counts, counts, documents, documents * length, 0)


def trial(name, choosing, held_back, noise=0.01, error=0.005):
    """A trial of which gains are over .8 on both halves."""
    gains = (Gain(score - 0.8, error, noise) for score in (choosing, held_back))
    return Trial(name, DEFAULT, choosing, held_back, *gains, 0.0)


def test_the_default_is_tried_first_and_everything_else_after_it(tuned):
    names = [one.name for one in tuned.trials]
    assert names[0] == "spectral"
    assert tuned.default.recipe == dv.Recipe.named("spectral")
    assert {
        "spectral, spectrum_exponent 0.5",
        "spectral, spectrum_exponent 1",
        "spectral, identity_share 0",
        "spectral, identity_share 0.5, spectrum_exponent 1",
        "idf-delta-pca",
        "idf-sum-pca (auto)",
        "idf-center-pca",
    } <= {*names}
    assert len(names) == len({*names})
    assert tuned.untried == ()


def test_structure_is_found_on_both_halves(tuned):
    assert tuned.default.choosing > 0.7
    assert tuned.default.held_back > 0.7
    assert tuned.unit == "group"
    assert tuned.sizes["choosing"]["groups"] == tuned.sizes["held_back"]["groups"] == 5


def test_gains_are_over_the_default(tuned):
    assert tuned.default.choosing_gain == (0.0, 0.0, 0.0)
    for one in tuned.trials:
        assert one.choosing_gain.value == pytest.approx(one.choosing - tuned.default.choosing)
        assert one.held_back_gain.value == pytest.approx(one.held_back - tuned.default.held_back)
    assert tuned.recommended.held_back >= tuned.default.held_back


def test_the_same_call_gives_the_same_scores(table, tuned):
    again = dv.tune(table, group_column="group", threads=1)
    assert [(one.name, one.choosing) for one in again.trials] == [
        (one.name, one.choosing) for one in tuned.trials
    ]


def test_scores_are_those_of_a_model_that_is_fitted_by_hand(table, tuned):
    from deltavec.lab.tuning.split import split_groups

    half = split_groups(read_corpus(table), "group", 3000, 0).held_back
    group_of = dict(zip(table["text"].to_pylist(), table["group"].to_pylist(), strict=True))
    texts = half.texts.to_pylist()
    for one in (tuned.default, *tuned.trials[-2:]):
        model = dv.fit(table["text"], recipe=one.recipe).for_collection(texts)
        area = dv.pairwise_auc(model.embed(texts), [group_of[text] for text in texts])
        assert one.held_back == pytest.approx(area, abs=1e-6)


def test_pairs_choose_as_groups_do(table):
    found = dv.tune(table, pairs=labeled_pairs(table, 16), id_column="id", budget=1e-6)
    assert found.default.choosing > 0.6
    assert found.unit == "connected set"
    assert found.sizes["choosing"] == {
        "groups": 16,
        "documents": 32,
        "pairs": 16,
        "positive_pairs": 8,
    }


def test_a_budget_that_is_used_up_leaves_the_default_and_names_the_rest(table):
    found = dv.tune(table, group_column="group", budget="0.001s")
    assert [one.name for one in found.trials] == ["spectral"]
    assert found.recipe == DEFAULT
    assert found.reason == "no other recipe was tried"
    names = [missing.name for missing in found.untried]
    assert {"spectral, identity_share 0.5", "idf-delta-pca", "idf-sum-pca (auto)"} <= {*names}
    assert {missing.reason for missing in found.untried} == {"no time left in the budget"}


def test_vectors_that_are_given_are_used_and_named(table, tmp_path):
    words = sorted({word for text in table["text"].to_pylist() for word in text.split()})
    matrix = np.random.default_rng(0).standard_normal((len(words), 5))
    path = tmp_path / "own.vec"
    dv.save_vectors(dv.WordVectors(words, matrix), path)
    found = dv.tune(table, group_column="group", vectors=path, documents=40)
    names = [one.name for one in found.trials]
    assert names[3:6] == ["idf-delta-pca", "idf-sum-pca (auto)", "idf-center-pca"]
    assert found.vectors == "own.vec"


def test_vectors_that_know_no_word_are_refused_before_anything_is_tried(table):
    tried = []
    vectors = dv.WordVectors(["elsewhere"], [[1.0]])
    with pytest.raises(CorpusError, match=r"none of the .* words of the corpus has a vector"):
        dv.tune(table, group_column="group", vectors=vectors, on_trial=tried.append)
    assert tried == []


def test_progress_rises_to_its_end_and_every_trial_is_told(table):
    stages, shares, trials = [], [], []
    found = dv.tune(
        table,
        group_column="group",
        on_stage=lambda stage: (stages.append(stage), shares.clear()),
        on_progress=shares.append,
        on_trial=trials.append,
    )
    assert stages == ["reading labels", "comparing recipes"]
    assert tuple(trials) == found.trials
    assert all(0 < share <= 1 for share in shares)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_recipe_is_written_with_its_reason(tuned, tmp_path):
    tuned.save(tmp_path / "recipe.json")
    assert load_recipe(tmp_path / "recipe.json")[0] == tuned.recipe
    assert tuned.reason in (tmp_path / "recipe.json").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected group_column or pairs, got neither"),
        ({"group_column": "group", "pairs": []}, "got both"),
        ({"group_column": "group", "id_column": "id"}, "id_column is for pairs"),
        ({"group_column": "group", "budget": "soon"}, "budget must be a time above 0"),
        ({"group_column": "group", "documents": 3}, "documents must be a whole number from 8"),
        ({"group_column": "group", "seed": -1}, "seed must be"),
        ({"group_column": "group", "max_memory": 0}, "max_memory must be"),
        ({"group_column": "text"}, "holds the text; expected one that holds labels"),
        ({"group_column": "group", "tokenizer": "letters"}, "tokenizer"),
    ],
)
def test_odd_arguments_are_refused(table, options, message):
    with pytest.raises(InputError, match=message):
        dv.tune(table, **options)


def test_a_corpus_that_can_be_read_only_once_is_refused():
    with pytest.raises(CorpusError, match="once"):
        dv.tune((text for text in ["a", "b"]), group_column="group")


def test_the_best_is_recommended_if_it_is_better_by_more_than_noise():
    trials = [trial("default", 0.8, 0.8), trial("best", 0.82, 0.83), trial("b", 0.81, 0.9)]
    best, reason = choose(trials)
    assert best.name == "best"
    assert reason == "best scored +0.0200 on the choosing half, more than noise (0.0100)"


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        ([trial("best", 0.809, 0.9)], "within noise"),
        ([trial("best", 0.82, 0.79)], "but -0.0100 on the half that was held back"),
        ([trial("worse", 0.7, 0.9)], "no other recipe scored higher"),
        ([], "no other recipe was tried"),
    ],
)
def test_else_the_default_is_kept(trials, reason):
    kept, said = choose([trial("default", 0.8, 0.8), *trials])
    assert kept.name == "default"
    assert reason in said


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [("90s", 90), ("10m", 600), ("1h", 3600), (" 1.5 H ", 5400), (12, 12), (0.5, 0.5)],
)
def test_budgets_are_times(budget, seconds):
    assert parse_budget(budget) == seconds


@pytest.mark.parametrize(
    "budget", ["", "10", "m", "-3m", "0s", "1d", "1h30", "inf", "nan", 0, -1, True, None, 1e999]
)
def test_what_is_no_time_is_refused(budget):
    with pytest.raises(InputError, match="budget must be a time above 0 such as '90s'"):
        parse_budget(budget)


def test_fast_candidates_come_before_slow_ones():
    found = other_candidates(statistics_of(1000, 80), vectors_given=False)
    names = [one.name for one in found if "exponent" not in one.name]
    assert names == [
        "spectral, identity_share 0.5",
        "spectral, identity_share 1.5",
        "spectral, identity_share 0",
        "spectral, dimensions 150",
        "spectral, dimensions 75",
        "spectral, dimensions 600",
        "idf-delta-pca",
        "idf-sum-pca (auto)",
        "idf-center-pca",
        "spectral, window 10",
        "spectral, window 40",
    ]


def test_dimensions_beyond_the_vocabulary_are_not_tried():
    found = other_candidates(statistics_of(1000, 80, words=200), vectors_given=True)
    assert {one.recipe.entries.get("dimensions", 300) for one in found} == {300, 150, 75}


@pytest.mark.parametrize(
    ("usual", "others"),
    [
        (20, [10, 40]),
        (5, [10]),
        (6, [12]),
        (49, [24, 98]),
        (80, [40, 100]),
        (81, [40]),
        (100, [50]),
    ],
)
def test_other_windows_are_half_and_twice_the_usual_one_within_bounds(usual, others):
    assert other_windows(usual) == others


def test_the_best_values_are_tried_together():
    values = {
        DEFAULT: 0.8,
        replace(DEFAULT, identity_share=0.5): 0.82,
        replace(DEFAULT, identity_share=1.5): 0.7,
        replace(DEFAULT, window=9, spectrum_exponent=0.5): 0.81,
        replace(DEFAULT, dimensions=150): 0.79,
        dv.Recipe.named("idf-delta-pca"): 0.9,
    }
    assert combine(values) == replace(DEFAULT, identity_share=0.5, window=9)
    values[replace(DEFAULT, window=9, spectrum_exponent=0.5)] = 0.79
    assert combine(values) is None
