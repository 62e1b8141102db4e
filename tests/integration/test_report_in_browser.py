"""The report as its reader sees it: in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deltavec.core.recipes import RECIPES
from deltavec.lab.report.report import write_report
from deltavec.lab.results import Lengths, Problem, Results, WeightCurve
from support.browser import Browser, running_browser

HOSTILE = "<img src=https://example.com/x.png onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


def results(experiment: str, names: list[str]) -> Results:
    problems = tuple(
        Problem(
            name,
            {recipe: 0.6 + (7 * row + column) % 40 / 100 for column, recipe in enumerate(RECIPES)}
            | {"tf-idf": 0.7, HOSTILE: 0.65},
            Lengths(3, 100.0 * (row + 1), 900),
            {"documents": 100, "seconds": {"auc": 0.5}},
        )
        for row, name in enumerate(names)
    )
    curve = WeightCurve([1e-6, 1e-4, 1e-2], [9.0, 5.0, 1.0], [0.99, 0.5, 0.01], [1.0, 0.3, 0.03])
    return Results(experiment, "ROC AUC", problems, {"seed": 0}, {"name": HOSTILE}, curve)


REPORTS = {
    "reviews": results("reviews", [str(k) for k in range(1, 21)]),
    "duplicate-questions": results("duplicate-questions", ["unix", HOSTILE]),
    "lee": results("lee", ["all 350 stories", "the 50 judged"]),
}


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_report(REPORTS[request.param], tmp_path)
    return tmp_path / "report.html"


def shown(browser: Browser, selector: str) -> int:
    """How many elements are there, and take up room."""
    count = browser.evaluate(
        f"[...document.querySelectorAll('{selector}')].map(e => e.getBoundingClientRect())"
        ".filter(box => box.width * box.height > 0).length"
    )
    assert isinstance(count, int)
    return count


def test_tables_and_figures_are_there(browser: Browser, report: Path) -> None:
    browser.show(report)
    assert shown(browser, "table") >= 5
    assert shown(browser, "figure svg") == shown(browser, "figure") >= 2
    assert shown(browser, "svg text") > 30
    assert shown(browser, "td b") >= 2
    headings = browser.evaluate("[...document.querySelectorAll('h2')].map(e => e.innerText)")
    assert "Which findings hold here" in headings


def test_the_console_stays_silent(browser: Browser, report: Path) -> None:
    browser.show(report)
    assert browser.complaints == []


def test_nothing_is_asked_of_the_network(browser: Browser, report: Path) -> None:
    browser.show(report)
    asked = [address for address in browser.addresses if not address.startswith("data:")]
    assert asked == [report.as_uri()]


def test_a_request_and_an_error_would_be_noticed(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text('<img src="http://127.0.0.1:9/x.png"><script>missing()</script>')
    browser.show(page)
    assert browser.addresses[1:] == ["http://127.0.0.1:9/x.png"]
    assert browser.complaints


def test_labels_stay_inside_their_figures(browser: Browser, report: Path) -> None:
    browser.show(report)
    outside = browser.evaluate(
        "[...document.querySelectorAll('svg text')].filter(e => {"
        "const t = e.getBoundingClientRect(), s = e.ownerSVGElement.getBoundingClientRect();"
        "return t.left < s.left - 1 || t.right > s.right + 1"
        " || t.top < s.top - 1 || t.bottom > s.bottom + 1;}).map(e => e.textContent)"
    )
    assert outside == []


@pytest.mark.parametrize("width", [360, 400, 768, 1200])
def test_the_page_fits_its_window(browser: Browser, report: Path, width: int) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=800, deviceScaleFactor=1, mobile=width < 500,
    )  # fmt: skip
    browser.show(report)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_light_and_dark_are_both_easy_to_read(browser: Browser, report: Path) -> None:
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.call("Emulation.setEmulatedMedia", features=[feature])
        browser.show(report)
        ground = luminance(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert (ground > 0.5) is (scheme == "light")
        inks = browser.evaluate(
            "[...new Set([...document.querySelectorAll('p, td, th, figcaption, td b')]"
            ".map(e => getComputedStyle(e).color))]"
        )
        assert len(inks) >= 3
        for ink in inks:  # what the W3C's accessibility guidelines ask of text
            assert contrast(luminance(ink), ground) >= 4.5, (scheme, ink)
    browser.call("Emulation.setEmulatedMedia", features=[])


def luminance(color: str) -> float:
    """The relative luminance of a color such as rgb(0, 103, 168)."""
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (int(part) / 255 for part in color.removeprefix("rgb(")[:-1].split(","))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: float, other: float) -> float:
    """How far apart two luminances are, from 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
