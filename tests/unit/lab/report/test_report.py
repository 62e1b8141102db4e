import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from deltavec.core.recipes import RECIPES
from deltavec.lab.report.pages import as_markdown
from deltavec.lab.report.report import as_report, write_report
from deltavec.lab.report.tables import decimals, format_value, problem_table
from deltavec.lab.results import Lengths, Problem, Results, WeightCurve

CURVE = WeightCurve([1e-6, 1e-4, 1e-2], [9.0, 5.0, 1.0], [0.99, 0.5, 0.01], [1.0, 0.3, 0.03])


def scores(base):
    found = {name: base + place / 200 for place, name in enumerate(RECIPES)}
    return found | {"tf-idf": base + 0.03, "my_module:embed": base + 0.01}


def review_results(**changes):
    problems = tuple(
        Problem(
            str(k),
            scores(0.6 + k / 40),
            Lengths(3, 100.0 * k, 900),
            {"documents": 300, "seconds": {"auc": 0.5}},
        )
        for k in (1, 2, 10)
    )
    fields = {
        "experiment": "reviews",
        "measure": "ROC AUC",
        "problems": problems,
        "settings": {"seed": 3, "k": [1, 2, 10]},
        "data": {"name": "reviews.csv", "sha256": "abc"},
        "curve": CURVE,
    }
    return Results(**(fields | changes))


def forum_results(*names):
    problems = tuple(Problem(name, scores(0.6 + len(name) / 100)) for name in names)
    return Results("duplicate-questions", "ROC AUC", problems, {}, {"name": "forums"}, CURVE)


class Page(HTMLParser):
    """What a page holds: its tags, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.bold = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)
        if self.tags and self.tags[-1] == "b":
            self.bold.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def page(tmp_path):
    write_report(review_results(), tmp_path)
    return Page((tmp_path / "report.html").read_text("utf-8"))


def test_a_report_is_a_page_a_text_and_the_text_s_figures(tmp_path):
    write_report(review_results(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "differences.svg",
        "report.html",
        "report.md",
        "scores.svg",
        "weights.svg",
    ]


def test_the_page_holds_the_paper_s_tables_beside_ours(page):
    for caption in ("Table 1, here", "Table 1, published", "Table 3. Words in a document"):
        assert caption in page.text
    assert ".8999" in page.bold  # the published best of k = 2
    assert ".9304" not in page.bold  # k = 3 is not among ours
    assert "2,059.6" not in page.text  # the paper's k = 20 is not among ours
    assert "207.3" in page.text  # its k = 2 is


def test_the_page_holds_the_paper_s_figures(page):
    assert page.text.count("Figure 1. The three weights of a word") == 1
    assert page.text.count("Figure 2. How far idf is ahead of the other weights") == 1
    assert page.tags.count("figure") == 3
    assert page.tags.count("svg") == 3


def test_the_page_says_which_findings_hold(page):
    assert "Which findings hold here" in page.text
    assert "120 of 120" in page.text


def test_the_page_asks_for_nothing_from_outside(tmp_path):
    write_report(review_results(), tmp_path)
    text = (tmp_path / "report.html").read_text("utf-8")
    page = Page(text)
    assert not {"script", "img", "iframe", "object"} & set(page.tags)
    assert [value for name, value in page.attributes if name in ("src", "href")] == ["data:,"]
    links = [value for name, value in page.attributes if name == "xlink:href"]
    assert all(link.startswith("#") for link in links)
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text
    contents = [value for name, value in page.attributes if name == "content"]
    assert any(value.startswith("default-src 'none'") for value in contents)


def test_the_page_follows_the_reader_into_the_dark(tmp_path):
    write_report(review_results(), tmp_path)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "prefers-color-scheme: dark" in text


def test_the_best_of_each_row_is_bold():
    problems = [Problem("1", {"a": 0.5, "b": 0.75}), Problem("2", {"a": 0.5})]
    table = problem_table("t", "k", problems, ["a", "b"], 3)
    assert [[cell.best for cell in row] for row in table.rows] == [
        [False, False, True],
        [False, True, False],
    ]
    assert table.rows[1][2].text == ""


def test_scores_are_printed_as_in_papers():
    assert decimals(0.93041, 4) == ".9304"
    assert decimals(1.0, 3) == "1.000"
    assert decimals(-0.25, 2) == "-.25"


def test_an_unfinished_report_says_so(tmp_path):
    write_report(review_results(complete=False), tmp_path)
    for name in ("report.html", "report.md"):
        assert "Unfinished: the run was stopped" in (tmp_path / name).read_text()


def test_a_finished_report_does_not(page):
    assert "Unfinished" not in page.text


def test_the_title_names_what_texts_have_in_common(tmp_path):
    write_report(review_results(settings={"group_column": "newsgroup"}), tmp_path)
    assert "# Texts of the same newsgroup: ROC AUC" in (tmp_path / "report.md").read_text()


def test_one_problem_has_one_best_method(tmp_path):
    write_report(review_results(problems=review_results().problems[:1]), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "Problems: 1. Methods: 21. The best: subsampling-delta-pca on 1." in text


def test_nothing_finished_is_a_report_too(tmp_path):
    write_report(review_results(problems=(), complete=False, curve=None), tmp_path)
    assert "No problem is finished yet" in (tmp_path / "report.md").read_text()


def test_a_report_without_a_curve_leaves_figure_1_out(tmp_path):
    write_report(review_results(curve=None), tmp_path)
    assert "Figure 1" not in (tmp_path / "report.html").read_text("utf-8")


def test_what_people_wrote_is_shown_and_not_obeyed(tmp_path):
    hostile = '<script>alert(1)</script>|*"&\x00'
    results = forum_results(hostile, "other")
    write_report(results, tmp_path)
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert "script" not in page.tags
    assert '<script>alert(1)</script>|*"&\ufffd' in page.text
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "<script>" not in text.replace(r"\<script", "")
    assert r"\|\*" in text


def test_markdown_tables_have_as_many_cells_in_each_row():
    text = as_markdown(as_report(review_results()))
    for table in re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1


def test_figures_for_markdown_are_well_formed(tmp_path):
    write_report(review_results(), tmp_path)
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_forums_have_the_published_table_of_forums(tmp_path):
    write_report(forum_results("askubuntu", "meta"), tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "**Table 2, here**" in text
    assert "| wordpress | .845 |" in text  # none of the paper's forums is ours
    write_report(forum_results("wordpress", "meta"), tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "| wordpress | .845 |" in text
    assert "| android |" not in text


def test_lee_has_the_published_figures(tmp_path):
    problems = (Problem("all 350 stories", scores(0.3)), Problem("the 50 judged", scores(0.2)))
    write_report(Results("lee", "Pearson correlation", problems, {}, {}), tmp_path)
    page = Page((tmp_path / "report.html").read_text("utf-8"))
    assert "people among themselves .605" in page.text


def test_an_experiment_nobody_knows_is_reported_all_the_same(tmp_path):
    write_report(Results("weather", "skill", (Problem("a", {"b": 0.5}),), {}, {}), tmp_path)
    assert "weather: skill" in (tmp_path / "report.html").read_text("utf-8")


def test_a_finding_about_all_problems_holds_or_does_not():
    problems = tuple(
        Problem(str(k), {"idf-center": 0.5, "idf-center-pca": 0.6}) for k in range(1, 4)
    )
    text = as_markdown(as_report(review_results(problems=problems)))
    (row,) = [line for line in text.splitlines() if "mixed for center" in line]
    assert "| no | yes | helps on 3 of 3 |" in row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"auc": 1.5, "tf-idf": 0.25}, "auc 1.5, tf-idf 0.25"),
        ([1, 5], "1, 5"),
        (True, "yes"),
        (None, "–"),
        (112_492_500, "112,492,500"),
        (123456.7, "123,457"),
    ],
)
def test_facts_are_shown_as_words(value, text):
    assert format_value(value) == text
