"""Texts become tokens: words in buckets of our own, or the pieces of a language in a folder, the same wherever prompts come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from languages import PIECES, tiny_tokenizer
from toys import SETTINGS, STORED

from etude.learn.demonstrating import demonstrate
from etude.learn.named_recipes import recipe_named
from etude.learn.policy import StrokeEncoder
from etude.learn.recipes import Recipe
from etude.learn.samples import OBJECT, SIZE, WORD, contract_for, prompt
from etude.learn.stored import stored
from etude.learn.wording import DIGIT
from etude.library import episode, told_in
from etude.names import EtudeError
from etude.prompts.views import part_views

FIELDS = ("kinds", "words", "places", "rows")
NAME = STORED[1]


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    """A language of which only the words are there."""
    folder = tmp_path_factory.mktemp("language")
    tiny_tokenizer(folder)
    (folder / "model.safetensors").write_bytes(b"weights that nobody reads")
    return f"t5:{folder}"


def said(told):
    """The pieces of a prompt; pictures are dots."""
    return [PIECES[high * DIGIT + low] if kind == WORD else "·" for kind, (high, low) in zip(told.kinds, told.words.tolist(), strict=True)]


def test_a_pretrained_language_is_told_in_its_pieces_and_ends_as_it_does(language):
    things = demonstrate(NAME, "objects").prompt.things
    told = prompt("Rotate the {image:0} 30 degrees.", [(OBJECT, things)], language)
    assert said(told) == ["▁Rotate", "▁the", *"·" * len(things), "▁", "3", "0", "▁degrees", ".", "</s>"]
    assert len(set(told.places.tolist())) == len(told.kinds) - len(things) + 1


def test_a_stored_set_and_the_encoder_of_a_policy_use_the_pieces_of_the_stream(language, kept):
    mine = demonstrate(NAME, "objects", language=language).prompt
    stored_one = next(one.prompt for _, name, one in stored(kept, language) if name == NAME)
    found, contract = episode(NAME), contract_for("objects")
    views = [part_views(part, told_in(found), SIZE, contract.cameras) for part in found.instruction.pictures()]
    encoder = StrokeEncoder(recipe_named("vima/objects-xattn", [f"model.language={language}"]), contract)
    told = encoder.told(found.instruction.template(), views, NAME)
    assert said(mine)[-1] == "</s>" and "·" in said(mine)
    for field in FIELDS:
        assert np.array_equal(getattr(mine, field), getattr(stored_one, field)), field
        assert np.array_equal(getattr(mine, field), told[field]), field


def test_a_stream_tells_prompts_in_the_language_of_its_recipe(language):
    source = recipe_named("vima/objects-xattn", [*SETTINGS, f"model.language={language}"]).data.source
    sample = source.unpacked(source.packed(0))
    assert said(sample.prompt) == said(demonstrate(source.name(0), "objects", language=language).prompt)


def test_a_recipe_knows_its_language_again_and_says_nothing_of_it_without_one(language, monkeypatch):
    folder = Path(language.removeprefix("t5:"))
    monkeypatch.chdir(folder.parent)
    recipe = recipe_named("vima/objects-xattn", [f"model.language=t5:{folder.name}"])
    assert recipe == recipe_named("vima/objects-xattn", [f"model.language={language}"]) == Recipe.from_data(recipe.to_data())
    assert recipe.language == recipe.data.source.held_out().language == language
    before = recipe.model.language_digest
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert recipe_named("vima/objects-xattn", [f"model.language={language}"]).model.language_digest != before
    assert "language" not in json.dumps(recipe_named("vima/objects-xattn").to_data())


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("config.json", "no file"),
        ("tokenizer.json", "no tokenizer"),
        ("model.safetensors", "save_pretrained"),
        ("", "nothing is downloaded"),
    ],
)
def test_a_folder_that_lacks_something_gets_one_line(tmp_path, missing, said):
    folder = tmp_path / "t5"
    if missing:
        tiny_tokenizer(folder)
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "pytorch_model.bin").write_bytes(b"a pickle")
        (folder / missing).unlink()
    with pytest.raises(EtudeError, match=said) as refusal:
        recipe_named("vima/objects-xattn", [f"model.language=t5:{folder}"])
    assert "\n" not in str(refusal.value) and str(folder) in str(refusal.value)


def test_a_language_that_is_none_gets_one_line(tmp_path, language):
    tiny_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    for settings, said in (
        (["model.language=bert:somewhere"], "t5:FOLDER"),
        ([f"model.language=t5:{tmp_path}"], "'bert'"),
        (["model.language_layers=2"], "set model.language=t5:FOLDER"),
        ([f"model.language={language}", "model.language_layers=-1"], "at least 0"),
        ([f"data.source.language={language}"], "set model.language alone"),
    ):
        with pytest.raises(EtudeError, match=said) as refusal:
            recipe_named("vima/objects-xattn", settings)
        assert "\n" not in str(refusal.value)
