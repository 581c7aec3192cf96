"""Whatever is wrong with an episode file: it can be played, or it is refused in one line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from mutations import BASES, canonical, damaged, outcome

from etude.episodes import Episode
from etude.library import episode, read_episode
from etude.names import EtudeError
from etude.scene.bounds import MOST
from etude.scene.scene import Body, Particles, Scene
from etude.scene.world import World

TRIED = 90  # of the thousands that ``python tests/mutations.py`` tries: five of every base


@pytest.mark.parametrize("base", BASES)
def test_a_damaged_episode_is_played_or_refused_in_one_line(base):
    found = Counter(bool(outcome(damaged(number)[1])) for number in range(BASES.index(base), TRIED, len(BASES)))
    assert found.total() == TRIED // len(BASES)


def test_damage_is_the_same_every_time_and_does_something():
    texts = [damaged(number)[1] for number in range(60)]
    assert texts == [damaged(number)[1] for number in range(60)] and len(set(texts)) == 60


def changed(*path: str | int, to: object, base: str = "clevrskills/balance@train#0") -> str:
    """The text of an episode in which one value is another."""
    data = json.loads(canonical(base))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed("scene", "table", "height", to=10**400), "Episode.scene.table.height: expected a number of at most 64 bits, got 1000"),
        (changed("horizon", to=10**400), "Episode.horizon: expected a number of at most 64 bits"),
        (changed("horizon", to=0), "horizon must be from 1 to 1000000 actions, got 0"),
        (changed("budget", to=-5), "budget must be from 0"),
        (changed("level", to="L\ud800"), "Episode.level: \"L\\ud800\" holds half a character"),
        (changed("scene", "robot", "base", "position", 2, to=1e308), "scene.robot.base.position[2] is 1e+308, where at most ±10000 can be"),
        (changed("scene", "table", "size", 1, to=-1.0), "'table': size must be a positive number, got -1"),
        (changed("scene", "entities", 0, "name", to="two\nlines"), "'two\\nlines' cannot be the name of an entity"),
        (changed("scene", "entities", 0, "name", to="x" * 100_000), "(100000 characters) cannot be the name of an entity"),
        (changed("scene", "entities", 0, "name", to="link1"), "'link1' cannot be built: repeated name 'link1' in body"),
        (changed("goal", "beam", to="bean"), "unknown moving part of 'scale' 'bean'; did you mean 'beam'"),
        (changed("scene", "cameras", 0, "size", to=[8192, 8192]), "has at most 16777216 pixels, got 8192×8192"),
        (changed("name", to=7), "this is not an episode written as JSON: it has no name"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5_000, "a number in it has thousands of digits"),
        ('{"name": "a", "name": "b"}', "the field 'name' is given twice"),
        ("[]", "this is not an episode written as JSON"),
    ],
    ids=lambda value: value[:30] if value.startswith("Ep") else None,
)  # fmt: skip
def test_what_is_wrong_is_said(text, words):
    line = outcome(text)
    assert words in line and len(line) < 500


def test_what_mujoco_cannot_build_is_said_with_the_name_of_the_thing():
    feather = Scene((Body("feather", "cube", "red", mass=1e-300),))
    with pytest.raises(EtudeError, match=r"^the scene cannot be built: .*inertia.* 'feather'"):
        World(feather)


def test_more_than_can_be_simulated_is_refused():
    found = episode("vlmbench/pour_color@train#0")
    water = next(e for e in found.scene.entities if isinstance(e, Particles))
    flood = replace(water, positions=water.positions * 1000)
    text = replace(found, scene=found.scene.changed(flood)).to_json()
    with pytest.raises(EtudeError, match=rf"positions has {1000 * len(water.positions)} members, where at most {MOST} can be simulated"):
        read_episode(text)
    assert Episode.from_json(found.to_json()) == found
