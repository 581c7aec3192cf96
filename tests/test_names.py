"""Names, canonical JSON, ids and random streams."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64

from etude.library import episode
from etude.names import EpisodeName, EtudeError, Family, Stream, canonical_json, digest, episode_id, from_json, pick, rng, unknown

words = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
names = st.builds(
    EpisodeName,
    suite=words,
    task=words,
    split=words,
    seed=st.integers(0, 10**18 - 1),
    perturbations=st.lists(words, unique=True, max_size=4).map(tuple),
    options=st.dictionaries(words, words, max_size=4).map(lambda d: tuple(d.items())),
)


class Thing(Family):
    pass


@dataclasses.dataclass(frozen=True)
class Ball(Thing):
    radius: float
    label: str | None


@dataclasses.dataclass(frozen=True)
class Pile(Thing):
    things: tuple[Thing, ...]
    place: tuple[float, float]
    count: int
    seen: bool


words64 = st.integers(1 - 2**63, 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
balls = st.builds(Ball, finite, st.none() | st.text())
things = st.recursive(
    balls, lambda inner: st.builds(Pile, st.lists(inner, max_size=3).map(tuple), st.tuples(finite, finite), words64, st.booleans())
)


@given(names)
def test_a_name_survives_writing_and_parsing(name):
    assert EpisodeName.parse(str(name)) == name


@given(names)
def test_the_order_of_perturbations_and_options_does_not_matter(name):
    turned = dataclasses.replace(name, perturbations=name.perturbations[::-1], options=name.options[::-1])
    assert str(turned) == str(name)


@given(names)
def test_the_base_name_knows_neither_perturbations_nor_options(name):
    assert name.base == dataclasses.replace(name, perturbations=(), options=()).base


def test_the_name_of_the_design_parses():
    name = EpisodeName.parse("vima/rotate@L2#17+mo_color?robot=panda&difficulty=extreme")
    assert (name.suite, name.task, name.split, name.seed) == ("vima", "rotate", "L2", 17)
    assert name.options == (("difficulty", "extreme"), ("robot", "panda"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rotate@L2#1", "suite"),
        ("vima/rotate#1", "split"),
        ("vima/rotate@L2", "seed"),
        ("vima/rotate@L2#-1", "seed"),
        ("vima/rotate@L2#007", "seed"),
        ("vima/@L2#1", "empty part"),
        ("vima/rotate@L2#1+", "empty part"),
        ("vima/rotate@L2#1?robot", "the option 'robot' has no value"),
        ("vima/rotate@L2#1 ", "seed"),
        ("vima/ro tate@L2#1", "character"),
    ],
)
def test_a_malformed_name_is_refused_in_one_line_that_says_where(text, part):
    with pytest.raises(EtudeError, match=part) as caught:
        EpisodeName.parse(text)
    assert "\n" not in str(caught.value)


def test_a_perturbation_given_twice_is_refused():
    with pytest.raises(EtudeError, match="'blur' is given twice"):
        EpisodeName.parse("a/b@c#1+blur+blur")


@given(things)
def test_json_gives_back_what_it_was_given(thing):
    text = canonical_json(thing)
    assert from_json(Thing, text) == thing
    assert canonical_json(from_json(Thing, text)) == text


def test_json_is_canonical():
    assert canonical_json(Ball(0.1, None)) == '{"kind":"Ball","label":null,"radius":0.1}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind":"Ball","radius":1.0}', "'label' is missing"),
        ('{"kind":"Ball","radius":1.0,"label":null,"colour":1}', "unknown field in Thing: 'colour'"),
        ('{"kind":"Bal","radius":1.0,"label":null}', "did you mean 'Ball'"),
        ('{"radius":1.0,"label":null}', "'kind' is missing"),
        ('{"kind":"Ball","radius":"1","label":null}', "Thing.radius: expected float"),
        ('{"kind":"Ball","radius":NaN,"label":null}', "finite"),
        ('{"kind":"Pile","things":[],"place":[1.0],"count":1,"seen":true}', "expected 2 values, got 1"),
        (
            '{"kind":"Pile","things":[{"kind":"Ball","radius":true,"label":null}],"place":[1.0,2.0],"count":1,"seen":true}',
            r"things\[0\].radius",
        ),
        ("{", "not JSON"),
    ],
)
def test_bad_json_is_refused_with_the_path_of_the_field(text, message):
    with pytest.raises(EtudeError, match=message):
        from_json(Thing, text)


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, object()])
def test_what_json_cannot_say_exactly_is_refused(value):
    with pytest.raises(EtudeError):
        canonical_json(value)


def test_ids_and_streams_are_the_same_in_other_processes_and_under_other_hash_seeds():
    program = (
        "from etude.names import *\n"
        "name = EpisodeName.parse('a/b@c#3+z+y?k=v&a=b')\n"
        "s = rng(name, 'layout')\n"
        "id = episode_id(name, canonical_json({'b': 1.5, 'a': [True, None]}))\n"
        "print(id, s.uniform(), s.integer(0, 9), s.sample('abcdef', 3), s.normal())\n"
    )
    outputs = set()
    for seed in ("0", "1", "random"):
        run = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    # Frozen for all time: changing these numbers changes every episode there is.
    assert outputs.pop() == "a/b@c#3+y+z?a=b&k=v~10ab843e0579 0.22281156923552048 1 ['c', 'e', 'd'] -0.556844035729\n"


def test_the_id_is_the_name_and_a_digest():
    name = EpisodeName.parse("a/b@c#3")
    assert episode_id(name, "[1]") == f"a/b@c#3~{digest([1])}"
    assert episode_id(name, "[1]") != episode_id(name, "[2]")


def test_streams_differ_by_purpose_and_by_base_but_not_by_perturbation():
    one, other = EpisodeName.parse("a/b@c#3"), EpisodeName.parse("a/b@c#3+blur?robot=panda")
    assert rng(one, "layout").uniform() == rng(other, "layout").uniform()
    assert rng(one, "layout").uniform() != rng(one, "colour").uniform()
    assert rng(one, "layout").uniform() != rng("a/b@c#4", "layout").uniform()


@given(st.integers(0, 10**6), st.integers(-50, 50), st.integers(0, 100))
def test_whole_numbers_stay_within_both_ends(seed, low, span):
    stream = Stream(seed.to_bytes(8, "big"))
    assert all(low <= stream.integer(low, low + span) <= low + span for _ in range(5))


def test_draws_are_uniform_enough():
    stream = rng("test", "uniform")
    counts = [0] * 6
    for _ in range(6000):
        counts[stream.integer(0, 5)] += 1
    assert min(counts) > 880
    assert abs(sum(stream.normal() for _ in range(4000)) / 4000) < 0.06


def test_a_sample_has_no_repetition_and_a_shuffle_loses_nothing():
    stream = rng("test", "sample")
    assert len(set(stream.sample(range(100), 60))) == 60
    assert sorted(stream.shuffled(range(50))) == list(range(50))
    with pytest.raises(EtudeError, match="cannot draw 3"):
        stream.sample("ab", 3)


def test_a_name_is_read_once_on_the_way_to_its_episode():
    EpisodeName.parse.cache_clear()
    found = episode("vlmbench/pick_relative@train#1+distractors+mo_size")
    assert found.parsed is found.parsed and EpisodeName.parse.cache_info().misses == 1


def test_unknown_names_come_with_the_nearest_valid_one():
    assert "did you mean 'panda'" in str(unknown("arm", "pnda", ["panda", "ur5"]))
    assert "'green bowl'" in str(unknown("shape", "bowl thing", ["green bowl", "x"]))
    assert "valid: a, b" in str(unknown("x", "qqq", ["b", "a"]))
    with pytest.raises(EtudeError, match="unknown arm"):
        pick("arm", "x", {"panda": 1})


@pytest.mark.parametrize("seed", [b"\x07", bytes(32), bytes(5) + bytes(range(27)), bytes(range(32)), b"\xff" * 32])
def test_a_stream_is_seeded_with_the_whole_number_of_its_bytes(seed: bytes):
    ours, numpys = Stream(seed), PCG64(int.from_bytes(seed, "big"))
    assert [ours.integer(0, 2**64 - 1) for _ in range(4)] == [numpys.random_raw() for _ in range(4)]
