"""Small files in the layouts that CQADupStack comes in, whole and broken."""

import gzip
import json
import zipfile
from contextlib import suppress

import pyarrow as pa
import pytest
from pyarrow import parquet

from deltavec.errors import CorpusError
from deltavec.lab.questions.files import read_forums
from deltavec.lab.questions.forums import digest
from deltavec.lab.questions.text import strip_markup

QUESTIONS = {
    "11": {"title": "Mount a disk", "body": "<p>How do I mount it?</p>", "dups": ["12"]},
    "12": {"title": "Disk mounting", "body": "<p>It does not mount.</p>", "dups": []},
    "13": {"title": "No sound", "body": "<p>Silence &amp; sorrow</p>", "dups": ["12"]},
    "14": {"title": "Wifi", "body": "<p>Slow.</p>", "dups": []},
}


def write_questions(path, questions):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(questions), encoding="utf-8")
    return path


@pytest.fixture
def forum_file(tmp_path):
    """Writes the questions of a forum and gives the folder."""

    def write(questions, name="android"):
        write_questions(tmp_path / name / f"{name}_questions.json", questions)
        return tmp_path

    return write


def test_a_folder_of_forums_is_read_by_name(forum_file):
    forum_file(QUESTIONS, "unix")
    forums = read_forums(forum_file(QUESTIONS, "android"))
    assert [forum.name for forum in forums] == ["android", "unix"]
    assert forums[0].questions == (
        "Mount a disk How do I mount it?",
        "Disk mounting It does not mount.",
        "No sound Silence & sorrow",
        "Wifi Slow.",
    )
    assert forums[0].duplicates.tolist() == [[0, 1], [1, 2]]
    assert forums[0].others is None
    assert forums[0].notes == {}


def test_zip_archives_are_read_without_unpacking(tmp_path):
    for name in ("android", "unix"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}/{name}_questions.json", json.dumps(QUESTIONS))
            archive.writestr(f"{name}/{name}_users.json", "not even JSON")
            archive.writestr(f"__MACOSX/._{name}_questions.json", "\x00")
    assert [forum.name for forum in read_forums(tmp_path)] == ["android", "unix"]
    (forum,) = read_forums(tmp_path / "unix.zip")
    assert forum.name == "unix"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["android.zip", "unix.zip"]


def test_the_file_itself_is_a_forum_too(tmp_path):
    (forum,) = read_forums(write_questions(tmp_path / "gis_questions.json", QUESTIONS))
    assert forum.name == "gis"


def test_duplicates_count_in_either_direction_and_once(forum_file):
    both = {
        "1": {"title": "a", "body": "x", "dups": ["2", "2"]},
        "2": {"title": "b", "body": "y", "dups": [1]},  # a number is an id too
        "3": {"title": "c", "body": "z"},  # no list is an empty one
    }
    (forum,) = read_forums(forum_file(both))
    assert forum.duplicates.tolist() == [[0, 1]]


def test_a_self_duplicate_is_left_out_and_counted(forum_file):
    questions = QUESTIONS | {"14": {"title": "Wifi", "body": "<p>Slow.</p>", "dups": ["14"]}}
    (forum,) = read_forums(forum_file(questions))
    assert forum.notes == {"self-duplicates left out": 1}
    assert len(forum.duplicates) == 2


def test_a_duplicate_outside_the_forum_is_left_out_and_counted(forum_file):
    questions = QUESTIONS | {"14": {"title": "Wifi", "body": "", "dups": ["99", "98"]}}
    (forum,) = read_forums(forum_file(questions))
    assert forum.notes == {
        "questions without a body": 1,
        "duplicates outside the forum left out": 2,
    }


@pytest.mark.parametrize("body", [{}, {"body": None}, {"body": ""}, {"body": "<p></p>"}])
def test_a_question_without_a_body_is_its_title(body, forum_file):
    (forum,) = read_forums(forum_file(QUESTIONS | {"15": {"title": " Only\n title ", **body}}))
    assert forum.questions[-1] == "Only title"
    assert forum.notes == {"questions without a body": 1}


def test_an_empty_question_is_left_out_and_counted(forum_file):
    (forum,) = read_forums(forum_file(QUESTIONS | {"15": {"title": "", "dups": ["14"]}}))
    assert len(forum.questions) == 4
    assert forum.notes["empty questions left out"] == 1
    assert forum.notes["duplicates outside the forum left out"] == 1


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("caf&eacute; &lt;3 &#8364;&#x41;", "café <3 €A"),
        ("run <code>ls -l</code>:<pre><code>$ ls\ntotal 0</code></pre>", "run ls -l: $ ls total 0"),
        ("<script>var x;</script><style>p{}</style>words", "words"),
        ("un<b>bold</b>ed", "unbolded"),
        ("a<br>b<br/>c<li>d", "a b c d"),
        ("a < b and <unknown>c", "a < b and c"),
        ("<p>never closed <b>bold", "never closed bold"),
        ("<!-- a comment -->text", "text"),
        ("", ""),
    ],
)
def test_markup_goes_and_words_stay(html, text):
    assert strip_markup(html).text == text


def test_the_notice_that_gives_the_answer_away_is_removed():
    html = (
        "<blockquote><p><strong>Possible Duplicate:</strong><br><a href='/q/1'>The other</a></p>"
        "</blockquote><p>My question</p><blockquote>quoted words</blockquote>"
    )
    assert strip_markup(html) == ("My question quoted words", 1)


def test_a_notice_that_is_never_closed_is_removed_as_well():
    assert strip_markup("words<blockquote>possible duplicate: it") == ("words", 1)


def test_removed_notices_are_counted(forum_file):
    body = "<blockquote>Possible Duplicate: other</blockquote>mine"
    (forum,) = read_forums(forum_file(QUESTIONS | {"15": {"title": "t", "body": body}}))
    assert forum.questions[-1] == "t mine"
    assert forum.notes == {"notices of a duplicate removed": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"1": {"title": "a",', "broken JSON"),
        ("[1, 2]", "expected an object with a question for each id, got list"),
        ('{"1": "a"}', "question '1': expected an object, got str"),
        ('{"1": {"title": 3}}', "question '1': expected text under 'title', got int"),
        (
            '{"1": {"title": "a", "dups": "2"}}',
            "question '1': expected a list under 'dups', got str",
        ),
        ("[" * 100_000, "broken JSON"),
        ("{}", "expected at least two questions, got 0"),
    ],
)
def test_a_broken_file_is_an_error_that_says_where(content, message, tmp_path):
    path = tmp_path / "android_questions.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match="android") as raised:
        read_forums(path)
    assert message in str(raised.value)


def test_text_that_is_not_utf8_is_an_error(tmp_path):
    (tmp_path / "a_questions.json").write_bytes(b'{"1": {"title": "caf\xe9"}}')
    with pytest.raises(CorpusError, match="not UTF-8"):
        read_forums(tmp_path)


def test_a_forum_without_duplicates_is_refused(forum_file):
    alone = {number: question | {"dups": []} for number, question in QUESTIONS.items()}
    with pytest.raises(CorpusError, match=r"forum 'android': no pair of its 4 questions"):
        read_forums(forum_file(alone))


def test_a_forum_of_duplicates_only_is_refused(forum_file):
    pair = {"1": {"title": "a", "dups": ["2"]}, "2": {"title": "b"}}
    with pytest.raises(CorpusError, match="all 1 pairs are duplicates"):
        read_forums(forum_file(pair))


def test_a_forum_that_is_there_twice_is_refused(forum_file, tmp_path):
    forum_file(QUESTIONS)
    write_questions(tmp_path / "copy" / "android_questions.json", QUESTIONS)
    with pytest.raises(CorpusError, match="'android' more than once"):
        read_forums(tmp_path)


def test_a_folder_without_questions_says_what_was_expected(tmp_path):
    with pytest.raises(CorpusError, match=r"found no questions; expected <forum>_questions.json"):
        read_forums(tmp_path)
    with pytest.raises(CorpusError, match="no such file or folder"):
        read_forums(tmp_path / "nothing")


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb_questions.json", b" " * 4_000_000)
    assert path.stat().st_size < 10_000
    pretended = 3 << 30
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02")  # the archive's list of files, where sizes are read from
    data[place + 24 : place + 28] = pretended.to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=r"holds 3,221,225,472 bytes; expected at most"):
        read_forums(path)


def test_an_archive_that_lies_about_sizes_gives_no_more_than_it_says(tmp_path):
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("liar_questions.json", b" " * 4_000_000)
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02")
    data[place + 24 : place + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(CorpusError, match="not a zip archive that can be read"):
        read_forums(path)


@pytest.mark.parametrize("content", [b"no archive at all", b"PK\x03\x04cut short"])
def test_a_damaged_archive_is_an_error(content, tmp_path):
    (tmp_path / "android.zip").write_bytes(content)
    with pytest.raises(CorpusError, match="not a zip archive that can be read"):
        read_forums(tmp_path)


TABLE = {
    "forum": ["unix", "unix", "gis", "gis"],
    "label": [1, 0, 0, 1],
    "text_a": ["mount a disk", "mount a disk", "a map", "a map"],
    "text_b": ["disk mounting", "no sound", "a road", "maps"],
}


def write_table(path, table):
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(table), path)
        return path
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if ".jsonl" in path.name:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        text = (
            ",".join(table)
            + "\n"
            + "".join(",".join(f'"{value}"' for value in row.values()) + "\n" for row in rows)
        )
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["p.parquet", "p.csv", "p.jsonl", "p.jsonl.gz"])
def test_a_table_of_pairs_is_read_from_any_format(name, tmp_path):
    gis, unix = read_forums(write_table(tmp_path / name, TABLE))
    assert (gis.name, unix.name) == ("gis", "unix")
    assert unix.questions == ("mount a disk", "disk mounting", "no sound")
    assert unix.duplicates.tolist() == [[0, 1]]
    assert unix.others.tolist() == [[0, 2]]


def test_a_table_in_another_encoding_is_read_if_it_is_named(tmp_path):
    path = write_table(tmp_path / "p.csv", TABLE | {"text_b": ["größer", "b", "c", "d"]})
    path.write_bytes(path.read_text("utf-8").encode("cp1252"))
    with pytest.raises(CorpusError, match="--encoding cp1252"):
        read_forums(path)
    _, unix = read_forums(path, "cp1252")
    assert unix.questions == ("mount a disk", "größer", "b")


def test_all_formats_of_a_table_have_one_digest(tmp_path):
    names = ("p.parquet", "p.csv", "p.jsonl")
    assert len({digest(read_forums(write_table(tmp_path / name, TABLE))) for name in names}) == 1


@pytest.mark.parametrize("labels", [[True, False, False, True], [1.0, 0.0, 0.0, 1.0]])
def test_labels_may_be_of_other_types(labels, tmp_path):
    _, unix = read_forums(write_table(tmp_path / "p.parquet", TABLE | {"label": labels}))
    assert len(unix.duplicates) == 1


@pytest.mark.parametrize("missing", ["forum", "label", "text_a", "text_b"])
def test_a_missing_column_is_an_error(missing, tmp_path):
    table = {name: values for name, values in TABLE.items() if name != missing}
    with pytest.raises(CorpusError, match=f"no column '{missing}'"):
        read_forums(write_table(tmp_path / "p.parquet", table))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"label": [1, 0, 2, 1]},
            r"row 3: expected the label 1 \(duplicates\) or 0 \(not\), got 2",
        ),
        ({"label": [1, None, 0, 1]}, "row 2: expected the label"),
        ({"forum": ["unix", None, "gis", "gis"]}, "row 2: no forum"),
        ({"label": [1, 1, 0, 1]}, "forum 'unix': all 2 pairs are duplicates"),
        ({"label": [0, 0, 0, 1]}, "forum 'unix': no pair of its 3 questions is marked"),
        ({"text_b": [1, 2, 3, 4]}, "row 1: expected text under 'text_b', got int"),
    ],
)
def test_a_table_that_makes_no_sense_is_an_error_that_says_where(change, message, tmp_path):
    with pytest.raises(CorpusError, match=message):
        read_forums(write_table(tmp_path / "p.parquet", TABLE | change))


def test_an_empty_table_is_an_error(tmp_path):
    empty = pa.table({name: pa.array([], pa.string()) for name in TABLE})
    parquet.write_table(empty, tmp_path / "p.parquet")
    with pytest.raises(CorpusError, match="holds no pairs"):
        read_forums(tmp_path / "p.parquet")


def test_a_missing_text_is_an_empty_question_and_counted(tmp_path):
    table = TABLE | {"text_b": ["disk mounting", None, "a road", "maps"]}
    _, unix = read_forums(write_table(tmp_path / "p.parquet", table))
    assert unix.questions[-1] == ""
    assert unix.notes == {"pairs with an empty text": 1}


def test_a_body_that_cannot_be_parsed_is_an_error_that_says_where(forum_file):
    body = "&#" + "9" * 5000
    with pytest.raises(CorpusError, match=r"question '15': the body is not HTML"):
        read_forums(forum_file(QUESTIONS | {"15": {"title": "t", "body": body}}))


def test_an_archive_with_any_byte_changed_is_read_or_refused(tmp_path):
    path = tmp_path / "android.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("android_questions.json", json.dumps(QUESTIONS))
    whole = path.read_bytes()
    for place in [*range(40), *range(len(whole) - 120, len(whole))]:
        for byte in (0x00, 0x7F, 0xFF):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            with suppress(CorpusError):
                read_forums(path)


@pytest.mark.parametrize("part", ["<a ", "<!--", "</", "<a b='", "&#1", "<blockquote>"])
@pytest.mark.parametrize("end", ["", ">", "x", "-->"])
def test_markup_that_is_never_closed_takes_linear_time(part, end):
    # A parser that looks for each end up to the end of the text needs hours for these.
    strip_markup(part * 200_000 + end)
