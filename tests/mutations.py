"""Damaged episode files: canonical episodes of every suite with a robot, with something in them changed as a file may be changed.

Whatever is changed, one of two things may happen: the episode can be played, or it is refused by one ``EtudeError`` of one line. A part of
the mutations is tried by ``make test``; all of them, in a process that may take no more than 6 GiB, by ``python tests/mutations.py``.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import functools
import json
import resource
import sys
import traceback
from collections import Counter
from typing import Any

import numpy as np

from etude.envs.simulation import Simulation
from etude.goals.monitor import Monitor
from etude.library import episode, read_episode
from etude.names import EtudeError, Stream, rng
from etude.render.studio import Studio
from etude.scene.world import World

# Between them they have every kind of entity and of instruction, both hands, fixtures with latches, drops and crumbs.
BASES = (
    "clevrskills/pick@train#1",
    "clevrskills/stack@train#0",
    "clevrskills/balance@train#0",
    "clevrskills/trace@test#0",
    "clevrskills/match_pose@train#2",
    "clevrskills/throw_topple@train#0",
    "vima/rotate@L1#0",
    "vima/rearrange_then_restore@L2#0",
    "vima/sweep_without_exceeding@L1#0",
    "vima/follow_motion@L4#0",
    "vima/twist@train#0",
    "vlmbench/pour_color@train#0",
    "vlmbench/door@train#0",
    "vlmbench/wipe_direction@train#0",
    "vlmbench/sorter_shape@train#0",
    "himan/open_drawer@test#0",
    "himan/box_exchange@test#0",
    "himan/sweep_to_dustpan@test#0",
)
NUMBERS = (
    10**400, -(10**400), 2**63, 2**31, 10**9, 1e308, -1e308, 1e200, 1e60, 1e12, 1e6, 1e4, 100.0, 3.0, 1, 0, -1, -1e-3, 1e-3, 1e-6, 1e-12,
    1e-60, 5e-324, -0.0, float("nan"), float("inf"), float("-inf"), "7", "nan", True, None, [], {}, [1.0, 2.0, 3.0],
)  # fmt: skip
TEXTS = (
    "", " ", "\ud800", "a\udfffb", "\x00", "a\x00b", "two\nlines", "\x1b[31m", "robot", "hand", "table", "link1", "left finger",
    "world", "../../x", "a/b", "x" * 100_000, "é", "\u202e", "🦾", "{0}", "[bold]", "%s", "None", 3, -1.5, None, True, [], {},
)  # fmt: skip
TREES = (None, [], {}, 0, "", True, [[]], [None], {"kind": "Body"}, {"kind": None}, [{}], 1e308)
PARTS = ("scene",) * 6 + ("goal",) * 2 + ("instruction", "")  # where damage is done, the last standing for any field
TWICE = "\x01again"  # marks a key that is written a second time


def damaged(number: int) -> tuple[str, str]:
    """The ``number``-th mutation: what was done, and the text of the file."""
    draw = rng("tests/mutations", str(number))
    base = BASES[number % len(BASES)]
    data = json.loads(canonical(base))
    done = [_change(data, draw) for _ in range(2 if draw.chance(0.2) else 1)]
    text = json.dumps(data).replace(json.dumps(TWICE)[1:-1], "")
    if draw.chance(0.02):
        cut = draw.integer(0, len(text))
        text = draw.choice((text[:cut], text[:cut] + text[cut + 1 :], f"{text} {text}", f"\ufeff{text}", "[" * 100_000, "9" * 5_000))
        done.append("the text itself")
    return f"{base}: {', '.join(done)}", text


@functools.cache
def canonical(name: str) -> str:
    """The text of an undamaged episode."""
    return episode(name).to_json()


def _change(data: Any, draw: Stream) -> str:
    """Change one place in a tree of plain data; gives where, and what is there now."""
    part = draw.choice(PARTS)
    holder, key, path = data, part if part in data else draw.choice(sorted(data)), "episode"
    while True:
        path += f".{key}" if isinstance(holder, dict) else f"[{key}]"
        value = holder[key]
        keys = sorted(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
        if not keys or draw.chance(0.06):
            break
        holder, key = value, draw.choice(keys)
    return f"{path} {_mutate(data, holder, key, value, draw)}"


def _mutate(data: Any, holder: Any, key: Any, value: Any, draw: Stream) -> str:
    ways = ["dropped"] + ["swapped", "replaced"] * 6
    if isinstance(value, list):
        ways += ["emptied", "lengthened", "shortened", "reversed", "repeated"]
    if isinstance(holder, dict):
        ways += ["joined by another", "given twice"]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        ways += ["replaced", "negated", "scaled"] * 3
    way = draw.choice(ways)
    if way == "replaced":
        choices = NUMBERS if isinstance(value, (int, float)) else TEXTS if isinstance(value, str) else TREES
        if draw.chance(0.8):  # mostly what has the right type, for that gets further
            kinds = (int, float) if type(value) is float else type(value)
            choices = [c for c in choices if isinstance(c, kinds) and not isinstance(c, bool)] or choices
        holder[key] = draw.choice(choices)
        return f"replaced by {json.dumps(holder[key])[:40]}"
    if way == "dropped":
        del holder[key]
    elif way == "swapped":
        alike = [v[key] for v in _walk(data) if isinstance(v, dict) and key in v] if isinstance(holder, dict) and draw.chance(0.7) else []
        holder[key] = copy.deepcopy(draw.choice(alike or [v for v in _walk(data) if type(v) is type(value)]))
        return f"replaced by {json.dumps(holder[key])[:40]} from elsewhere"
    elif way == "negated":
        holder[key] = -value
    elif way == "scaled":
        holder[key] = value * draw.choice((1.001, 0.5, 2.0, 10.0, 1000.0))
    elif way == "joined by another":
        holder[draw.choice(("", "colour", "kind", "__class__", "\ud800"))] = draw.choice(TREES)
    elif way == "given twice":
        holder[f"{key}{TWICE}"] = draw.choice(TREES)
    else:
        holder[key] = {
            "emptied": [], "lengthened": [*value, *value[-1:]], "shortened": value[:-1], "reversed": value[::-1],
            "repeated": (value or [None]) * draw.choice((2, 10, 3_000)),
        }[way]  # fmt: skip
    return way


def _walk(value: Any) -> list[Any]:
    """Every value of a tree, parents first."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for member in members for found in _walk(member))]


def outcome(text: str) -> str:
    """What becomes of an episode file: "" if it can be played, else the line with which it is refused. Everything else is raised."""
    try:
        found = read_episode(text)
        found.id.encode()
        world = World(found.scene)
        if found.scene.cameras:
            picture = Studio(world).shoot(found.scene.cameras[0].name, (32, 24))
            assert picture.rgb.shape == (24, 32, 3)
        Monitor(found.goal, world)
        world.step()
        if world.robot is not None:
            Simulation(found)
    except EtudeError as error:
        line = str(error)
        assert line and line.isprintable(), f"not one clear line: {line!r}"
        return line
    assert np.isfinite(world.data.qpos).all()
    return ""


def main() -> None:
    """Try many mutations, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="every mutation and its outcome")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    tally: Counter[str] = Counter()
    for number in range(chosen.first, chosen.first + chosen.count):
        what, text = damaged(number)
        faulthandler.dump_traceback_later(60, exit=True)  # one that hangs ends everything, and shows where
        try:
            line = outcome(text)
            kind = "refused" if line else "played"
        except Exception as error:
            kind, line = "foreign", f"{type(error).__name__}: {error}"
            print("".join(traceback.format_exception(error)[-3:]), flush=True)
        tally[kind] += 1
        if chosen.show or kind == "foreign":
            print(f"{number} {kind}: {what!a}\n    {ascii(line)[:300]}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(dict(tally))
    sys.exit(bool(tally["foreign"]))


if __name__ == "__main__":
    main()
