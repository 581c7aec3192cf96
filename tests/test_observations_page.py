"""The page about observations says what suites show, take and allow: its tables are made here (python tests/test_observations_page.py)."""

from __future__ import annotations

import re
from pathlib import Path

from etude.episodes import CONTROLS, Episode
from etude.evaluation.plan import OWN
from etude.evaluation.record import MODES
from etude.index import INDEX
from etude.library import find, tasks
from etude.scene.scene import Camera
from etude.suites.suite import SUITES

PAGE = Path(__file__).parent.parent / "docs/observations.md"
MADE = re.compile(r"(?<=<!-- made -->\n).*?(?=<!-- end -->)", re.DOTALL)


def listed(values: object) -> str:
    return ", ".join(dict.fromkeys(f"`{value}`" for value in values)) or "–"


def table(*lines: tuple[str, ...]) -> str:
    first, *rest = ["| " + " | ".join(line) + " |\n" for line in lines]
    return first + "|" + "---|" * len(lines[0]) + "\n" + "".join(rest)


def angle(camera: Camera) -> str:
    return f"{camera.fov:.0f}°" if camera.fov is not None else f"parallel, {camera.extent:g} m high"


def firsts(suite: str) -> list[Episode]:
    """The first episode of every task with a robot."""
    found = [find(f"{suite}/{name}@{task.splits[0]}#0") for name, task in tasks(suite).items() if task.control != "answer"]
    return [one for one in found if isinstance(one, Episode)]


def modes(suite: str, robots: bool) -> list[str]:
    return [mode for mode in MODES if mode not in OWN or mode in SUITES[suite].modes] if robots else ["vanilla"]


def made() -> str:
    """The tables of all suites that come with etude."""
    suites, cameras = [], []
    for name in INDEX:
        suite, episodes = SUITES[name], firsts(name)
        robots = [one.scene.robot for one in episodes if one.scene.robot is not None]
        spaces = [one.control for one in episodes] or ["answer"]
        spaces += [episodes[0].under(space).control for space in CONTROLS if episodes]
        splits = ", ".join(f"`{split}` ({purpose})" for split, purpose in suite.splits.items())
        size = "×".join(map(str, suite.size))
        suites.append(
            (f"`{name}`", listed(f"{r.arm}, {r.hand}" for r in robots), size, listed(spaces), splits, listed(modes(name, bool(robots))))
        )
        seen: dict[tuple[str, str], dict[str, None]] = {}
        for camera in (camera for one in episodes for camera in one.scene.cameras):
            seen.setdefault((camera.name, camera.mount), {})[angle(camera)] = None
        cameras += [(f"`{name}`", f"`{camera}`", mount, " or ".join(angles)) for (camera, mount), angles in seen.items()]
    return (
        "\n" + table(("suite", "arm, hand", "pictures", "actions, its own first", "splits", "modes"), *suites)
        + "\n" + table(("suite", "camera", "mounted on", "vertical field of view"), *cameras) + "\n"
    )  # fmt: skip


def test_the_page_says_what_suites_show_take_and_allow():
    (written,) = MADE.findall(PAGE.read_text(encoding="utf-8"))
    assert written == made()


if __name__ == "__main__":
    PAGE.write_text(MADE.sub(lambda _: made(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
