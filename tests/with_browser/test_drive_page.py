"""Driving in a real browser: keys and a gamepad move the hand, and what is kept is a dataset."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Tab, browser, chromium
from drivers import PICK, Driver, driver, served

from etude.datasets.replaying import replay
from etude.datasets.validate import validate

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="needs chromium, chromium-browser or google-chrome on the path"),
]

OTHER, TRACE = "clevrskills/pick@train#1", "clevrskills/trace@train#0"
KEYS = {(0, 1): "KeyD", (0, -1): "KeyA", (1, 1): "KeyW", (1, -1): "KeyS", (2, 1): "KeyR", (2, -1): "KeyF"}
PAD = """(pad => { navigator.getGamepads = () => [pad]; window.pad = pad; })({ index: 0, connected: true, mapping: "standard",
  axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false })) })"""
PIXELS = """(() => { const c = document.querySelector(".stage canvas"), g = c.getContext("webgl2");
  etudeDrive.around().draw({}, [], document.querySelector(".names"));
  const p = new Uint8Array(4 * c.width * c.height); g.readPixels(0, 0, c.width, c.height, g.RGBA, g.UNSIGNED_BYTE, p);
  return [c.width, c.height, btoa(Array.from(p, v => String.fromCharCode(v)).join(""))]; })()"""


@pytest.fixture(scope="module")
def shared_tab() -> Iterator[Tab]:
    with browser() as tab:
        yield tab


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with served(folder, (PICK, OTHER)) as found:
        yield found


@pytest.fixture
def tab(shared_tab: Tab, address: str) -> Tab:
    return opened(shared_tab, address)


def opened(tab: Tab, address: str) -> Tab:
    """The page with the first episode shown and its help put away, on a small desk, looked at along x."""
    tab.size(1280, 720)
    tab.dark(False)
    tab.visit(address)
    tab.wait("typeof etudeDrive !== 'undefined' && etudeDrive.now.state === 'ready'")
    tab.run("etudeDrive.keys.close()")
    tab.run("(() => { etudeDrive.around().orbit.yaw = Math.PI; })()")
    return tab


def key(tab: Tab, kind: str, code: str) -> None:
    text = {"Space": " ", "ShiftLeft": "Shift"}.get(code, code.removeprefix("Key").lower())
    tab.ask("Input.dispatchKeyEvent", type=kind, code=code, key=text)


def press(tab: Tab, code: str) -> None:
    key(tab, "keyDown", code)
    key(tab, "keyUp", code)


def state(tab: Tab) -> dict:
    return tab.run("etudeDrive.state()")


def broken(tab: Tab) -> list[str]:
    """What went wrong; that pixels are read back slows drawing down, which is told as a warning."""
    return [text for text in tab.complaints() if "GPU stall" not in text]


def pixels(tab: Tab) -> np.ndarray:
    width, height, text = tab.run(PIXELS)
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)[::-1, :, :3].astype(int)


def hold(tab: Tab, person: Driver) -> str:
    """Hold the keys that this person would, until the episode is over; gives how it ended."""
    down: set[str] = set()
    while (now := state(tab))["state"] in ("ready", "driving"):
        wanted = person.held(now["tip"])
        codes = {KEYS[c, round(v)] for c, v in enumerate(wanted["move"]) if v} | ({"ShiftLeft"} if wanted["slow"] else set())
        for code in down - codes:
            key(tab, "keyUp", code)
        for code in codes - down:
            key(tab, "keyDown", code)
        down = codes
        if wanted["closed"] != now["closed"]:
            press(tab, "Space")
        tab.wait(f"etudeDrive.now.moments !== {now['moments']}")
    for code in down:
        key(tab, "keyUp", code)
    return now["state"]


def test_a_key_moves_the_hand_where_it_is_seen_to_go(tab):
    before, seen = state(tab)["tip"], pixels(tab)
    key(tab, "keyDown", "KeyD")
    tab.wait(f"etudeDrive.state().tip[1] < {before[1]} - 0.08")
    key(tab, "keyUp", "KeyD")
    press(tab, "KeyP")
    tab.wait("etudeDrive.now.state === 'paused'")
    after = state(tab)["tip"]
    assert abs(after[0] - before[0]) < 0.01 and abs(after[2] - before[2]) < 0.01
    assert (np.abs(seen - pixels(tab)).max(2) > 20).mean() > 0.005 and broken(tab) == []
    tab.run("(() => { etudeDrive.around().orbit.yaw = Math.PI / 2; })()")  # from the side, away is elsewhere
    press(tab, "KeyP")
    tab.wait("etudeDrive.now.state === 'driving'")
    key(tab, "keyDown", "KeyS")
    tab.wait(f"etudeDrive.state().tip[1] > {after[1]} + 0.05")
    key(tab, "keyUp", "KeyS")


def test_an_episode_that_is_driven_and_kept_is_in_the_data_set(shared_tab, folder):
    with served(folder, (PICK, OTHER)) as address:
        tab = opened(shared_tab, address)
        assert tab.run("document.querySelector(\"[data-do='keep']\").disabled")
        assert hold(tab, driver(slowly=0.1)) == "success"
        assert tab.run("document.querySelector('.status').textContent").startswith("Success!")
        assert tab.run("document.querySelectorAll('.goal .satisfied').length") > 0
        press(tab, "KeyN")  # a slip: what succeeded is not lost by it
        tab.wait("document.querySelector('.note').textContent.includes('keep this one')")
        press(tab, "Enter")
        tab.wait(f"document.querySelector('.name').textContent.startsWith({json.dumps(OTHER)}) && etudeDrive.now.state === 'ready'")
        assert tab.run("document.querySelector('.kept').textContent").startswith("1 kept in")
        press(tab, "KeyB")
        tab.wait("document.querySelector('.kept').textContent.includes('this one is among them')")
        tab.run("document.querySelector(\"[data-do='finish']\").click()")
        tab.wait("document.querySelector('.status').textContent.startsWith('Finished')")
        assert broken(tab) == []
    assert not validate(folder).defects and [one.same for one in replay(folder)] == [True]


def test_a_gamepad_drives_too(tab):
    before = state(tab)["tip"]
    tab.run(PAD)
    tab.run("(() => { pad.axes = [0.05, -0.05, 0.05, 0.05]; })()")  # a stick that does not quite rest
    tab.run("new Promise(done => setTimeout(done, 300))")
    assert state(tab)["state"] == "ready"
    tab.run("(() => { pad.axes = [1, 0, 0, 1]; pad.buttons[0].pressed = true; })()")  # to the right and down, and the hand closes
    tab.wait(f"etudeDrive.state().tip[1] < {before[1]} - 0.05 && etudeDrive.state().tip[2] < {before[2]} - 0.05 && etudeDrive.now.closed")
    tab.run("(() => { pad.axes = [0, 0, 0, 0]; pad.buttons[0].pressed = false; pad.buttons[8].pressed = true; })()")
    tab.wait(f"etudeDrive.now.state === 'ready' && Math.abs(etudeDrive.state().tip[1] - {before[1]}) < 0.001")  # begun again
    assert not state(tab)["closed"] and broken(tab) == []


def test_space_closes_the_hand_and_opens_it(tab):
    press(tab, "Space")
    tab.wait("document.querySelector('.hand').textContent === 'hand closed'")
    press(tab, "Space")
    tab.wait("document.querySelector('.hand').textContent === 'hand open'")


def test_who_looks_away_pauses(tab):
    key(tab, "keyDown", "KeyR")
    tab.wait("etudeDrive.now.state === 'driving'")
    tab.run("(() => { dispatchEvent(new Event('blur')); })()")
    tab.wait("etudeDrive.now.state === 'paused'")
    assert state(tab)["held"] == []
    key(tab, "keyUp", "KeyR")


def test_the_keys_are_explained_and_driving_waits_for_it(tab):
    press(tab, "KeyH")
    assert tab.run("etudeDrive.keys.open && document.querySelectorAll('dialog tbody tr').length > 10")
    press(tab, "KeyW")
    assert state(tab)["state"] == "ready"
    press(tab, "KeyH")
    assert not tab.run("etudeDrive.keys.open")


def test_cameras_are_looked_through_by_number_and_away_is_theirs(tab):
    press(tab, "Digit1")
    assert state(tab)["looking"] == 0
    assert tab.run("document.querySelector('.viewpoints [aria-pressed=true]').textContent") == "base"
    heading = tab.run("etudeDrive.around().heading()")
    assert math.isfinite(heading)
    press(tab, "Digit0")
    assert state(tab)["looking"] == -1


def test_a_reload_shows_the_episode_where_it_was(tab):
    key(tab, "keyDown", "KeyF")
    tab.wait("etudeDrive.now.moments > 10")
    key(tab, "keyUp", "KeyF")
    press(tab, "KeyP")
    tab.wait("etudeDrive.now.state === 'paused'")
    tip = state(tab)["tip"]
    tab.reload()
    tab.wait("typeof etudeDrive !== 'undefined' && etudeDrive.now.state === 'paused'")
    assert state(tab)["tip"] == tip and not tab.run("etudeDrive.keys.open")


def test_markers_light_up_as_they_are_passed(shared_tab, folder):
    with served(folder, (TRACE,)) as address:
        tab = opened(shared_tab, address)
        markers = [(-0.120, 0.272, 0.269, False), (0.034, -0.240, 0.169, False), (-0.207, 0.014, 0.296, False)]
        assert hold(tab, Driver(markers, 0.1)) == "success" and broken(tab) == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (380, 760)])
def test_it_fits_the_screen(tab, width, height, dark):
    tab.size(width, height)
    tab.dark(dark)
    tab.wait("document.documentElement.scrollWidth <= innerWidth")
    if width > 820:
        tab.wait("document.documentElement.scrollHeight <= innerHeight")
        low = tab.run("Math.max(...[...document.querySelectorAll('.drive button')].map(b => b.getBoundingClientRect().bottom))")
        assert low <= height
