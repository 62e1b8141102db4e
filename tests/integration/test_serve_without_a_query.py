"""The explorer without a query: filters, topics, colors and pages, in a real browser."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

import deltavec as dv
from support.browser import Browser
from support.explorer_page import CARDS, QUIET, TITLE, asked, search, texts

MAP = "document.getElementById('points').toDataURL()"
COUNT = "document.getElementById('filter-count').textContent"
IDS = "[...document.querySelectorAll('#results .id')].map(one => one.textContent)"
OPTIONS = "[...document.querySelectorAll('#filter-options li code')].map(one => one.textContent)"


def write_filter(browser: Browser, text: str) -> None:
    browser.evaluate("document.getElementById('filter').focus()")
    browser.write(text)


def choose(browser: Browser, element: str, value: Any) -> None:
    browser.evaluate(
        f"(one => {{ one.value = '{value}'; one.dispatchEvent(new Event('change')); }})"
        f"(document.getElementById('{element}'))"
    )


def to_the_end(browser: Browser, cards: int) -> None:
    """Scroll on and on until so many results are there."""
    browser.until(
        f"(document.querySelector('.found').scrollTop = 1e9, scrollTo(0, 1e9), {CARDS} === {cards})"
    )


def test_a_filter_alone_drives_the_list_the_count_and_the_map(
    browser: Browser, collection: dv.Collection
) -> None:
    browser.evaluate(f"window.before = {MAP}")
    write_filter(browser, "words < 100")
    left = np.flatnonzero(collection.mask("words < 100"))
    browser.until(f"{COUNT} === '{len(left)} of 350'")
    browser.until(f"{TITLE} === 'Documents' && window.before !== {MAP}")
    assert texts(browser, "#status") == [f"{len(left)} documents"]
    to_the_end(browser, len(left))
    assert browser.evaluate(IDS) == collection.ids.take(left).to_pylist()
    assert browser.evaluate("document.getElementById('more').hidden")
    browser.evaluate("document.getElementById('filter').value = ''")
    browser.write(" ")
    browser.until(f"{TITLE} === 'Explore' && {COUNT} === '' && window.before === {MAP}")


def test_a_filter_drives_the_map_beside_a_query_too(
    browser: Browser, collection: dv.Collection
) -> None:
    search(browser, "a test match")
    browser.settle()
    browser.evaluate(f"window.before = {MAP}")
    write_filter(browser, "judged == true")
    browser.until(f"{COUNT} === '50 of 350' && window.before !== {MAP} && {QUIET}")
    expected = [one.id for one in collection.search("a test match", 20, filter="judged == true")]
    browser.until(f"{IDS}.join() === {','.join(expected)!r}")


def test_points_that_the_filter_takes_away_cannot_be_touched(browser: Browser) -> None:
    write_filter(browser, "words < 0")
    browser.until(f"{COUNT} === '0 of 350'")
    browser.settle()
    left, top, width, height = browser.evaluate(
        "(box => [box.left, box.top, box.width, box.height])"
        "(document.getElementById('marks').getBoundingClientRect())"
    )
    for x in range(10):
        for y in range(10):
            browser.move(left + width * (x + 0.5) / 10, top + height * (y + 0.5) / 10)
            cursor = browser.evaluate("document.getElementById('marks').style.cursor")
            assert cursor != "pointer"


def test_the_filter_shows_examples_that_work(browser: Browser, collection: dv.Collection) -> None:
    browser.evaluate("document.getElementById('filter').focus()")
    browser.until(f"{OPTIONS}.length > 0")
    offered = browser.evaluate(OPTIONS)
    assert offered[0] == "words >= 150"
    assert offered[2] == "words >= 150 and judged == true"
    assert set(offered[3:]) == {"words", "judged", "day", "begins"}
    for _ in range(3):
        browser.press("ArrowDown")
    browser.press("Enter")
    left = int(collection.mask(offered[2]).sum())
    browser.until(f"{COUNT} === '{left} of 350'")


def test_the_filter_completes_columns_operators_and_values(
    browser: Browser, collection: dv.Collection
) -> None:
    write_filter(browser, "be")
    browser.until(f"{OPTIONS}.join() === 'begins'")
    browser.press("ArrowDown")
    browser.press("Tab")
    browser.until(f"{OPTIONS}.includes('==')")
    browser.press("ArrowDown")
    browser.press("Enter")
    browser.until(f"{OPTIONS}[0] === `'The'`")
    browser.write("'Is")
    browser.until(f"{OPTIONS}[0] === `'Israeli'`")
    browser.press("ArrowDown")
    browser.press("Enter")
    written = browser.evaluate("document.getElementById('filter').value.trim()")
    assert written == "begins == 'Israeli'"
    browser.until(f"{COUNT} === '{int(collection.mask(written).sum())} of 350'")
    browser.until(f"{OPTIONS}.join() === 'and,or'")
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('filter-help').hidden")
    browser.events.clear()  # what was half written was refused, as it should be


def test_a_filter_can_be_written_without_knowing_its_language(
    browser: Browser, collection: dv.Collection
) -> None:
    write_filter(browser, "words < 100")  # the caret stands right behind the number
    for chosen in ("and", "begins", "in (", "'The'", ",", "'A'", ")"):
        browser.until(f"{OPTIONS}.includes(`{chosen}`)")
        for _ in range(browser.evaluate(f"{OPTIONS}.indexOf(`{chosen}`)") + 1):
            browser.press("ArrowDown")
        browser.press("Enter")
    written = browser.evaluate("document.getElementById('filter').value")
    left = int(collection.mask(written).sum())
    assert left == int(collection.mask("words < 100 and begins in ('The', 'A')").sum()) > 0
    browser.until(f"{COUNT} === '{left} of 350'")
    browser.events.clear()  # what was half written was refused, as it should be


def test_a_topic_shows_all_its_documents(browser: Browser, collection: dv.Collection) -> None:
    clusters = collection.cluster(8)
    browser.evaluate(f"window.before = {MAP}")
    browser.evaluate("document.querySelectorAll('.topic')[1].click()")
    browser.until(f"{TITLE} === 'Topic' && {CARDS} === 20 && window.before !== {MAP}")
    to_the_end(browser, clusters.sizes[1])
    members = collection.ids.take(np.flatnonzero(clusters.labels == 1)).to_pylist()
    shown = browser.evaluate(IDS)
    assert sorted(shown) == sorted(members)
    assert shown[0] == clusters.central_ids[1]
    assert browser.evaluate("document.querySelectorAll('#results mark.together').length") > 20
    write_filter(browser, "words < 150")
    left = int((collection.mask("words < 150") & (clusters.labels == 1)).sum())
    browser.until(f"document.getElementById('status').textContent === '{left} documents'")
    assert browser.evaluate(asked("cluster")) == "1"
    browser.evaluate("document.activeElement.blur()")
    browser.press("Escape")
    browser.until(f"{TITLE} === 'Documents'")


def test_a_click_on_a_name_under_the_map_shows_that_topic(
    browser: Browser, collection: dv.Collection
) -> None:
    browser.evaluate("document.querySelectorAll('#legend button')[2].click()")
    browser.until(f"{TITLE} === 'Topic'")
    assert texts(browser, "#status") == [f"{collection.cluster(8).sizes[2]} documents"]
    browser.evaluate("document.querySelector('#results footer button').click()")
    browser.until("document.querySelector('#why[open] .pairs li') !== null")
    browser.press("Escape")


def test_the_number_of_topics_can_be_chosen(browser: Browser, collection: dv.Collection) -> None:
    for number in (12, 3):
        choose(browser, "clusters", number)
        browser.until(f"document.querySelectorAll('.topic').length === {number}")
        browser.until(f"document.querySelectorAll('#legend button').length === {number}")
        sizes = [str(size) for size in collection.cluster(number).sizes]
        assert texts(browser, ".topic small") == sizes
    colors = browser.evaluate(
        "[...document.querySelectorAll('.topic .dot')].map(one => one.style.background)"
    )
    assert len(set(colors)) == 3
    browser.evaluate("history.back()")
    browser.until("document.querySelectorAll('.topic').length === 12")
    assert browser.evaluate("document.getElementById('clusters').value") == "12"


def test_dates_and_numbers_have_a_scale_and_rare_names_an_entry(
    browser: Browser, collection: dv.Collection
) -> None:
    choose(browser, "color-by", "day")
    browser.until("document.querySelectorAll('.ticks span').length === 3")
    first, _, last = texts(browser, ".ticks span")
    assert (first, last) == ("Jun 2001", "May 2002")
    choose(browser, "color-by", "words")
    browser.until("!document.querySelector('.ticks span').textContent.includes('200')")
    choose(browser, "color-by", "begins")
    browser.until("document.querySelectorAll('#legend button').length === 9")
    begins = collection.column("begins").to_pylist()
    counts = sorted((begins.count(one) for one in set(begins)), reverse=True)
    assert texts(browser, "#legend small")[-1] == str(sum(counts[8:]))
    assert texts(browser, "#legend span")[-1] == "other"
    browser.evaluate(f"window.before = {MAP}")
    browser.evaluate("[...document.querySelectorAll('#legend button')].at(-1).click()")
    browser.until(f"window.before !== {MAP}")


def test_more_results_come_by_scrolling(browser: Browser, collection: dv.Collection) -> None:
    search(browser, "a test match")
    assert browser.evaluate(CARDS) == 20
    browser.until(f"(document.querySelector('.found').scrollTop = 1e9, {CARDS} >= 60)")
    shown = browser.evaluate(IDS)
    assert shown == [one.id for one in collection.search("a test match", len(shown))]


def test_on_a_phone_the_results_come_first_and_the_map_is_a_touch_away(browser: Browser) -> None:
    browser.sized(390, 844)
    search(browser, "a test match")
    place = "document.querySelector('.place').getBoundingClientRect().height"
    top = "document.querySelector('#results article')?.getBoundingClientRect().top"
    assert browser.evaluate(f"{top} < 300 && {place} === 0")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    browser.evaluate("document.getElementById('view').click()")
    browser.until(f"{place} > 500")
    assert browser.evaluate("document.documentElement.scrollHeight") <= 844
    browser.evaluate("document.getElementById('view').click()")
    browser.until(f"{place} === 0 && {top} < 300")
    to_the_end(browser, 40)


def test_what_is_looked_at_can_be_bookmarked(browser: Browser, address: str) -> None:
    browser.visit("about:blank")
    browser.visit(f"{address}/#filter=day+%3E%3D+%272002-05-01%27&cluster=0&clusters=3")
    browser.until(f"document.body.classList.contains('ready') && {TITLE} === 'Topic'")
    days = [one for one in texts(browser, ".fact") if one.startswith("day")]
    assert days
    assert all(datetime.date.fromisoformat(one.split()[-1]).year == 2002 for one in days)
