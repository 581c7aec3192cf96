"""The evaluation page in a real browser: what a reader does with it works, on a desk and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Tab, browser, chromium
from run_fixtures import drawn

from etude.report.article import write_article
from etude.report.evaluation import write_report

pytestmark = pytest.mark.skipif(chromium() is None, reason="needs chromium, chromium-browser or google-chrome on the path")

TASKS = {"pick": "L0", "move_without_hitting": "L0", "stack_reversed": "L1", "follow_order_restore": "L1", "throw_sort": "L2"}
DESK, PHONE, PAPER = (1280, 900), (360, 740), 718  # A4 between margins of 1 cm


def write_mp4(path: Path) -> None:
    """Two seconds of a square on its way."""
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for k in range(40):
            frame = np.full((48, 64, 3), 230, np.uint8)
            frame[16:32, k : k + 16] = (181, 84, 43)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())


@pytest.fixture(scope="module")
def report_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three policies, one with perturbations, errors and a film, one with a planner."""
    folder = tmp_path_factory.mktemp("report")
    write_mp4(folder / "one" / "films" / "0.mp4")
    rates = {"L0": 0.95, "L1": 0.6, "L2": 0.3}
    perturbations = {"dark": 0.9, "dark+object_texture+paraphrase": 0.5, "no_words": 1.0}
    one = drawn(TASKS, "one", rates, 8, perturbations, error_rate=0.15, folder=folder / "one")
    first = next(k for k, r in enumerate(one.records) if r.outcome == "failure")
    one = replace(one, records=tuple(replace(r, film="films/0.mp4") if k == first else r for k, r in enumerate(one.records)))
    two = drawn(TASKS, "a-policy-with-quite-a-long-name-as-they-have", rates, 8, folder=folder / "two")
    three = drawn(TASKS, "two", rates, 8, mode="coupled", planner="chat:some-model", folder=folder / "three")
    path = folder / "report.html"
    write_report([one, two, three], path, embed_films=1)
    write_article([one, two, three], folder / "article.html")
    return path


@pytest.fixture(scope="module")
def shared_tab() -> Iterator[Tab]:
    with browser() as tab:
        yield tab


@pytest.fixture
def tab(shared_tab: Tab, report_page: Path) -> Tab:
    """The page, freshly opened in light colours on a desk."""
    shared_tab.size(*DESK)
    shared_tab.dark(False)
    shared_tab.open(report_page)
    return shared_tab


def column(tab: Tab, table: str, number: int) -> list[str]:
    """The values by which a column is sorted, in the order of the rows that are seen."""
    rows = f"[...document.querySelectorAll('#{table} tbody tr')].filter(row => !row.hidden)"
    return tab.run(f"{rows}.map(row => row.cells[{number}].dataset.value ?? row.cells[{number}].textContent)")


def test_it_opens_without_complaints_and_asks_for_nothing_but_itself(tab, report_page):
    assert tab.run("document.readyState") == "complete"
    assert tab.complaints() == []
    assert tab.requests() == [report_page.resolve().as_uri()]


def test_a_press_on_a_header_sorts_and_another_turns_the_order_round(tab):
    header = "document.querySelectorAll('#tasks-table thead th')[3]"
    before = column(tab, "tasks-table", 0)
    tab.run(f"{header}.querySelector('button').click()")
    values = [float(v) for v in column(tab, "tasks-table", 3)]
    assert values == sorted(values, reverse=True) and len(set(values)) > 1
    assert tab.run(f"{header}.ariaSort") == "descending"
    tab.run(f"{header}.querySelector('button').click()")
    assert [float(v) for v in column(tab, "tasks-table", 3)] == sorted(values)
    assert tab.run(f"{header}.ariaSort") == "ascending"
    assert sorted(column(tab, "tasks-table", 0)) == sorted(before)


def test_headers_sort_by_keyboard_and_only_one_column_is_said_to_be_sorted(tab):
    tab.run("document.querySelectorAll('#tasks-table th button')[1].click()")
    tab.run("document.querySelector('#tasks-table th button').focus()")
    tab.press("Enter")
    names = column(tab, "tasks-table", 0)
    assert names == sorted(names)
    sorts = tab.run("[...document.querySelectorAll('#tasks-table th[data-sort]')].map(h => h.ariaSort)")
    assert sorts == ["ascending"] + ["none"] * (len(sorts) - 1)


def test_filters_narrow_the_list_and_say_how_far(tab):
    form = "document.querySelector('form[data-for=failures-table]')"
    everything = column(tab, "failures-table", 0)
    tab.run(f"{form}.querySelector('input').value = 'THROW'; {form}.dispatchEvent(new Event('input'))")
    found = column(tab, "failures-table", 0)
    assert 0 < len(found) < len(everything) and all("throw" in name for name in found)
    assert tab.run(f"{form}.querySelector('output').value") == f"{len(found)} of {len(everything)} rows"
    tab.run(f"{form}.reset(); {form}.querySelector('[data-key=outcome]').value = 'error'; {form}.dispatchEvent(new Event('input'))")
    errors = tab.run("[...document.querySelectorAll('#failures-table tbody tr')].filter(r => !r.hidden).map(r => r.dataset.outcome)")
    assert errors and set(errors) == {"error"}
    tab.run(f"{form}.querySelector('[data-key=level]').value = 'L1'; {form}.dispatchEvent(new Event('input'))")
    assert column(tab, "failures-table", 0) == []  # errors know no level: both filters must hold
    assert tab.run(f"{form}.querySelector('output').value").startswith("0 of ")


def test_tasks_can_be_filtered_by_level_and_outcome(tab):
    form = "document.querySelector('form[data-for=tasks-table]')"
    tab.run(f"{form}.querySelector('[data-key=level]').value = 'L2'; {form}.dispatchEvent(new Event('input'))")
    assert column(tab, "tasks-table", 0) == ["clevrskills/throw_sort"]
    tab.run(f"{form}.querySelector('[data-key=outcome]').value = 'every'; {form}.dispatchEvent(new Event('input'))")
    assert column(tab, "tasks-table", 0) == []


def test_enter_in_a_search_does_not_leave_the_page(tab):
    tab.run("document.querySelector('form[data-for=tasks-table] input').focus()")
    tab.press("Enter")
    assert tab.run("document.querySelectorAll('#tasks-table tbody tr').length") == len(TASKS)
    assert len(tab.requests()) == 1


def test_the_legend_hides_a_policy_and_brings_it_back(tab):
    seen = "[...document.querySelectorAll('.headline .card')].filter(c => c.offsetParent !== null).length"
    assert tab.run(seen) == 3
    tab.run("document.querySelectorAll('.chip')[1].click()")
    assert tab.run(seen) == 2
    assert tab.run("document.querySelectorAll('.chip')[1].ariaPressed") == "false"
    tab.run("document.querySelectorAll('.chip')[1].click()")
    assert tab.run(seen) == 3


def test_a_film_plays(tab):
    assert tab.run("document.querySelectorAll('video').length") == 1
    tab.wait("document.querySelector('video').readyState >= 2")
    assert tab.run("document.querySelector('video').play().then(() => document.querySelector('video').videoWidth)") == 64
    tab.wait("document.querySelector('video').currentTime > 0.2")
    assert tab.run("document.querySelector('video').error") is None


@pytest.mark.parametrize("opened", [False, True], ids=["as it opens", "with all details open"])
@pytest.mark.parametrize("size", [PHONE, (768, 1024), DESK], ids=str)
def test_the_page_never_scrolls_sideways(tab, report_page, size, opened):
    tab.size(*size)
    tab.open(report_page)
    if opened:
        tab.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    # a phone would rather zoom out than scroll: its window must still be as wide as the screen
    assert tab.run("[document.documentElement.scrollWidth, innerWidth]") == [tab.run("document.documentElement.clientWidth"), size[0]]


def test_wide_tables_scroll_inside_their_own_box(tab, report_page):
    tab.size(*PHONE)
    tab.open(report_page)
    box = "document.querySelector('#tasks-table').parentElement"
    assert tab.run(f"{box}.scrollWidth > {box}.clientWidth")
    assert tab.run(f"{box}.tabIndex") == 0  # so that keys can scroll it


def test_dark_mode_changes_the_background(tab):
    background = "getComputedStyle(document.body).backgroundColor"
    light = tab.run(background)
    tab.dark(True)
    dark = tab.run(background)
    assert brightness(light) > 0.9 and brightness(dark) < 0.2


@pytest.mark.parametrize("name", ["report.html", "article.html"])
def test_on_paper_nothing_is_cut_off_folded_or_dark(tab, report_page, name):
    tab.open(report_page.with_name(name))
    tab.paper(PAPER)
    beyond = f"[...document.querySelectorAll('table, pre, svg, p, h3')].filter(e => e.getBoundingClientRect().right > {PAPER} + 1).length"
    cut = """[...document.querySelectorAll('.scroll, .printed, pre')].filter(e =>
        getComputedStyle(e).overflow !== 'visible' || e.scrollWidth > e.clientWidth + 1).length"""
    folded = "[...document.querySelectorAll('details > :not(summary)')].filter(e => !e.checkVisibility()).length"
    assert tab.run("document.querySelectorAll('table').length") > 3
    if name == "report.html":
        assert tab.run(folded) == 0
        tab.dark(False)
        assert tab.run(folded) > 0  # on the screen it is
        tab.paper(PAPER)
    assert [tab.run(beyond), tab.run(cut), tab.run(folded)] == [0, 0, 0]
    assert brightness(tab.run("getComputedStyle(document.body).backgroundColor")) > 0.9


def test_what_printing_unfolds_is_folded_again(tab):
    tab.run("document.querySelector('details').open = true; dispatchEvent(new Event('beforeprint'))")
    assert tab.run("document.querySelectorAll('details:not([open])').length") == 0
    tab.run("dispatchEvent(new Event('afterprint'))")
    assert tab.run("[...document.querySelectorAll('details')].map(d => d.open)")[:2] == [True, False]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=str)
def test_an_article_fits_a_desk_and_a_phone(tab, report_page, size):
    tab.size(*size)
    tab.open(report_page.with_name("article.html"))
    assert tab.complaints() == [] and tab.run("document.documentElement.scrollWidth") == tab.run("document.documentElement.clientWidth")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_and_marks_have_contrast(tab, dark):
    """WCAG asks 4.5 to 1 for text and 3 to 1 for marks."""
    tab.dark(dark)
    names = ["paper", "card", "ink", "soft", "accent", "good", "bad", "planning", *(f"c{k}" for k in range(8))]
    colours = tab.run(f"{names}.map(n => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim())")
    value = dict(zip(names, map(luminance, colours), strict=True))
    for ground in ("paper", "card"):
        for name in names[2:]:
            high, low = sorted((value[name], value[ground]), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= (3 if re.fullmatch(r"c\d", name) else 4.5), (name, ground)


def test_every_control_and_picture_has_a_name(tab):
    nameless = """[...document.querySelectorAll('button, a, input, select, svg[role=img], video, img, table')].filter(e =>
        !(e.ariaLabel || e.textContent.trim() || e.alt || e.labels?.[0]?.textContent.trim())).length"""
    assert tab.run(nameless) == 0


def brightness(colour: str) -> float:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
