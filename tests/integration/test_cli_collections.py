"""Collections from the command line: built, added to, searched, explored."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import deltavec as dv
from deltavec.cli.application import app
from support.processes import Process
from support.typed import Deltavec, command, reviews

COMMANDS = (
    "index build",
    "index add",
    "index remove",
    "index compact",
    "search",
    "similar",
    "keywords",
    "duplicates",
    "cluster",
)


def write_rated(path: Path, prefix: str) -> None:
    """The reviews with an id, a rating and a place each."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "rating", "place"])
        for number, text in enumerate(reviews()):
            place = "sea" if number < 36 else "house"
            rows.writerow([f"{prefix}{number}", text, number % 5, place])


@pytest.fixture(scope="module")
def built(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rated.csv, the model reviews.dv and the collection rated.idx."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(small / "reviews.dv", folder / "reviews.dv")
    write_rated(folder / "rated.csv", "r")
    arguments = ["index", "build", folder / "reviews.dv", folder / "rated.csv"]
    options = ["--id-column", "id", "--keep", "rating,place", "-o", folder / "rated.idx"]
    done = CliRunner().invoke(app, [str(argument) for argument in arguments + options])
    assert done.exit_code == 0, done.output
    assert "72 documents" in done.output
    return folder


def examples(help_text: str) -> list[list[str]]:
    lines = [line.strip() for line in help_text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("deltavec ")]


def test_the_examples_in_help_work_one_after_the_other(
    tmp_path: Path, small: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(small / "reviews.dv", tmp_path / "reviews.dv")
    write_rated(tmp_path / "reviews.csv", "")
    write_rated(tmp_path / "new.csv", "new")
    (tmp_path / "gone.txt").write_text("20\n21\n")
    monkeypatch.chdir(tmp_path)
    for name in COMMANDS:
        shown = deltavec(*name.split(), "--help")
        assert "\n  Example" in shown.stdout
        assert max(map(len, shown.stdout.splitlines())) <= 84
        for arguments in examples(shown.stdout):
            assert arguments[: len(name.split())] == name.split()
            done = deltavec(*arguments)
            assert done.code == 0, done.stderr
            assert done.stdout


def test_search_shows_place_cosine_id_text_and_columns(built: Path, deltavec: Deltavec) -> None:
    done = deltavec("search", built / "rated.idx", "a quiet bay", "-k", 2)
    found = dv.open_collection(built / "rated.idx").search("a quiet bay", 2)
    first, second = (line for line in done.stdout.splitlines() if line[:2].strip().isdigit())
    assert first.split() == ["1.", f"{found[0].score:.2f}", found[0].id]
    assert second.split() == ["2.", f"{found[1].score:.2f}", found[1].id]
    assert found[0].text in done.stdout
    assert f"rating: {found[0].columns['rating']} | place: sea" in done.stdout
    assert "Unknown word: a." in done.stdout
    then = shlex.join(["deltavec", "search", str(built / "rated.idx"), "a quiet bay", "--explain"])
    assert done.stdout.splitlines()[-1] == f"Next: {then}"


def test_a_broad_search_adds_the_scores_of_neighbors(built: Path, deltavec: Deltavec) -> None:
    printed = deltavec("search", built / "rated.idx", "quiet sea", "--broad", "-k", 3, "--json")
    expected = dv.open_collection(built / "rated.idx").search("quiet sea", 3, broad=True)
    results = json.loads(printed.stdout)["found"]
    assert [(one["id"], one["score"]) for one in results] == [(o.id, o.score) for o in expected]
    assert expected[0].score > dv.open_collection(built / "rated.idx").search("quiet sea")[0].score


def test_titles_go_before_the_texts(built: Path, deltavec: Deltavec, tmp_path: Path) -> None:
    model, corpus, output = built / "reviews.dv", built / "rated.csv", tmp_path / "t.idx"
    deltavec("index", "build", model, corpus, "--title", "place", "-o", output)
    assert dv.open_collection(output).text("0") == "sea\n" + reviews()[0]


def test_search_explains_with_shares_that_add_up(built: Path, deltavec: Deltavec) -> None:
    arguments = ("search", built / "rated.idx", "quiet bay", "-k", 3, "--explain")
    done = deltavec(*arguments)
    assert done.stdout.count("matched: ") == 3
    for by in ("hybrid", "keyword", "semantic"):
        found = deltavec(*arguments, "--by", by, "--json").json
        assert found["by"] == by
        for one in found["found"]:
            total = sum(word["share"] for word in one["words"]) + one["offset"]
            assert total == pytest.approx(one["score"], abs=1e-5)


def test_a_word_with_a_hyphen_before_it_is_left_out(built: Path, deltavec: Deltavec) -> None:
    found = deltavec("search", built / "rated.idx", "quiet -bay", "-k", 100, "--json").json
    assert found["found"]
    assert all("bay" not in one["text"].lower().split() for one in found["found"])


def test_search_shows_the_stretch_of_a_long_text_that_matched(
    built: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    long = "Lorem ipsum, dolor sit. " * 40
    text = f"{long}A lovely harbour, an island and a bay! {long}"
    (tmp_path / "long.jsonl").write_text(json.dumps({"text": text}) + "\n")
    arguments = (built / "reviews.dv", tmp_path / "long.jsonl", "--no-collection-model")
    assert deltavec("index", "build", *arguments, "-o", tmp_path / "long.idx").code == 0
    for typed in (("search", "harbour island"), ("search", "harbour island", "--explain")):
        shown = deltavec(typed[0], tmp_path / "long.idx", *typed[1:], "--length", 60).stdout
        assert "A lovely harbour, an island and a ..." in " ".join(shown.split())
        assert "\x1b" not in shown
    nothing = deltavec("search", tmp_path / "long.idx", "harbour", "--length", 0).stdout
    assert len(nothing.splitlines()) == 3  # the document, and what to run next


def test_search_suggests_known_words_for_misspelt_ones_only_if_they_are_near(
    built: Path, deltavec: Deltavec
) -> None:
    done = deltavec("search", built / "rated.idx", "a qiuet harbor xyzzy room", "-k", 1)
    unknown = "Unknown words: a, qiuet, harbor, xyzzy. Did you mean quiet? Did you mean harbour?"
    assert unknown in done.stdout
    nothing = deltavec("search", built / "rated.idx", "qiuet").stdout
    assert nothing == "No results. Unknown word: qiuet. Did you mean quiet?\n"
    found = deltavec("search", built / "rated.idx", "qiuet xyzzy", "--json").json
    assert found["suggestions"] == {"qiuet": ["quiet"]}


def test_a_filter_compares_text_columns_with_numbers(built: Path, deltavec: Deltavec) -> None:
    done = deltavec(
        *("search", built / "rated.idx", "quiet", "-k", 100, "--json"),
        *("--filter", "rating >= 3 and place == 'house'"),
    )
    found = done.json["found"]
    assert len(found) == sum(1 for number in range(36, 72) if number % 5 >= 3)
    assert {one["columns"]["place"] for one in found} == {"house"}


def test_similar_keywords_and_text_agree_with_the_library(built: Path, deltavec: Deltavec) -> None:
    collection = dv.open_collection(built / "rated.idx")
    found = deltavec("similar", built / "rated.idx", "r7", "-k", 4, "--json").json
    assert found["text"] == reviews()[7]
    assert [one["id"] for one in found["found"]] == [one.id for one in collection.similar("r7", 4)]
    assert (
        "Similar to r7: The" in deltavec("similar", built / "rated.idx", "r7", "--explain").stdout
    )
    words = deltavec("keywords", built / "rated.idx", "r7", "-n", 2, "--json").json["keywords"]
    assert [word["word"] for word in words] == [one.word for one in collection.keywords("r7", 2)]
    assert words[0]["word"] in deltavec("keywords", built / "rated.idx", "r7").stdout


STORY = "we came late in the night and the porter led us up to a room over the bay"


def test_similar_pairs_are_written(built: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    expected = dv.open_collection(built / "rated.idx").similar_pairs(0.9)
    arguments = ("similar-pairs", built / "rated.idx", "--threshold", 0.9)
    done = deltavec(*arguments, "-o", tmp_path / "pairs.parquet")
    assert f"{len(expected.a):,} pairs at or above 0.9" in done.stdout
    table = parquet.read_table(tmp_path / "pairs.parquet")
    assert table["a"].to_pylist() == expected.a.tolist()


@pytest.fixture(scope="module")
def doubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with copies: one the same, one with a word more, one with a few words less."""
    folder = tmp_path_factory.mktemp("doubled")
    letters = "abcdefghijklmnopqrstuvwxyzäöü"
    stories = [" ".join(f"{word}{letter}" for word in STORY.split()) for letter in letters]
    copies = [stories[0].upper(), f"{stories[1]} indeed", stories[2].rsplit(" ", 3)[0]]
    model = dv.fit(stories)
    dv.build_collection(model, [*stories, *copies], folder / "d.idx")
    return folder / "d.idx"


def test_duplicates_show_what_would_go_before_they_are_removed(
    doubled: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    shown = deltavec("duplicates", doubled).stdout
    assert "> 0.5   3 pairs, 3 documents would go" in shown
    assert "a clear pair: shared" in shown
    assert "the pair that shares least: shared" in shown
    assert "the largest group, 2 documents" in shown
    assert "9.4% of the documents would go" in shown
    clean, table, pairs = (tmp_path / name for name in ("clean.jsonl", "groups.csv", "p.parquet"))
    refused = deltavec("duplicates", doubled, "--write-unique", clean)
    assert refused.code == 1
    assert "was not written: look at the pairs, then raise --threshold, or add --yes" in (
        " ".join(refused.stderr.split())
    )
    assert not clean.exists()
    files = ("--table", table, "-o", pairs, "--write-unique", clean, "--yes")
    assert "29 of 32 documents are left" in deltavec("duplicates", doubled, *files).stdout
    assert len(clean.read_text().splitlines()) == 29
    with table.open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert rows["29"]["why"] == "same words"
    assert (rows["30"]["why"], rows["30"]["representative"]) == ("shared text", "1")
    assert parquet.read_table(pairs).column_names == ["a", "b", "shared", "contained"]
    found = deltavec("duplicates", doubled, "--json", "--keep", "longest").json
    assert [step["removed"] for step in found["thresholds"]][:2] == [3, 3]
    assert {row["id"] for row in found["documents"] if not row["keep"]} == {"1", "29", "31"}
    assert len(found["pairs"]) == found["pairs_found"] == 3


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_cluster_names_groups_and_writes_labels(
    suffix: str, built: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    output = tmp_path / f"labels{suffix}"
    done = deltavec("cluster", built / "rated.idx", "-n", 3, "-o", output, "--json")
    clusters = done.json["clusters"]
    assert sum(one["documents"] for one in clusters) == 72
    assert all(one["words"] for one in clusters)
    if suffix == ".csv":
        with output.open(newline="") as file:
            labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    else:
        labels = parquet.read_table(output)["cluster"].to_pylist()
    assert [labels.count(one["cluster"]) for one in clusters] == [
        one["documents"] for one in clusters
    ]
    shown = deltavec("cluster", built / "rated.idx", "-n", 3).stdout
    assert clusters[0]["words"][0] in shown


def test_add_and_info_tell_coverage_and_drift(
    built: Path, tmp_path: Path, deltavec: Deltavec
) -> None:
    folder = shutil.copytree(built / "rated.idx", tmp_path / "rated.idx")
    before = deltavec("info", folder)
    assert "72 built, 0 added" in before.stdout
    assert "not due" in before.stdout
    rows = "".join(f"n{number},wholly unfamiliar words,1,sea\n" for number in range(400))
    (tmp_path / "new.csv").write_text(f"id,text,rating,place\n{rows}")
    done = deltavec("index", "add", folder, tmp_path / "new.csv", "--json").json
    assert (done["added"], done["documents"]) == (400, 472)
    assert done["coverage_added"] == 0
    after = deltavec("info", folder, "--json").json
    assert after["refit_due"]
    assert after["refit_reason"].startswith("the model knows 0.0 % of the words added")
    assert "due: the model knows" in deltavec("info", folder).stdout
    assert deltavec("search", folder, "quiet", "-k", 1, "--json").json["found"][0]["id"][0] == "r"


def test_documents_are_updated_and_removed(
    built: Path, tmp_path: Path, deltavec: Deltavec, process: Deltavec
) -> None:
    folder = tmp_path / "rated.idx"
    shutil.copytree(built / "rated.idx", folder)
    (tmp_path / "new.csv").write_text(
        "id,text,rating,place\nr3,a submarine,5,sea\nr99,a zeppelin,1,house\n"
    )
    refused = deltavec("index", "add", folder, tmp_path / "new.csv")
    assert "ids must be unique, got 'r3'" in refused.error
    done = deltavec("index", "add", folder, tmp_path / "new.csv", "--update", "--json").json
    assert (done["added"], done["updated"], done["documents"]) == (1, 1, 73)
    found = deltavec("search", folder, "submarine zeppelin", "--by", "keyword", "--json").json
    assert {one["id"] for one in found["found"]} == {"r3", "r99"}
    (tmp_path / "ids.txt").write_text("\ufeffr0\r\n\nr1\r\n", encoding="utf-8")
    removed = deltavec("index", "remove", folder, "r99", "--from", tmp_path / "ids.txt", "--json")
    assert (removed.json["removed"], removed.json["documents"]) == (3, 70)
    from_pipe = process("index", "remove", folder, "--from", "-", "--json", stdin=b"r2\nr4\n")
    assert from_pipe.json["removed"] == 2
    shown = deltavec("index", "remove", folder, "--filter", "place == 'house' and rating < 3")
    assert "removed" in shown.stdout
    assert deltavec("search", folder, "quiet", "-f", "place == 'house' and rating < 3").code == 0
    left = dv.open_collection(folder)
    assert left.find_row("r99") is None
    assert len(left) == 68 - int(shown.stdout.split()[1])
    again = deltavec("index", "remove", folder, "r99", "--missing-ok", "--json").json
    assert (again["removed"], again["documents"]) == (0, len(left))
    joined = deltavec("index", "compact", folder, "--json").json
    assert (joined["segments"], joined["documents"]) == (1, len(left))
    assert "were removed or replaced" in " ".join(deltavec("info", folder).stdout.split())


def test_a_query_without_known_words_finds_nothing_and_is_no_failure(
    built: Path, deltavec: Deltavec
) -> None:
    done = deltavec("search", built / "rated.idx", "xyzzy plugh")
    assert done.code == 0
    assert done.stdout == "No results. Unknown words: xyzzy, plugh.\n"
    found = deltavec("search", built / "rated.idx", "xyzzy", "--json").json
    assert (found["found"], found["unknown_words"]) == ([], ["xyzzy"])
    assert "No results" in deltavec("search", built / "rated.idx", "").stdout
    done = deltavec("search", built / "rated.idx", "quiet", "--filter", "rating > 9")
    assert done.code == 0
    assert "No document matches the filter" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("search nowhere.idx quiet", "found nothing there"),
        ("search reviews.dv quiet", "is a model. Build a collection first"),
        ("search rated.csv quiet", "found a file"),
        ("search rated.idx quiet -f 'stars > 3'", "the columns are 'id', 'rating', 'place'"),
        ("search rated.idx quiet -f 'rating >'", "at its end: expected a number"),
        ("search rated.idx quiet -f 'place > 3'", "holds text, such as 'sea'"),
        ("similar rated.idx r99", "no document has the id 'r99'; did you mean 'r"),
        ("similar rated.idx ../../etc/passwd", "no document has the id '../../etc/passwd'"),
        ("keywords rated.idx nobody", "no document has the id 'nobody'"),
        ("cluster rated.idx -n 73", "cannot make 73 clusters of 72"),
        ("index build reviews.dv rated.csv -o rated.csv", "found a file: choose another name"),
        ("index build reviews.dv rated.csv -o reviews.dv", "not part of a deltavec collection"),
        ("index build reviews.dv rated.csv -o no/folder.idx", "make it first"),
        ("index build reviews.dv rated.csv -o x.idx --keep ratin", "did you mean 'rating'?"),
        ("index build reviews.dv rated.csv -o x.idx --id-column rating", "ids must be unique"),
        ("index build reviews.dv rated.csv -o x.idx --column nope", "no column 'nope'"),
        ("index build reviews.dv nothing.csv -o x.idx", "nothing.csv"),
        ("index build nothing.dv rated.csv -o x.idx", "nothing.dv"),
        ("index add rated.idx rated.csv", "ids must be unique, got 'r0'"),
        ("index add rated.idx rated.csv --column place --format parquet", "rated.csv"),
        ("index remove rated.idx", "expected ids (ID, --from) or a filter (--filter), got neither"),
        ("index remove rated.idx r1 -f 'rating > 2'", "got both"),
        ("index remove rated.idx r1 r100", "no document has the id 'r100'"),
        ("index remove rated.idx --from nothing.txt", "nothing.txt: no such file"),
        ("index remove rated.idx --from rated.idx", "is a directory"),
        ("index remove rated.idx -f 'rating >= 0'", "all 72 documents would be removed"),
        ("index remove nowhere.idx r1", "found nothing there"),
        ("info nowhere.idx", "nothing there"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_changes_nothing(
    arguments: str, said: str, built: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(built)
    before = sorted(path for path in built.rglob("*"))
    assert said in deltavec(*shlex.split(arguments)).error
    assert sorted(path for path in built.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        "search rated.idx",
        "search rated.idx quiet -k 0",
        "search rated.idx quiet --length -1",
        "duplicates rated.idx --threshold 1.5",
        "similar-pairs rated.idx --threshold 1.5 -o pairs.parquet",
        "duplicates rated.idx --threshold 0",
        "duplicates rated.idx -o pairs.csv",
        "cluster rated.idx -n 0",
        "cluster rated.idx -o labels.txt",
        "index",
        "index build reviews.dv rated.csv",
    ],
)
def test_wrong_values_are_wrong_usage(
    arguments: str, built: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(built)
    done = deltavec(*arguments.split())
    assert done.code == 2


@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_results_fit_the_terminal_and_never_steer_it(
    columns: str, small: Path, tmp_path: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rows = [{"id": f"[red]{n}\x1b[31m", "text": f"{text} \x1b[2J {'x' * 300}", "note": None}
            for n, text in enumerate(reviews())]  # fmt: skip
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = tmp_path / "odd.idx"
    arguments = ("--id-column", "id", "--keep", "note", "-o", folder)
    made = deltavec("index", "build", small / "reviews.dv", tmp_path / "odd.jsonl", *arguments)
    assert made.code == 0, made.stderr
    shown = [
        deltavec("search", folder, "quiet bay", "--explain"),
        deltavec("duplicates", folder, "-t", 0.9),
        deltavec("cluster", folder, "-n", 3),
        deltavec("keywords", folder, "[red]0\x1b[31m"),
    ]
    for done in shown:
        assert done.code == 0, done.stderr
        assert "\x1b" not in done.stdout
        lines = [one for one in done.stdout.splitlines() if not one.startswith("Next: ")]
        assert max(map(len, lines)) <= int(columns)
    assert "[red]" in shown[0].stdout


def test_standard_input_needs_a_model_that_is_not_adapted(
    built: Path, tmp_path: Path, process: Deltavec
) -> None:
    lines = "\n".join(reviews()).encode()
    arguments = ("index", "build", built / "reviews.dv", "-", "-o", tmp_path / "c.idx")
    assert "--no-collection-model" in process(*arguments, stdin=lines).error
    done = process(*arguments, "--no-collection-model", "--json", stdin=lines)
    assert done.json["documents"] == 72
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.idx"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_addition_that_is_killed_leaves_the_collection_whole(
    small: Path, tmp_path: Path, process: Deltavec
) -> None:
    folder = tmp_path / "c.idx"
    process(
        *("index", "build", small / "reviews.dv", small / "reviews.csv", "-o", folder),
        "--no-collection-model",
    )
    before = {path.name for path in folder.iterdir()}
    with Process(
        command("index", "add", folder, "-"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdin is not None
        # More than pipe and reader hold: once it is gone, new files are being written.
        for _ in range(12):
            running.stdin.write(b"a quiet room by the sea\n" * 50_000)
        running.kill()
    left = {path.name for path in folder.iterdir()} - before
    assert left
    assert len(dv.open_collection(folder)) == 72
    done = process("index", "add", folder, "-", "--json", stdin=b"one more quiet room\n")
    assert done.json["documents"] == 73
    assert not left & {path.name for path in folder.iterdir()} - {
        file.name for file in dv.open_collection(folder).description.files
    }


KILLED = """
import os, signal, sys
left, flush = int(sys.argv.pop(1)), os.fsync
def fsync(handle):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    flush(handle)
os.fsync = fsync
from deltavec.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(
    "change", ["index add {folder} {new} --update", "index remove {folder} r0 r1 r71"]
)
def test_a_change_that_is_killed_wherever_it_writes_leaves_the_old_or_the_new(
    change: str, built: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("id,text,rating,place\nr0,a submarine,5,sea\nr1,a submarine,5,sea\n")
    folder = tmp_path / "rated.idx"
    shutil.copytree(built / "rated.idx", folder)
    old = dv.open_collection(folder)

    def state() -> tuple[int, list[str], list[str]]:
        """How many documents there are, and what is found by old and by new words."""
        now = dv.open_collection(folder)  # everything is compared with its checksum
        found = [now.search(query, k=99, by="keyword") for query in ("quiet", "submarine")]
        ids = [[one.id for one in some] for some in found]
        return len(now), *ids  # type: ignore[return-value]

    before, states = state(), []
    arguments = change.format(folder=folder, new=new).split()
    while not states or states[-1] == before:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(len(states)), *arguments],
            capture_output=True,
            check=False,
        )
        assert done.returncode == -9, done.stderr
        states.append(state())
    assert len(states) >= 4  # vectors, words and documents were on disk before the change was
    after = states[-1]
    assert after[0] == (72 if "add" in change else 69)
    assert after[2] == (["r0", "r1"] if "add" in change else [])
    assert not {"r0", "r1", "r71"} & set(after[1]) if "remove" in change else True
    assert len(old) == 72
    final = dv.open_collection(folder).remove(["r5"])  # and it can be changed again
    assert {path.name for path in folder.iterdir()} == {
        "collection.json", "model.dv", *(file.name for file in final.description.files),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "found"),
    [("", 0), (" \n\t ", 0), ("xyzzy plugh", 0), ("- -", 0), ("-quiet", 0), ("a b c 1", 0)],
)
def test_queries_with_nothing_to_look_for_find_nothing_in_any_way(
    query: str, found: int, built: Path, deltavec: Deltavec
) -> None:
    for by in ("hybrid", "keyword", "semantic"):
        if by == "semantic" and "quiet" in query:
            continue  # a hyphen means nothing there
        done = deltavec("search", built / "rated.idx", "--by", by, "--json", "--", query)
        assert done.code == 0, done.stderr
        assert len(done.json["found"]) == found


def test_words_that_are_everywhere_find_something_though_they_say_little(
    built: Path, deltavec: Deltavec
) -> None:
    done = deltavec("search", built / "rated.idx", "the and the", "--by", "keyword", "--json")
    assert len(done.json["found"]) == 10
    told = deltavec("search", built / "rated.idx", "the quiet", "--by", "keyword", "--json").json
    assert all(one["score"] > 10 * done.json["found"][0]["score"] for one in told["found"][:3])


def test_a_query_of_a_hundred_thousand_words_is_a_query(built: Path, deltavec: Deltavec) -> None:
    words = [word for text in reviews() for word in text.split()]
    query = " ".join([*words * 170, *(f"unknown{number}" for number in range(3000))])
    assert len(query.split()) > 100_000
    done = deltavec("search", built / "rated.idx", query, "--by", "hybrid", "-k", "3", "--json")
    assert len(done.json["found"]) == 3
    assert done.code == 0


def test_a_collection_by_a_tokenizer_of_others_is_trusted_or_refused(
    tmp_path: Path, built: Path, deltavec: Deltavec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "at_blanks.py").write_text("cut = lambda text: text.lower().split()\n")
    model, folder, corpus = tmp_path / "m.dv", tmp_path / "c.idx", built / "rated.csv"
    deltavec("fit", corpus, "--column", "text", "--tokenizer", "at_blanks:cut", "-o", model)
    refused = deltavec("index", "build", model, corpus, "-o", folder)
    assert "is at_blanks:cut, third-party code that is not imported on load" in refused.error
    assert deltavec("index", "build", model, corpus, "-o", folder, "--trust").code == 0
    for arguments in (
        ("search", folder, "the quiet sea"),
        ("similar", folder, "3"),
        ("keywords", folder, "3"),
        ("index", "add", folder, corpus),
        ("index", "remove", folder, "0"),
    ):
        assert "--trust" in deltavec(*arguments).error
        assert deltavec(*arguments, "--trust").code == 0
    assert deltavec("info", folder).code == 0
    # Names come from the words that are stored, and duplicates are found by rules of our own.
    assert deltavec("duplicates", folder, "--against", corpus).code == 0
    assert deltavec("cluster", folder, "-n", "2").code == 0


def test_duplicates_against_another_corpus(built: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    (tmp_path / "old.csv").write_text(f'name,text\n"x/1","{reviews()[7]}"\n"y","submarine"\n')
    arguments = ("duplicates", built / "rated.idx", "--against", tmp_path / "old.csv")
    done = deltavec(*arguments, "--against-id-column", "name", "-t", 1, "--json").json
    assert {"id": "r7", "match": "x/1", "shared": 1.0, "contained": 1.0} in done["matches"]
    assert done["documents_removed"] == len(done["matches"])
    clean, table = tmp_path / "clean.csv", tmp_path / "leaked.csv"
    shown = deltavec(*arguments, "--write-unique", clean, "--yes", "--table", table).stdout
    assert "documents are left" in shown
    assert "in 2 others" in shown
    assert "r7" in table.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--keep", "best"), "expected first or longest, got best"),
        (("--corpus", "c.csv"), "only with --write-unique"),
        (("--against-id-column", "id"), "only with --against"),
        (("--against", "c.csv", "-o", "p.parquet"), "with --against use --table"),
        (("--table", "t.xml"), "ends in .csv, .tsv, .jsonl or .parquet"),
        (("--against", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_duplicates_refuses_what_does_not_go_together(
    arguments: tuple[str, ...], message: str, built: Path, deltavec: Deltavec
) -> None:
    done = deltavec("duplicates", built / "rated.idx", *arguments)
    assert done.code in (1, 2)
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_a_collection_is_exported(deltavec: Deltavec, tmp_path: Path) -> None:
    texts = [
        f"a {kind} room near the {place}" for kind in ("quiet", "loud") for place in ("sea", "bar")
    ]
    dv.build_collection(dv.fit(texts * 5), texts * 5, tmp_path / "c.idx")
    done = deltavec("index", "export", tmp_path / "c.idx", tmp_path / "out", "--json")
    assert done.json["documents"] == 20
    encoder = dv.load_query_encoder(tmp_path / "out" / "encoder")
    assert encoder.documents == 20
    refused = deltavec("index", "export", tmp_path / "c.idx", tmp_path / "c.idx")
    assert "is left alone" in refused.error
