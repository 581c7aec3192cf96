"""Views in a real browser, drawn in software: what is seen is what etude's own renderer sees, and everything a visitor does works."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Tab, browser, chromium
from run_fixtures import record, run_of

from etude.envs.simulation import Simulation
from etude.evaluation.play import Players
from etude.evaluation.view import view_file, write_view
from etude.evaluation.viewing import episode_view
from etude.library import find
from etude.render.studio import Studio
from etude.report.evaluation import write_report
from etude.report.view_page import write_view_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="needs chromium, chromium-browser or google-chrome on the path"),
]

NAMES = ("clevrskills/pick@test#0", "vima/rotate@L1#0", "himan/open_drawer@test#0")
# With those above, as many as a report shows, of every suite that has a world.
MORE = (
    "clevrskills/stack@test#0", "clevrskills/throw@test#0", "vima/scene_understanding@L1#0", "vlmbench/pick_color@test_seen#0",
    "vlmbench/drawer@test_seen#0", "himan/put_in_and_close@test#0", "himan_real/table_item_in_drawer@test#0", "etudes/low@test#0",
    "etudes/drawers-low@test#0",
)  # fmt: skip
PIXELS = """(() => { const v = etudeViewer.viewer, g = v.gl; v.show();
  const w = v.canvas.width, h = v.canvas.height, p = new Uint8Array(4 * w * h); g.readPixels(0, 0, w, h, g.RGBA, g.UNSIGNED_BYTE, p);
  return [w, h, btoa(Array.from(p, c => String.fromCharCode(c)).join(""))]; })()"""


@pytest.fixture(scope="module")
def views() -> list[dict]:
    return [episode_view(Players("oracle"), name)[0] for name in NAMES]


@pytest.fixture(scope="module")
def page(views: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "view.html"
    write_view_page(views, path)
    return path


@pytest.fixture(scope="module")
def shared_tab() -> Iterator[Tab]:
    with browser() as tab:
        yield tab


@pytest.fixture
def tab(shared_tab: Tab, page: Path) -> Tab:
    """The page with its first view open, on a desk."""
    shared_tab.size(1280, 900)
    shared_tab.open(page)
    shared_tab.run("etudeViewer.opened.then(viewer => Boolean(viewer))")
    return shared_tab


def choose(tab: Tab, number: int) -> None:
    tab.run(
        f"(() => {{ const c = document.getElementById('view-choice'); c.value = '{number}'; c.dispatchEvent(new Event('change')); }})()"
    )
    tab.wait(f"etudeViewer.viewer && etudeViewer.root.dataset.view === '{number}' && etudeViewer.root.querySelector('canvas')")


def pixels(tab: Tab) -> np.ndarray:
    """The picture in the canvas, (H, W, 3), from the top."""
    width, height, text = tab.run(PIXELS)
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)[::-1, :, :3]


def broken(tab: Tab) -> list[str]:
    """What went wrong; that pixels are read back slows drawing down, which is told as a warning."""
    return [text for text in tab.complaints() if "GPU stall" not in text]


def press(tab: Tab, text: str) -> None:
    tab.run(f"[...document.querySelectorAll('.view button')].find(b => b.textContent === {json.dumps(text)}).click()")


def test_it_opens_from_a_file_and_asks_for_nothing_else(tab, page):
    assert tab.run("Boolean(etudeViewer.viewer)") and broken(tab) == []
    assert tab.requests() == [page.resolve().as_uri()]


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_through_a_camera_one_sees_what_the_renderer_sees(tab, number, views):
    choose(tab, number)
    tab.run("etudeViewer.viewer.seek(0)")
    names = [camera["name"] for camera in views[number]["cameras"]]
    world = Simulation(find(NAMES[number])).world
    for camera in dict.fromkeys((names[0], names[-1])):
        tab.run(f"etudeViewer.viewer.look({names.index(camera)})")
        seen = pixels(tab).astype(int)
        own = Studio(world).shoot(camera, (seen.shape[1], seen.shape[0]), supersample=True).rgb.astype(int)
        assert np.abs(seen - own).mean() < 3.5, (camera, np.abs(seen - own).mean())
    assert broken(tab) == []


def test_scrubbing_moves_things_and_lights_up_the_goal(tab):
    before = pixels(tab)
    assert tab.run("document.querySelectorAll('.goal .satisfied').length") == 0
    tab.run("(() => { const r = document.querySelector('.scrub input'); r.value = r.max; r.dispatchEvent(new Event('input')); })()")
    tab.wait("document.querySelector('.goal .satisfied')")
    after = pixels(tab)
    assert (np.abs(before.astype(int) - after).max(2) > 20).mean() > 0.005


def test_it_plays_to_its_end_and_stops_there(tab):
    tab.run("document.querySelector('.view select').value = '4'")
    press(tab, "Play")
    tab.wait("etudeViewer.viewer.state().time > 0")
    tab.wait("!etudeViewer.viewer.state().playing")
    state = tab.run("etudeViewer.viewer.state()")
    assert state["time"] == state["last"] and tab.run("document.querySelector('.time button').textContent") == "Play"


def test_a_drag_walks_around_and_a_wheel_comes_nearer(tab):
    start = tab.run("({...etudeViewer.viewer.orbit})")
    box = tab.run("(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector('canvas').getBoundingClientRect())")
    for kind, shift in (("mousePressed", 0), ("mouseMoved", 90), ("mouseReleased", 90)):
        tab.ask("Input.dispatchMouseEvent", type=kind, x=box[0] + shift, y=box[1] + shift / 3, button="left", buttons=1, clickCount=1)
    tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=-300)
    tab.wait(f"etudeViewer.viewer.orbit.distance < {start['distance']} * 0.9")
    now = tab.run("({...etudeViewer.viewer.orbit})")
    assert now["yaw"] < start["yaw"] - 0.3 and now["pitch"] > start["pitch"]


def test_a_step_out_of_a_camera_begins_where_it_stands(tab, views):
    names = [camera["name"] for camera in views[0]["cameras"]]
    tab.run(f"etudeViewer.viewer.look({names.index('base')})")
    seen = pixels(tab)
    tab.run("document.querySelector('canvas').dispatchEvent(new WheelEvent('wheel', { deltaY: 0.001 }))")
    assert tab.run("etudeViewer.viewer.state().looking") == -1
    assert np.abs(seen.astype(int) - pixels(tab)).mean() < 12


def test_contacts_and_forces_are_shown_on_request(tab):
    tab.run("etudeViewer.viewer.seek(etudeViewer.viewer.state().last)")
    before = pixels(tab)
    assert tab.run("document.querySelectorAll('.touching li').length") == 0
    press(tab, "Forces")
    tab.wait("document.querySelectorAll('.touching li').length > 0")
    red = np.array((217, 51, 26))
    near = (np.abs(pixels(tab).astype(int) - red).max(2) < 3) & (np.abs(before.astype(int) - red).max(2) > 10)
    assert near.sum() > 20
    assert tab.run("[...document.querySelectorAll('.touching li')].every(li => / N$/.test(li.textContent))")


def test_the_instruction_is_shown_with_its_pictures(tab, views):
    shown = tab.run("[...document.querySelectorAll('.told img')].map(i => i.naturalWidth)")
    assert len(shown) == sum("picture" in part for part in views[0]["told"]) > 0 and all(width > 16 for width in shown)


def test_all_cameras_can_be_seen_at_once(tab, views):
    press(tab, "What cameras see")
    tab.wait("document.querySelectorAll('.names span').length > 0")
    names = tab.run("[...document.querySelectorAll('.names span')].map(s => s.textContent)")
    assert names == [camera["name"] for camera in views[0]["cameras"]][: len(names)]


def test_a_narrow_page_does_not_scroll_sideways(tab):
    tab.size(380, 760)
    tab.wait("document.documentElement.scrollWidth <= innerWidth")


def test_a_report_with_views_of_every_suite_stays_below_5_mb_and_is_drawn_whole(shared_tab, views, tmp_path):
    shown = [*views, *(episode_view(Players("oracle"), name)[0] for name in MORE)]
    names = [view["episode"] for view in shown]
    for name, view in zip(names, shown, strict=True):
        write_view(view_file(tmp_path / "run", name, "vanilla"), {**view, "outcome": "failure"})
    page = tmp_path / "report.html"
    write_report([run_of([record(name, False) for name in names], tmp_path / "run")], page)
    assert page.stat().st_size < 5_000_000
    shared_tab.size(1280, 900)
    shared_tab.open(page)
    assert broken(shared_tab) == []
    drawn = shared_tab.run("[...document.querySelectorAll('.view img')].map(i => i.complete && i.naturalWidth > 0)")
    assert drawn == [True] * len(names)


def test_a_report_opens_the_view_of_a_failure_and_closes_it(shared_tab, views, tmp_path):
    folder = tmp_path / "run"
    write_view(view_file(folder, NAMES[0], "vanilla"), {**views[0], "outcome": "failure"})
    run = run_of([record(NAMES[0], False), record("clevrskills/pick@test#1", True)], folder)
    write_report([run], tmp_path / "report.html")
    shared_tab.size(1280, 900)
    shared_tab.open(tmp_path / "report.html")
    assert broken(shared_tab) == [] and shared_tab.run("document.querySelectorAll('canvas').length") == 0
    press(shared_tab, "Walk around")
    shared_tab.wait("etudeViewer.viewer && document.querySelector('.view canvas')")
    press(shared_tab, "Close")
    assert shared_tab.run("[document.querySelectorAll('canvas').length, document.querySelectorAll('.view img').length]") == [0, 1]
