"""Prompts say all that is needed to answer a trial, and answers are read as one of those that were offered, or as none."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs_at_random import AWKWARD, PAIR, SPACE, cat, place, trial_of, with_distractor
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from etude.decisions.answers import normalised, read_answer
from etude.decisions.graph import DecisionGraph
from etude.decisions.looks import Const, Get, IsSame, Relative, Select
from etude.decisions.meaning import answer
from etude.decisions.prompts import Picture, expected, messages, used, worked
from etude.decisions.space import LOCATION, VIEW, SeenThing, StimulusSpace
from etude.decisions.text import instruction
from etude.decisions.trial import Placed, Trial
from etude.names import EtudeError

YES_NO = ("true", "false")
ALL = (*YES_NO, *SPACE.places, *SPACE.values("category"))


def pictures(trial: Trial) -> list[Picture]:
    """A frame of another grey for each frame of a trial."""
    return [np.full((6, 4, 3), 20 * k, np.uint8) for k in range(len(trial.frames))]


def a_trial(choices: tuple[str, ...] = YES_NO, **changes: Any) -> Trial:
    return replace(trial_of((Placed(PAIR),)), answers=("", "", "true"), choices=choices, **changes)


def said(trial: Trial, space: StimulusSpace = SPACE, **options: Any) -> str:
    """The text of a prompt, with a sign for each picture."""
    (message,) = messages(trial, pictures(trial), space, **options)
    assert message["role"] == "user"
    return "".join(part.get("text", "[picture]") for part in message["content"])


def examples(trial: Trial, space: StimulusSpace = SPACE) -> Any:
    return [(example, pictures(example.trial)) for example in worked(trial, space)]


# ------------------------------------------------------------------------------------------------ prompts


def test_frames_are_labelled_and_come_as_pictures_in_their_order() -> None:
    trial = a_trial()
    (message,) = messages(trial, pictures(trial), SPACE, detail="low")
    content = message["content"]
    shown = [k for k, part in enumerate(content) if part["type"] == "image_url"]
    assert len(shown) == 3
    for number, k in enumerate(shown):
        assert content[k - 1]["text"].endswith(f"Frame {number + 1}:")
        assert content[k]["image_url"]["detail"] == "low"
        header, data = content[k]["image_url"]["url"].split(",")
        assert header == "data:image/png;base64"
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))), pictures(trial)[number])


def test_texts_and_pictures_take_turns() -> None:
    trial = a_trial(ALL)
    (message,) = messages(trial, pictures(trial), SPACE, examples=examples(trial))
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["text", "image_url"] * (len(kinds) // 2) + ["text"]


def test_pictures_may_be_urls_already() -> None:
    trial = a_trial()
    (message,) = messages(trial, ["data:,a", "data:,b", "data:,c"], SPACE)
    assert [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"] == ["data:,a", "data:,b", "data:,c"]


@pytest.mark.parametrize("grammar", ["exact", "fluent", "original"])
def test_a_prompt_holds_the_instruction_and_ends_with_the_answers(grammar: str) -> None:
    for choices in (YES_NO, ALL):
        trial = a_trial(choices)
        text = said(trial, grammar=grammar)
        assert f'Instruction: "{instruction(trial, SPACE, grammar)}"' in text
        assert text.endswith(f"exactly one of these answers and nothing else: {', '.join(choices)}. Your answer:")


def test_all_properties_are_explained_or_those_that_are_used() -> None:
    every = said(a_trial())
    for words in ("benches, boats, cars", "there are 64 in all, 8 for each category", "4 locations: top left", "random view angles"):
        assert words in every
    category = said(a_trial(), properties="used")
    assert "benches, boats, cars" in category
    assert "locations" not in category
    assert "64" not in category
    where = trial_of((Placed(DecisionGraph(Relative("above", Select(1), Select(0)), 2)),))
    text = said(replace(where, answers=("", "true")), properties="used")
    assert "4 locations" in text
    assert "benches" not in text
    assert "view angles" not in text
    angle = replace(trial_of((Placed(DecisionGraph(Get(VIEW, Select(0)), 1)),)), answers=("0",))
    assert "view angle of an object is always one of 12" in said(angle, properties="used")


def test_used_properties_are_those_of_questions_and_of_names() -> None:
    assert used(a_trial()) == {"category"}
    assert used(with_distractor()) == {"category", LOCATION}
    assert used(trial_of((Placed(DecisionGraph(IsSame(place(0), Const(LOCATION, "top left")), 1)),))) == {LOCATION}


def test_a_single_frame_is_no_series() -> None:
    single = replace(trial_of((Placed(DecisionGraph(IsSame(cat(0), Const("category", "cars")), 1)),)), answers=("true",))
    assert said(single).startswith("You are shown one picture")
    assert said(single, examples=examples(single)).startswith("You are shown pictures in a fixed order")
    assert "delay" not in said(single)


def test_the_prompt_speaks_of_what_the_trial_has() -> None:
    assert "cross" in said(a_trial())
    assert "cross" not in said(a_trial(fixation="none"))
    assert "ignore the others" not in said(a_trial())
    assert "ignore the others" in said(replace(with_distractor(), answers=("", "", "true")))
    two = replace(trial_of((Placed(PAIR), Placed(PAIR, 3))), answers=("", "", "true", "", "", "false"))
    assert "answer to the last one" in said(two)
    assert expected(two) == "false"
    assert "last one" not in said(a_trial())


def test_wrong_pictures_are_refused() -> None:
    trial = a_trial()
    with pytest.raises(EtudeError, match="has 3 frames, but came with 2 pictures"):
        messages(trial, pictures(trial)[:2], SPACE)
    with pytest.raises(EtudeError, match=r"must be \(H, W, 3\) of uint8"):
        messages(trial, [np.zeros((4, 4, 4), np.uint8)] * 3, SPACE)
    with pytest.raises(EtudeError, match="did you mean 'used'"):
        messages(trial, pictures(trial), SPACE, properties="use")  # type: ignore[arg-type]
    with pytest.raises(EtudeError, match="has no answer"):
        expected(replace(trial, answers=("", "", "")))


# ------------------------------------------------------------------------------------------------ worked examples


@pytest.mark.parametrize("space", [SPACE, AWKWARD])
@pytest.mark.parametrize("values", ["none", "some", "only"])
def test_examples_are_right_and_their_answers_are_offered(space: StimulusSpace, values: str) -> None:
    words = {"none": (), "some": space.places, "only": space.places}[values]
    choices = words if values == "only" else (*YES_NO, *words)
    trial = replace(trial_of((Placed(PAIR),), space=space), choices=choices)
    found = worked(trial, space)
    assert len(found) == (1 if values == "only" else 3)
    for example in found:
        (placed,) = example.trial.tasks
        right = answer(placed.task, example.trial.frames, space)
        assert example.trial.answers == ("",) * (len(example.trial.frames) - 1) + (right,)
        assert right in choices
        assert example.trial.parsed.task.startswith("example-")
        assert instruction(example.trial, space, "fluent")


def test_examples_are_about_location_category_and_identity() -> None:
    assert [used(e.trial) for e in worked(a_trial(), SPACE)] == [{LOCATION}, {"category"}, {"identity"}]
    assert [e.trial.answers[-1] for e in worked(a_trial(), SPACE)] == ["false", "true", "false"]
    assert [e.trial.answers[-1] for e in worked(a_trial(ALL), SPACE)] == ["bottom right", "benches", "false"]
    one, other = (things[0].item for things in worked(a_trial(), SPACE)[2].trial.frames)
    assert one != other
    assert one // 8 == other // 8  # the same category: the example shows the difference


def test_examples_stand_between_the_rules_and_the_task() -> None:
    trial = a_trial()
    text = said(trial, examples=examples(trial))
    assert text.count("Here is an example.") == 3
    assert text.count("[picture]") == 2 + 3 + 2 + 3
    assert "Answer: false. The reason: objects 1 and 2 differ in identity, although both have the category tables." in text
    assert text.index("ALWAYS") < text.index("example") < text.index("Now solve this new task.")
    assert "Solve this task." in said(trial)
    assert "64 in all" in said(trial, examples=examples(trial), properties="used")  # an example speaks of identity


def test_examples_fit_spaces_with_little_in_them() -> None:
    space = StimulusSpace({"shape": (0, 1)}, {"shape": ("ball", "cube")}, views=1, grid=(1, 1))
    trial = Trial("iwisdm/test@val#0", (), ((SeenThing(0, 0),),), ("true",), YES_NO, grid=(1, 1))
    assert [e.trial.answers[-1] for e in worked(trial, space)] == ["true", "true"]


# ------------------------------------------------------------------------------------------------ answers

choice = st.sampled_from(ALL)
offers = st.lists(st.one_of(choice, st.text(max_size=12)), max_size=8).map(tuple)
fragments = st.sampled_from(
    [
        "<answer>", "</answer>", "< Answer >", "<think>", "</think>", '{"answer": "', '"}', "{'answer': '", "'}", '"answer":', "\\boxed{",
        "}", "\\", '"', "**", "`", "\n", " not ", " or ", "/", "isn't ", " because ", "answer is ", "the ", ". ", ", ", "\ud800", "İ",
    ]
)  # fmt: skip
replies = st.lists(st.one_of(fragments, choice, st.text(max_size=12)), max_size=10).map("".join)
chatter = st.lists(st.sampled_from(["Sure!", "I", "think", "**so**", "object", "1:", "\n", "`", "7", "—"]), max_size=6).map(" ".join)


@given(replies, offers)
def test_no_reply_raises_and_only_offers_come_back(reply: str, offered: tuple[str, ...]) -> None:
    for found in read_answer(reply, offered):
        assert found is None or found in offered


@given(st.one_of(replies, choice, choice.map(lambda c: f" **{c.upper()}**.\n")), st.one_of(offers, st.just(ALL)))
def test_what_strict_reading_accepts_lenient_reading_reads_the_same(reply: str, offered: tuple[str, ...]) -> None:
    strict, lenient = read_answer(reply, offered)
    assert strict is None or lenient == strict


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@given(choice, choice, chatter, chatter)
def test_an_answer_is_found_in_chatter(wanted: str, other: str, before: str, after: str) -> None:
    for reply in (
        f"{before} {wanted} {after}",
        f"{before} {other} {after} is what I saw. The answer is {wanted}. {before}",
        f"{before} <answer>{wanted}</answer> {after} {other}",
        f"{before} {json.dumps({'answer': wanted})} {after} {other}",
        f"{before} \\boxed{{\\text{{{wanted}}}}} {after}",
        f"<think>{other}?</think> {before} {wanted}",
        f"{wanted.upper()}. This is because object 1 is {other}.",
    ):
        assert read_answer(reply, ALL)[1] == wanted


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [("true", "true"), (" False.\n", "false"), ("**Top  Left**", "top left"), ('"cars"', "cars"), ("(bottom right)", "bottom right")],
)
def test_strict_reading_takes_the_bare_answer(reply: str, wanted: str) -> None:
    assert read_answer(reply, ALL) == (wanted, wanted)


@pytest.mark.parametrize(
    ("reply", "lenient"),
    [
        ("The answer is true.", "true"),
        ("Answer: false", "false"),
        ('{"answer": true}', "true"),
        ("<answer>top left</answer>", "top left"),
        ("It is in the top left, so false", "false"),
        ("Answer (true or false): false", "false"),
        ("It is false, not true.", "false"),
        ("boats, not the cars", "boats"),
        ("Answer: true. The reason: the category of object 1 is lighting.", "true"),
        ("true or false", None),
        ("true/false", None),
        ("That is not true.", None),
        ("This isn't true", None),
        ("It is true that both are cars, so the answer is not true", None),
        ("It is not in the top left", None),
        ("untrue", None),
        ("trueish", None),
        ("", None),
        ("I cannot tell.", None),
        ("<think>true", None),  # cut off before it said anything
    ],
)
def test_lenient_reading_understands_but_does_not_guess(reply: str, lenient: str | None) -> None:
    assert read_answer(reply, ALL) == (None, lenient)


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Yes.", "true"),
        ("No, they differ.", "false"),
        ("They are of one category: yes", "true"),
        ("The answer is no because they differ.", "false"),
        ("There is no object on the second frame", None),
        ("True, there is no doubt", "true"),
        ("yes and no", None),
        ("Yes, it is top left", "top left"),
    ],
)
def test_yes_and_no_are_read_as_true_and_false(reply: str, wanted: str | None) -> None:
    assert read_answer(reply, ALL) == (None, wanted)
    assert read_answer("yes", ("top left", "cars")) == (None, None)


def test_the_longest_choice_is_the_one_that_was_said() -> None:
    assert read_answer("I see it at the top left corner", ("left", "top", "top left"))[1] == "top left"
    assert read_answer("3, I count 13", ("1", "3", "13"))[1] == "13"


def test_choices_that_read_the_same_are_never_chosen_between() -> None:
    assert read_answer("Cars", ("cars", "Cars!")) == (None, None)
    assert read_answer("cars", ("cars", "cars")) == ("cars", "cars")


def test_replies_that_repeat_themselves_thousands_of_times_end_too() -> None:
    for piece in ("<answer>", "<answer ", "<think>", "</think>", '{"answer":', "\\boxed{", "{", "<  ", " ", "\\", "top ", "not "):
        assert read_answer(piece * 5000 + "<", ALL)[1] is None
