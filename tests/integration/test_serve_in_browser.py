"""The explorer as its reader sees it: in a real browser."""

from __future__ import annotations

import math
from pathlib import Path

import axe_core_python
import pytest

import deltavec as dv
from deltavec.server.app import create_app
from deltavec.server.map_view import MapView
from support.browser import Browser
from support.explorer_page import CARDS, QUIET, READY, TITLE, asked, search, texts
from support.served import TEXTS, on_a_socket, small_collection

WHY_IS_OPEN = "document.querySelector('#why[open] .pairs li') !== null"


def test_behind_a_proxy_the_page_works_below_its_path(
    window: Browser, collection: dv.Collection, map_view: MapView
) -> None:
    app = create_app(collection, map_view=map_view, root_path="/our/reviews")
    with on_a_socket(app) as address:
        window.visit("about:blank")
        window.visit(f"{address}/our/reviews/")
        window.until(READY)
        search(window, "storms")
        assert window.complaints == []
        assert all(one.startswith(f"{address}/our/reviews/") for one in window.addresses)


def touched_point(browser: Browser) -> tuple[float, float]:
    """A place on the map where a point is, found as a person would: by moving about."""
    left, top, width, height = browser.evaluate(
        "(box => [box.left, box.top, box.width, box.height])"
        "(document.getElementById('marks').getBoundingClientRect())"
    )
    for step in range(400):
        angle, radius = step * 2.4, 0.024 * math.sqrt(step)
        x = left + width * (0.5 + radius * math.cos(angle))
        y = top + height * (0.5 + radius * math.sin(angle))
        browser.move(x, y)
        if browser.evaluate("document.getElementById('marks').style.cursor") == "pointer":
            return x, y
    raise AssertionError("there is no point on the map")


def test_the_start_shows_the_topics_there_are(browser: Browser) -> None:
    assert len(texts(browser, ".topic")) == 8
    assert texts(browser, "#size") == ["350 documents"]


def test_results_come_while_typing_with_their_words_shaded(
    browser: Browser, collection: dv.Collection
) -> None:
    search(browser, "bushfires near sydney")
    expected = [found.id for found in collection.search("bushfires near sydney", 20)]
    assert texts(browser, "#results .id") == expected
    assert browser.evaluate("document.querySelectorAll('#results mark.together').length") > 20
    held = texts(browser, "#results li:first-child mark.held")
    assert {"bushfire", "Sydney"} <= {word.strip() for word in held}  # in whatever form
    told = browser.evaluate(
        "[...document.querySelectorAll('mark')].map(m => m.title.split(':')[0])"
    )
    assert set(told) == {"found", "near in meaning"}
    assert browser.evaluate("!document.getElementById('scale').hidden")


def choose_way(browser: Browser, way: str) -> None:
    """Search by words, by meaning, or by both."""
    browser.evaluate(
        "(by => { by.value = '" + way + "'; by.dispatchEvent(new Event('change')); })"
        "(document.getElementById('by'))"
    )


def test_why_shows_what_each_word_adds(browser: Browser, collection: dv.Collection) -> None:
    search(browser, "bushfires near sydney")
    browser.press("ArrowDown")
    identity = texts(browser, "#results article:focus .id")[0]
    browser.press("w")
    browser.until("document.querySelector('#why[open] .shares .sum') !== null")
    why = collection.why("bushfires near sydney", identity)
    assert texts(browser, "#why-title .number") == [f"{why.score:.2f}"]
    assert texts(browser, "#why .shares .sum td:last-child") == [f"{why.score:+.3f}"]
    shown = texts(browser, "#why .shares tbody tr:not(.rest):not(.sum) th")
    assert shown == [word.word for word in why.words]
    browser.press("Escape")
    choose_way(browser, "keyword")
    browser.until("location.hash.includes('by=keyword')")
    expected = [found.id for found in collection.search("bushfires near sydney", 20, by="keyword")]
    shown = "[...document.querySelectorAll('#results .id')].map(one => one.innerText)"
    browser.until(f"{shown}.join() === {','.join(expected)!r}")
    choose_way(browser, "")


def test_why_shows_pairs_shares_and_what_was_taken_away(
    browser: Browser, collection: dv.Collection
) -> None:
    search(browser, "bushfires near sydney")
    first = collection.search("bushfires near sydney", 1, by="semantic")[0].id
    choose_way(browser, "semantic")
    browser.until(f"document.querySelector('#results .id')?.innerText === {first!r}")
    browser.until("document.querySelector('#results .score').title === 'cosine'")
    browser.press("ArrowDown")
    identity = texts(browser, "#results article:focus .id")[0]
    browser.press("w")
    browser.until(WHY_IS_OPEN)
    why = collection.model.explain("bushfires near sydney", collection.text(identity))
    assert texts(browser, "#why-title .number") == [f"{why.cosine:.2f}"]
    strongest = why.pairs[0]
    shown = texts(browser, "#why .pairs li:first-child span")
    assert shown[:2] == [strongest.word_a, strongest.word_b]
    assert texts(browser, "#why .shares .sum td:last-child") == [f"{why.cosine:+.3f}"] * 2
    assert "What was taken away" in texts(browser, "#why h3")
    centered = [row for row in texts(browser, "#why .rest th") if "center" in row]
    assert len(centered) == (2 if why.offset_a else 0)
    browser.press("Escape")
    browser.until("!document.getElementById('why').open")
    assert browser.evaluate("document.activeElement.matches('#results article')")


def test_any_two_documents_can_be_compared(browser: Browser) -> None:
    search(browser, "bushfires near sydney")
    browser.press("ArrowDown")
    held = texts(browser, "#results article:focus .id")[0]
    browser.press("c")
    browser.until("document.querySelector('.chip b')?.textContent === 'Compared with'")
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    other = texts(browser, "#results article:focus .id")[0]
    browser.press("w")
    browser.until(WHY_IS_OPEN)
    assert texts(browser, "#why figcaption") == [held, other]
    browser.press("Escape")


def test_the_keyboard_goes_everywhere(browser: Browser) -> None:
    search(browser, "a test match")
    for key, place in (("ArrowDown", 0), ("ArrowDown", 1), ("End", 19), ("Home", 0)):
        browser.press(key)
        focused = browser.evaluate("document.activeElement.dataset.number")
        assert focused == str(place)
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.evaluate(outline) == "solid"
    browser.press("Enter")
    browser.until(f"{TITLE} === 'Neighbors'")
    browser.press("Escape")
    browser.until(f"{TITLE} === 'Results'")
    assert browser.evaluate("document.activeElement.id") == "query"
    browser.press("ArrowDown")
    browser.press("ArrowUp")
    assert browser.evaluate("document.activeElement.id") == "query"


def test_the_map_can_be_walked_by_keyboard(browser: Browser) -> None:
    browser.press("m")
    assert browser.evaluate("document.activeElement.id") == "marks"
    browser.press("ArrowRight")
    browser.until("document.getElementById('map-spoken').textContent !== ''")
    browser.press("ArrowUp")
    browser.press("Enter")
    browser.until(f"{TITLE} === 'Neighbors'")


def test_a_point_shows_its_text_and_a_click_its_neighbors(browser: Browser) -> None:
    x, y = touched_point(browser)
    browser.until("!document.getElementById('tip').hidden")
    identity = texts(browser, "#tip b")[0]
    browser.click(x, y)
    browser.until(f"{TITLE} === 'Neighbors' && {CARDS} === 20")
    assert browser.evaluate(asked("like")) == identity
    browser.evaluate("history.back()")
    browser.until(f"{TITLE} === 'Explore'")


def test_results_are_lit_on_the_map(browser: Browser) -> None:
    marks = "document.getElementById('marks').toDataURL()"
    browser.evaluate(f"window.before = {marks}")
    search(browser, "a test match")
    browser.until(f"window.before !== {marks}")


def test_the_map_zooms_and_takes_other_colors(browser: Browser) -> None:
    picture = "document.getElementById('points').toDataURL()"
    browser.evaluate(f"window.before = {picture}")
    x, y = touched_point(browser)
    browser.scroll(x, y, -400)
    browser.until(f"window.before !== {picture}")
    browser.evaluate(
        "(choice => { choice.value = 'words'; choice.dispatchEvent(new Event('change')); })"
        "(document.getElementById('color-by'))"
    )
    browser.until("document.querySelector('.ramp') !== null")


def test_a_move_draws_only_what_comes_into_sight_and_the_picture_is_the_same(
    browser: Browser,
) -> None:
    browser.evaluate("""
        import('/page/map.js').then(({ PointMap }) => {
          const [points, marks] = ['points', 'marks'].map((id) => document.getElementById(id));
          const map = new PointMap(points, marks);
          const spread = (step) =>
            Array.from({ length: 20000 }, (_, n) => 2 * ((n * step) % 1) - 1);
          map.resize();
          map.show(spread(0.61803), spread(0.41421));
          map.drawPoints();
          map.waiting = true; // no frame in between
          let drawn = 0;
          const tile = map.drawTile.bind(map);
          map.drawTile = (left, top, width, height) => {
            drawn += width * height;
            tile(left, top, width, height);
          };
          map.shifted = null;
          map.move(7, -3);
          map.shiftPoints(...map.shifted);
          const part = drawn / (points.width * points.height);
          const moved = points.toDataURL();
          map.drawPoints();
          window.shift = { part, same: moved === points.toDataURL() };
        });
        0""")
    browser.until("window.shift")
    assert browser.evaluate("window.shift.same")
    assert browser.evaluate("window.shift.part") < 0.05


def test_drawing_around_points_lists_them_with_their_words_and_an_address(browser: Browser) -> None:
    browser.evaluate("document.getElementById('marks').focus()")
    browser.press("+")
    browser.press("s")  # what is in sight
    browser.until(f"{asked('area')} !== null && {QUIET} && {TITLE} === 'Area'")
    browser.until("document.querySelectorAll('#anchors .file').length === 2")
    count, words = texts(browser, "#anchors .chip b")[0], texts(browser, "#anchors .chip span")[0]
    assert 0 < int(count.split()[0]) < 350
    assert len(words.split(", ")) > 3
    browser.press("Escape")
    browser.until(f"{asked('area')} === null")


def test_a_filter_chooses_and_a_wrong_one_is_explained(browser: Browser) -> None:
    search(browser, "a test match")
    browser.evaluate("document.getElementById('filter').focus()")
    browser.write("words < 100")
    browser.until(f"{asked('filter')} === 'words < 100' && {QUIET}")
    assert browser.evaluate(
        "[...document.querySelectorAll('.fact')].filter(e => e.textContent.startsWith('words'))"
        ".every(e => Number(e.textContent.split(' ')[1]) < 100)"
    )
    browser.write(" andd")
    browser.until("document.getElementById('filter-error').textContent !== ''")
    # A refused request is a line in the console too: that one is meant.
    assert browser.complaints
    assert all("422" in line for line in browser.complaints)
    browser.events.clear()


def luminance(browser: Browser, selector: str) -> float:
    color = browser.evaluate(
        f"getComputedStyle(document.querySelector('{selector}')).backgroundColor"
    )
    red, green, blue = (int(part) for part in color.removeprefix("rgb(")[:-1].split(","))
    return (red + green + blue) / 765


def test_light_and_dark_follow_the_system_until_the_reader_chooses(browser: Browser) -> None:
    assert luminance(browser, "body") > 0.9
    browser.prefer("dark")
    browser.until("matchMedia('(prefers-color-scheme: dark)').matches")
    assert luminance(browser, "body") < 0.2
    browser.evaluate("document.getElementById('theme').click()")
    assert luminance(browser, "body") > 0.9
    browser.visit(browser.evaluate("location.href"))
    browser.until(READY)
    assert luminance(browser, "body") > 0.9


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_fits_its_window(browser: Browser, width: int) -> None:
    browser.sized(width, 800)
    search(browser, "a test match")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate("document.querySelector('#results footer button').click()")
    browser.until(WHY_IS_OPEN)
    assert browser.evaluate("document.querySelector('#why .sheet').scrollWidth") <= width
    browser.press("Escape")


def test_hostile_text_stays_text_and_a_token_is_asked_for(window: Browser, tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path), token="right", name="<img src=x onerror=alert(1)>")
    with on_a_socket(app) as address:
        window.sized(1280, 800)
        window.visit(address)
        window.until("document.getElementById('token').open")
        window.write("wrong")
        window.press("Enter")
        window.until("document.getElementById('token-text').textContent.includes('not the token')")
        window.until("document.getElementById('token').open")
        window.write("right")
        window.press("Enter")
        window.until(READY)
        assert texts(window, "#name") == ["<img src=x onerror=alert(1)>"]
        search(window, "xyzzy coffee")
        assert set(texts(window, "#results .id")) <= set(TEXTS)
        assert "<b>bold</b>" in window.evaluate("document.getElementById('results').innerText")
        assert (
            window.evaluate("document.querySelectorAll('#results b b, img[onerror]').length") == 0
        )
        assert window.evaluate("sessionStorage.getItem('deltavec-token')") == "right"
        assert window.evaluate("localStorage.length") == 0
        choose_way(window, "semantic")
        window.until("document.querySelector('#results .score')?.title === 'cosine'")
        window.press("ArrowDown")
        window.press("w")
        window.until(WHY_IS_OPEN)
        assert len(texts(window, "#why .split span")) == 2  # its model removes a component


def test_a_misspelled_word_is_corrected_with_a_click(browser: Browser) -> None:
    search(browser, "bushfiress near sydney")
    browser.until("document.querySelector('#suggestion button') !== null")
    assert texts(browser, "#suggestion button") == ["bushfire near sydney"]
    browser.evaluate("document.querySelector('#suggestion button').click()")
    browser.until(f"{asked('query')} === 'bushfire near sydney' && {QUIET}")
    assert browser.evaluate("document.getElementById('suggestion').hidden")
    assert "documents with a query word" in texts(browser, "#status")[0]


def test_facets_filter_sort_and_colors_stand_in_the_address(browser: Browser) -> None:
    search(browser, "a test match")
    browser.until("document.querySelectorAll('.facet').length > 1")
    browser.evaluate(
        "[...document.querySelectorAll('.facet')].find(e => e.textContent.startsWith('true'))"
        ".click()"
    )
    browser.until(f"{asked('filter')} === 'judged == true' && {QUIET}")
    browser.until("document.querySelector('.facet[aria-pressed=true]') !== null")
    assert texts(browser, "#filter-count") == ["50 of 350"]
    browser.evaluate(
        "sort = document.getElementById('sort'); sort.value = '-words';"
        "sort.dispatchEvent(new Event('change'))"
    )
    browser.until(f"{asked('sort')} === '-words' && {QUIET}")
    words = browser.evaluate(
        "[...document.querySelectorAll('.fact')].filter(e => e.textContent.startsWith('words'))"
        ".map(e => Number(e.textContent.split(' ')[1]))"
    )
    assert words == sorted(words, reverse=True)
    browser.evaluate(
        "color = document.getElementById('color-by'); color.value = 'judged';"
        "color.dispatchEvent(new Event('change'))"
    )
    browser.until("document.querySelectorAll('#legend li').length === 1")
    assert browser.evaluate(asked("color")) == "judged"
    here = browser.evaluate("location.href")
    browser.visit("about:blank")
    browser.visit(here)
    browser.until(READY)
    browser.until("document.getElementById('color-by').value === 'judged'")
    assert texts(browser, "#score-0") != []


def test_scores_are_shares_of_the_best(browser: Browser) -> None:
    search(browser, "bushfires near sydney")
    shown = [int(text) for text in texts(browser, ".score")]
    assert shown[0] == 100
    assert shown == sorted(shown, reverse=True)


def test_near_duplicates_are_shown_side_by_side_with_their_shared_text(browser: Browser) -> None:
    browser.evaluate("document.querySelector('#start button.inline').click()")
    browser.until("document.querySelectorAll('article.pair').length > 0")
    assert browser.evaluate(TITLE) == "Near-duplicates"
    browser.evaluate("document.querySelector('article.pair footer button').click()")
    browser.until("document.querySelector('#why[open]') !== null")
    browser.until("document.querySelectorAll('#why .same mark.held').length > 1")
    browser.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("look", ["", "#query=bushfires+near+sydney", "#duplicates=1"])
def test_no_rule_of_accessibility_is_violated(browser: Browser, scheme: str, look: str) -> None:
    rules = Path(axe_core_python.__path__[0], "axe.min.js").read_text("utf-8")
    address = browser.evaluate("location.origin")
    browser.prefer(scheme)
    browser.visit("about:blank")
    browser.visit(f"{address}/{look}")
    browser.until(READY)
    browser.until("document.querySelectorAll('#results li, .topic').length > 3")
    browser.settle()
    browser.evaluate(f"{rules}; found = null; axe.run().then((done) => {{ found = done; }}); 0")
    browser.until("found !== null")
    violated = browser.evaluate(
        "found.violations.map(one => one.id + ': ' + one.nodes.slice(0, 3).map(n => n.html))"
    )
    assert violated == []
