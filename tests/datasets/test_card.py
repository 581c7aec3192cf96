"""What a dataset's card says of itself: in the right number, with its address where it has one, and how to cite it."""

from __future__ import annotations

import pytest

from etude.datasets.card import card

MADE = {
    "protocol": "etude-v2", "command": "etude demos --out DIR", "policy": "oracle", "renderer": "raster-1", "versions": {"etude": "0.1.0"},
    "robot": {"arm": "panda", "hands": ["suction"]}, "control": "ee_delta", "fps": 20, "cameras": ["base"], "size": [128, 128],
    "frames": 40, "episodes": ["clevrskills/pick@train#0", "clevrskills/pick@train#1"], "failures": [],
}  # fmt: skip
ONE = {**MADE, "frames": 1, "episodes": MADE["episodes"][:1]}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (MADE, "\n2 episodes, 40 frames at 20 per second"),
        (ONE, "\n1 episode, 1 frame at 20 per second"),
        (MADE, "Every episode ended in success, and has been"),
        (ONE, "It ended in success, and has been"),
        ({**MADE, "unsolved": [0]}, "All but 1 ended in success, and each has been"),
        ({**MADE, "unsolved": [0, 1]}, "None ended in success, and each has been"),
        ({**ONE, "unsolved": [0]}, "It did not end in success, and has been"),
        ({**MADE, "recoveries": 1}, "1 of them begins where"),
        ({**MADE, "recoveries": 2}, "2 of them begin where"),
    ],
)
def test_what_is_counted_stands_in_the_right_number(made, words):
    assert words in card("lerobot", made)


@pytest.mark.parametrize(
    ("form", "reading"),
    [
        ("lerobot", 'LeRobotDataset("my-lab/pick_1")'),
        ("robomimic", "hf download my-lab/pick_1 --repo-type dataset --local-dir demos"),
        ("folders", "hf download my-lab/pick_1 --repo-type dataset --local-dir demos"),
    ],
)
def test_the_example_reads_the_very_set(form, reading):
    pushed, kept = card(form, MADE, "my-lab/pick_1"), card(form, MADE)
    assert reading in pushed and "OWNER/NAME" not in pushed
    assert reading not in kept and "hf download" not in kept


def test_the_set_and_etude_can_be_cited_and_somebody_asked():
    pushed, kept = card("lerobot", MADE, "my-lab/pick_1"), card("lerobot", MADE)
    assert r"howpublished = {Hugging Face Hub, datasets/my-lab/pick\_1}" in pushed and "Community" in pushed
    for text, entries in ((pushed, ["@misc{pick-1,", "@misc{etude,"]), (kept, ["@misc{etude,"])):
        assert [line for line in text.splitlines() if line.startswith("@")] == entries
        assert "etude 0.1.0, protocol etude-v2" in text and "etude doctor" in text
