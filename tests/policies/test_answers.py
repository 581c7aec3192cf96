"""A model's answer is read as the sub-task it names, or as none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.policies.answers import lenient, normalised, strict

MUG = "Place light blue mug 3 on red plate 1 without hitting anything else"
STAR = "Pick up green star 0"
OTHER_STAR = "Pick up green star 1"
CUBE = "Push {dark red swirl cube 2}"
SPOT = "Place {blue cube 0} on {pos:-0.23 -0.17} without hitting anything else"
OTHER_SPOT = "Place {blue cube 0} on {pos:-0.23 0.17} without hitting anything else"
FLAT_SPOT = "Place blue cube 0 on (0.05, -0.17) without hitting anything else"
LETTER_A = "Pick up {tiles letter A 4}"
LETTER_E = "Pick up {tiles letter E 5}"
VOCABULARY = (MUG, STAR, OTHER_STAR, CUBE, SPOT, OTHER_SPOT, FLAT_SPOT, LETTER_A, LETTER_E)

entries = st.sampled_from(VOCABULARY)
vocabularies = st.lists(st.one_of(entries, st.text(max_size=30)), max_size=6).map(tuple)
fragments = st.sampled_from(
    [
        "<sub_task>", "</sub_task>", "<subtask >", "< /SUB-TASK>", "<reasoning>", "</reasoning>", "<think>", "</think>", '{"sub_task": "',
        "{'sub_task': '", '"}', "'}", '{"sub_task":', "\\", '"', "**", "`", "[" * 50, "\n", "the ", "a ", " 3 ", " without ", "\ud800", "İ",
    ]
)  # fmt: skip
answers = st.lists(st.one_of(fragments, entries, st.text(max_size=12)), max_size=10).map("".join)
chatter = st.lists(
    st.sampled_from(["Sure!", "I", "think", "**now**", "the", "robot", "should:", "\n", "`", "7", "next", "—"]), max_size=8
).map(" ".join)


# ------------------------------------------------------------------------------------------------ what always holds


@given(answers, vocabularies)
def test_no_answer_raises_and_only_entries_come_back(answer: str, vocabulary: tuple[str, ...]) -> None:
    for found in (strict(answer, vocabulary), lenient(answer, vocabulary)):
        assert found is None or found in vocabulary


@given(st.one_of(answers, entries, entries.map(lambda e: f"<sub_task>{e}</sub_task>")), vocabularies)
def test_what_strict_reading_accepts_lenient_reading_reads_the_same(answer: str, vocabulary: tuple[str, ...]) -> None:
    found = strict(answer, vocabulary)
    assert found is None or lenient(answer, vocabulary) == found


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(entries, chatter, chatter)
def test_an_entry_is_found_in_chatter(entry: str, before: str, after: str) -> None:
    assert lenient(f"{before} {entry} {after}", VOCABULARY) == entry
    assert lenient(f"{before} <sub_task>{entry}</sub_task> {after}", VOCABULARY) == entry
    assert lenient(f"{before} {json.dumps({'sub_task': entry})} {after}", VOCABULARY) == entry


@given(st.permutations(VOCABULARY), chatter)
def test_two_entries_in_one_answer_are_none(order: list[str], between: str) -> None:
    first, second = order[:2]
    assert lenient(f"{first} {between} or {second}", VOCABULARY) is None
    assert lenient(f"<sub_task>{first} {between} or {second}</sub_task>", VOCABULARY) is None


@given(entries, entries, chatter)
def test_the_last_tag_wins(first: str, last: str, between: str) -> None:
    assert lenient(f"<sub_task>{first}</sub_task> {between} <sub_task>{last}</sub_task>", VOCABULARY) == last
    assert lenient(f'<sub_task>{first}</sub_task> {between} {{"sub_task": "{last}"}}', VOCABULARY) == last


# ------------------------------------------------------------------------------------------------ strict


@pytest.mark.parametrize(
    ("answer", "entry"),
    [
        (STAR, STAR),
        ("  pick up   GREEN star 0.\n", STAR),
        ('"Pick up green star 0"', STAR),
        ("Push dark red swirl cube 2", CUBE),
        ("Pick up {green star 0}", STAR),
        ("<sub_task>Pick up green star 0</sub_task>", STAR),
        ("<reasoning>The star is free.</reasoning>\n<sub_task> pick up green star 0 </sub_task>", STAR),
        ("<sub_task>Push dark red swirl cube 2</sub_task><reasoning>It is near.</reasoning>", CUBE),
        ('{"sub_task": "Pick up green star 0"}', STAR),
        ('{"reasoning": "Push it", "sub_task": "Push {dark red swirl cube 2}"}', CUBE),
    ],
)
def test_strict_reading_takes_the_asked_forms(answer: str, entry: str) -> None:
    assert strict(answer, VOCABULARY) == entry


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "…",
        "Pick up the green star 0",
        "Pick up green star",
        "Sure: <sub_task>Pick up green star 0</sub_task>",
        "<sub_task>Pick up green star 0",
        "<sub_task>Pick up green star 0</sub_task><sub_task>Pick up green star 0</sub_task>",
        '```json\n{"sub_task": "Pick up green star 0"}\n```',
        '{"sub_task": ["Pick up green star 0"]}',
        '["Pick up green star 0", 1]',
        "I would pick up green star 0",
    ],
)
def test_strict_reading_refuses_everything_else(answer: str) -> None:
    assert strict(answer, VOCABULARY) is None


def test_entries_that_read_the_same_are_never_chosen_between() -> None:
    assert strict("push cube 1", ("Push cube 1", "Push {cube 1}")) is None
    assert lenient("push cube 1", ("Push cube 1", "Push {cube 1}")) is None
    assert strict("push cube 1", ("Push cube 1", "Push cube 1")) == "Push cube 1"


# ------------------------------------------------------------------------------------------------ lenient


@pytest.mark.parametrize(
    ("answer", "entry"),
    [
        ("Place the light blue mug 3 on a red plate 1", MUG),
        ("Place light blue mug on red plate", MUG),
        ("Place light blue mug on red plate 1 without touching the rest", MUG),
        ("Without hitting anything else, place the light blue mug on the red plate.", MUG),
        ("**Pick up the green star 0**", STAR),
        ("```\nPick up green star 0\n```", STAR),
        ("Next, the robot should “push the dark red swirl cube”, because it is near.", CUBE),
        ("< Sub-Task >Pick up green star 0", STAR),
        ("<sub_task>**Pick up green star 0**</sub_task>", STAR),
        ("```json\n{'sub_task': 'Pick up the green star 0',}\n```", STAR),
        ('{"sub_task": "Pick up green \\u0073tar 0", }', STAR),
        ('{"sub_task": "Pick up green star 0', STAR),
        (f"{CUBE} would fail. <sub_task>{STAR}</sub_task>", STAR),
        (f"I answer in <sub_task></sub_task>: {STAR}", STAR),
        (f"<think>{CUBE}? No.</think>{STAR}", STAR),
        (f"{CUBE}? No, <sub_task>{CUBE}</sub_task> is wrong.</think>{STAR}", STAR),
        (f"<reasoning>{CUBE} comes later. <sub_task>{STAR}</sub_task>", STAR),
        ("2. Place blue cube on pos −0.23 −0.17", SPOT),
        ("Place the blue cube at... no, place it: place the blue cube on (0.05, -0.17).", FLAT_SPOT),
        ("Pick up the tiles letter A", LETTER_A),
        ("Pick up tiles letter E", LETTER_E),
    ],
)
def test_lenient_reading_understands(answer: str, entry: str) -> None:
    assert lenient(answer, VOCABULARY) == entry


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Pick up green star",  # which?
        "Pick up green star 2",
        "Push dark red swirl cube 3",
        "Place light blue mug 3 on red plate 2",
        "Place light blue mug 1 on red plate 3",
        "Place blue cube on pos",
        "Place blue cube 0 on pos 0.23 0.17",
        "Place blue cube 0 on (0.05, 0.17)",
        "Pick up tiles letter",
        "<sub_task>none</sub_task>" + STAR,
        f"{STAR}, then {CUBE}",
        f"<think>I could {STAR}",  # cut off before it said anything
        "<sub_task>0</sub_task>",
    ],
)
def test_lenient_reading_does_not_guess(answer: str) -> None:
    assert lenient(answer, VOCABULARY) is None


def test_the_longest_entry_is_the_one_that_was_said() -> None:
    vocabulary = ("Push cube 0", "Push cube 0 to bowl 1", "Push cube 0 to bowl 1 without hitting anything else")
    for entry in vocabulary:
        assert lenient(f"I will now {entry}, I think", vocabulary) == entry


def test_an_entry_within_a_longer_one_was_not_meant() -> None:
    vocabulary = ("Push cube 0 and pick up star 1", "Pick up star 1", "Push cube 0")
    assert lenient("Now push the cube and pick up the star", vocabulary) == vocabulary[0]
    assert lenient("Now push the cube and pick up the star. Then pick up star 1", vocabulary) is None


def test_an_angle_is_not_the_number_of_a_thing() -> None:
    vocabulary = ("Rotate cube 0 150 degrees clockwise",)
    assert lenient("Rotate the cube 150 degrees clockwise now", vocabulary) == vocabulary[0]
    assert lenient("Rotate cube 0 degrees clockwise now", vocabulary) is None


def test_answers_that_repeat_themselves_thousands_of_times_end_too() -> None:
    for piece in ("<sub_task>", "<think>", "</think>", "<a></a>", '{"sub_task":', "[", " ", "\\", "Pick up green star "):
        assert lenient(piece * 5000 + "<", VOCABULARY) is None
