"""``deltavec tune``: the table, the recipe file that ``fit`` reads, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import csv

from support.tuning import grouped, labeled_pairs
from support.typed import Deltavec


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews.csv (id, group, text) and pairs.csv (label, id_a, id_b)."""
    folder = tmp_path_factory.mktemp("tune")
    table = grouped(groups=8, documents=6)
    csv.write_csv(table, folder / "reviews.csv")
    rows = [f"{label},{one},{other}" for one, other, label in labeled_pairs(table, 10)]
    (folder / "pairs.csv").write_text("\n".join(["label,id_a,id_b", *rows]) + "\n")
    return folder


def test_the_table_and_the_recipe_are_there(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    recipe = tmp_path / "recipe.json"
    done = deltavec("tune", places / "reviews.csv", "--group-column", "group", "-o", recipe)
    assert done.code == 0, done.stderr
    assert "spectral (default)" in done.stdout
    assert "idf-delta-pca" in done.stdout
    assert "share 0.5, exponent 1 " in done.stdout
    assert "4 groups" in done.stdout
    assert done.stderr == ""
    fitted = deltavec(
        "fit", places / "reviews.csv", "--recipe", recipe, "-o", tmp_path / "model.dv", "--json"
    )
    assert fitted.code == 0, fitted.stderr
    assert fitted.json["recipe"] == json.loads(recipe.read_text())["name"]


def test_json_tells_every_trial(places: Path, deltavec: Deltavec) -> None:
    found = deltavec(
        "tune", places / "reviews.csv", "--group-column", "group", "--seed", 3, "--json"
    ).json
    names = [trial["name"] for trial in found["trials"]]
    assert names[0] == "spectral"
    assert found["recommended"] in names
    assert found["standard_error_over"] == "groups"
    assert found["sizes"]["choosing"]["documents"] == 24
    assert found["output"] is None
    for trial in found["trials"]:
        assert 0 <= trial["choosing"] <= 1
        assert trial["held_back_gain"]["standard_error"] >= 0


def test_pairs_by_id_and_a_budget_that_ends(places: Path, deltavec: Deltavec) -> None:
    done = deltavec(
        "tune", places / "reviews.csv", "--pairs", places / "pairs.csv", "--id-column", "id",
        "--budget", "0.001s",
    )  # fmt: skip
    assert done.code == 0, done.stderr
    assert "no time left in the budget: spectral, spectrum_exponent 0.5" in done.stdout
    assert "20 documents in 10 connected sets, 10 pairs" in " ".join(done.stdout.split())
    assert "precision" in done.stdout
    assert "separates best on the other half" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--group-column", "grup"), "no column 'grup'"),
        (("--group-column", "id"), "groups of two documents or more"),
        (("--group-column", "text"), "holds the text"),
        (("--pairs", "missing.csv"), "missing.csv"),
        (("--pairs", "PAIRS"), "the pairs name documents that the corpus does not hold (40)"),
        (("--pairs", "PAIRS", "--id-column", "no"), "no column 'no'"),
        (("--group-column", "group", "-o", "nowhere/recipe.json"), "there is no folder"),
        (("--group-column", "group", "--vectors", "missing.vec"), "missing.vec"),
    ],
)
def test_bad_input_is_told_in_one_line(
    places: Path, deltavec: Deltavec, arguments: tuple[str, ...], message: str
) -> None:
    spelled = [places / "pairs.csv" if one == "PAIRS" else one for one in arguments]
    assert message in deltavec("tune", places / "reviews.csv", *spelled).error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected --group-column or --pairs, got neither"),
        (("--group-column", "group", "--pairs", "pairs.csv"), "got both"),
        (("--group-column", "group", "--id-column", "id"), "only with --pairs"),
        (("--group-column", "group", "--budget", "soon"), "budget must be a time above 0"),
        (("--group-column", "group", "--documents", 2), "--documents"),
        (("--group-column", "group", "-o", "recipe.txt"), "ends in .json"),
    ],
)
def test_wrong_usage_exits_with_2(
    places: Path, deltavec: Deltavec, arguments: tuple[object, ...], message: str
) -> None:
    done = deltavec("tune", places / "reviews.csv", *arguments)
    assert done.code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_standard_input_is_refused(deltavec: Deltavec) -> None:
    assert "once" in deltavec("tune", "-", "--group-column", "group", "--format", "csv").error


def test_fit_refuses_a_recipe_file_that_is_none(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    model = tmp_path / "model.dv"
    (tmp_path / "odd.json").write_text("{}")
    for name, message in (("odd.json", "deltavec recipe"), ("gone.json", "no such file")):
        done = deltavec("fit", places / "reviews.csv", "-r", tmp_path / name, "-o", model)
        assert message in done.error
    assert not model.exists()


def test_fit_asks_for_the_vectors_that_a_recipe_was_chosen_with(
    places: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    recipe = tmp_path / "recipe.json"
    entries = {
        "format": "deltavec recipe",
        "format_version": 1,
        "recipe": {"form": "delta"},
        "vectors": "own.vec",
    }
    recipe.write_text(json.dumps(entries))
    done = deltavec("fit", places / "reviews.csv", "-r", recipe, "-o", tmp_path / "model.dv")
    assert "chosen with the word vectors own.vec: give them with --vectors" in done.error
