"""What masks take away is gone in every form of the instruction; what they leave is untouched."""

from __future__ import annotations

import numpy as np
import pytest
from every import every

from etude.envs.prompt_assets import prompt_assets
from etude.library import episode
from etude.names import EtudeError
from etude.prompts.instruction import Blank, Instruction, Words
from etude.prompts.pictures import messages, multimodal
from etude.prompts.views import object_tokens, part_views

NAMES = (
    "vima/visual_manipulation@L1#2", "vima/rearrange@L1#2", "clevrskills/stack@train#2", "clevrskills/rearrange@train#2",
    "clevrskills/rotate_symmetry@train#2",
)  # fmt: skip


@every("name", NAMES)
def test_mask_language_leaves_pictures_alone(name):
    original, masked = episode(name), episode(f"{name}+mask_language")
    assert masked.instruction.text == "" and masked.instruction.template("") == ""
    shown = [multimodal(e.instruction, e.scene, 32)[1] for e in (original, masked)]
    assert all(np.array_equal(a, b) for a, b in zip(*shown, strict=True))


@every("name", NAMES)
def test_mask_visual_leaves_words_alone_and_shows_one_grey_of_the_same_size(name):
    original, masked = episode(name), episode(f"{name}+mask_visual")
    assert masked.instruction.template() == original.instruction.template()
    assert masked.instruction.text == original.instruction.template("")
    for a, b in zip(*(multimodal(e.instruction, e.scene, 32)[1] for e in (original, masked)), strict=True):
        assert a.shape == b.shape and np.unique(b).size == 1 and b.dtype == np.uint8


def test_a_blank_picture_keeps_its_slot_and_holds_no_object():
    masked = episode("vima/visual_manipulation@L1#2+mask_visual")
    text, assets = prompt_assets(masked)
    assert text == "Put the {dragged_obj_1} into the {base_obj}."
    for asset in assets.values():
        assert asset["rgb"]["front"].shape == (3, 128, 256) and np.unique(asset["rgb"]["top"]).size == 1
        assert asset["segm"]["obj_info"] == [] and (asset["segm"]["front"] == 255).all()
    assert object_tokens(part_views(masked.instruction.pictures()[0], masked.scene), slots=4).mask.sum() == 0


def test_mask_instruction_leaves_nothing():
    masked = episode("vima/twist@L1#2+mask_instruction")
    assert masked.instruction == Instruction(())
    assert multimodal(masked.instruction, masked.scene) == ("", []) and messages(masked.instruction, masked.scene)[0]["content"] == []


def test_masking_both_leaves_blanks_without_a_word():
    masked = episode("vima/twist@L1#2+mask_language+mask_visual")
    assert len(masked.instruction.parts) == 6
    assert all(isinstance(p, Blank) and p.words == "" for p in masked.instruction.parts)


def test_mask_visual_is_refused_where_there_is_nothing_to_mask():
    with pytest.raises(EtudeError, match=r"mask_visual: the instruction of clevrskills/sort@train#0.* has no pictures"):
        episode("clevrskills/sort@train#0+mask_visual")
    assert isinstance(episode("clevrskills/sort@train#0").instruction.parts[0], Words)
