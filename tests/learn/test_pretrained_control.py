"""Closed-loop policies on pretrained parts: a T5 reads prompts, an OPT or a Llama is the trunk, a ViT looks at frames, adapters learn."""

from __future__ import annotations

import functools
import shutil
from dataclasses import replace

import numpy as np
import pytest
from controls import SETTINGS

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: no pretrained model can be read")

from languages import tiny_decoder, tiny_t5, tiny_vit  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from etude.evaluation.play import Players, play  # noqa: E402
from etude.learn.control import PICTURE_TOKENS, demonstrated  # noqa: E402
from etude.learn.control_buffer import ControlBuffer  # noqa: E402
from etude.learn.controlling import ControlInference  # noqa: E402
from etude.learn.header import NAME  # noqa: E402
from etude.learn.models.cogelot import parameters_of  # noqa: E402
from etude.learn.models.pretrained import AroundFrozen  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.names import EtudeError  # noqa: E402

torch.set_num_threads(1)
CASES = (("window", "t5", 0), ("readout", "t5", 2), ("stream", "opt", 2), ("stream", "llama", 0), ("frame", "llama", 2))
EPISODE = "clevrskills/touch@train#1"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A tiny model of each kind, named as a recipe does."""
    at = tmp_path_factory.mktemp("parts")
    decoders = {kind: tiny_decoder(kind, at / kind) for kind in ("opt", "llama")}
    return {"t5": tiny_t5(at / "t5"), **decoders, "vit": tiny_vit(at / "vit")}


@functools.cache
def demonstration(source):
    return demonstrated(EPISODE, source)


def recipe(parts, form, language, rank=0):
    """With adapters there is a ViT too."""
    more = [f"model.adapters={rank}", f"model.vision={parts['vit']}"] if rank else []
    return recipe_named(f"clevrskills/{form}", [*SETTINGS, f"model.language={parts[language]}", *more])


def trainer_of(parts, *case):
    trainer = Trainer(recipe(parts, *case))
    trainer.buffer.add([demonstration(trainer.recipe.data.source)])
    return trainer


def frozen(model):
    """All weights that do not learn."""
    found = [part._frozen[0] for part in model.modules() if isinstance(part, AroundFrozen)]
    return [p.clone() for one in found for p in one.parameters() if not p.requires_grad]


def told(one, model):
    start = np.zeros((model.chunk, model.numbers), np.float32)
    return {name: getattr(one, name) for name in ("kinds", "words", "places", "rows", "pictures")} | {"start": start}


def refuses(asked, said):
    with pytest.raises(EtudeError, match=said) as refusal:
        asked()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_only_what_is_around_pretrained_parts_learns_is_kept_and_plays(parts, case, tmp_path):
    trainer = trainer_of(parts, *case)
    before = frozen(trainer.model)
    losses = [float(trainer.step(0.0).sum()) for _ in range(12)]
    assert min(losses[-3:]) < losses[0]
    assert before and all(torch.equal(a, b) for a, b in zip(before, frozen(trainer.model), strict=True))
    up = [one.weight for name, one in trainer.model.named_modules() if name.endswith(".up")]
    assert len(up) == (8 if case[2] else 0) and all(weight.abs().max() > 0 for weight in up)

    trainer.save(tmp_path)
    kept = load_file(tmp_path / NAME)
    assert sum(value.numel() for value in kept.values()) == parameters_of(trainer.model)
    record, *_ = play(Players(f"learned:{tmp_path}?device=cpu"), "clevrskills/match_pose@val#0")
    assert record.error is None and record.steps > 3


@pytest.mark.parametrize("case", CASES[2:], ids=lambda case: "-".join(map(str, case)))
def test_a_policy_does_look_by_look_what_its_model_makes_of_the_window(parts, case):
    trainer = trainer_of(parts, *case)
    trainer.step(0.0)
    model, one = trainer.model.eval(), demonstration(trainer.recipe.data.source)
    inference, buffer = ControlInference(model, torch.device("cpu"), {}), ControlBuffer(model.source, model.recipe, model.onwards)
    buffer.add([one])
    inference.begin(0, told(one, model))
    played = [inference.decide([0], [{"frames": one.frames[step], "felt": one.felt[step]}])[0] for step in (0, 3, 6, 9)]
    with torch.no_grad():
        made = model.chunks(buffer.windows([0], np.array([9]))).found
        expected = model.actions(made, torch.from_numpy(one.felt[[0, 3, 6, 9]])).numpy()
    assert np.allclose(played, expected, atol=1e-4) and np.abs(np.diff(expected, axis=0)).max() > 1e-4


@pytest.mark.parametrize("kind", ["opt", "llama"])
def test_words_are_read_as_the_decoder_itself_reads_them(parts, kind):
    theirs = transformers.AutoModel.from_pretrained(parts[kind].partition(":")[2]).eval()
    model = Trainer(recipe(parts, "stream", kind)).model.eval()
    pieces, there = torch.tensor([[2, 60, 7, 5], [2, 9, 0, 0]]), torch.tensor([[True] * 4, [True, True, False, False]])
    with torch.no_grad():
        wanted = model.pretrained.out(theirs(input_ids=pieces, attention_mask=there.long()).last_hidden_state)
        found = model.pretrained(torch.stack([0 * pieces, pieces], -1), there, torch.zeros(2, 4, model.width), there)
    assert torch.allclose(found[there], wanted[there], atol=1e-5) and found[there].std() > 1e-3


def test_prompts_begin_and_part_words_as_decoders_have_it(parts):
    one = demonstration(recipe(parts, "stream", "opt").data.source)
    assert one.words[0].tolist() == [0, 2] and (one.rows >= 0).sum() == PICTURE_TOKENS  # its first piece, and a picture


def test_adapters_are_nothing_to_begin_with(parts):
    plain, adapted = (Trainer(recipe(parts, "stream", "opt", rank)).model.pretrained.eval() for rank in (0, 2))
    adapted.into.load_state_dict(plain.into.state_dict())
    adapted.out.load_state_dict(plain.out.state_dict())
    row = torch.randn(1, 5, 32, generator=torch.Generator().manual_seed(0))
    given = torch.zeros(1, 5, 2, dtype=torch.long), torch.zeros(1, 5, dtype=torch.bool), row, torch.ones(1, 5, dtype=torch.bool)
    with torch.no_grad():
        assert torch.equal(plain(*given), adapted(*given))
        adapted.adapters[0].up.weight.normal_(generator=torch.Generator().manual_seed(1))
        assert not torch.allclose(plain(*given), adapted(*given), atol=1e-4)


def test_a_vit_tells_where_in_a_frame_something_is_and_takes_colours_as_it_learned_them(parts, tmp_path):
    model = Trainer(recipe(parts, "window", "t5", 2)).model.frames.eval()
    dark = torch.zeros(1, 32, 32, 3, dtype=torch.uint8)
    lit = dark.clone()
    lit[:, :8, :8] = 255
    with torch.no_grad():
        apart = (model.looks(lit) - model.looks(dark)).abs().amax(2)[0]
    assert apart.shape == (4,) and apart.argmax() == 0
    folder = shutil.copytree(parts["vit"].removeprefix("vit:"), tmp_path / "vit")
    (folder / "preprocessor_config.json").write_text('{"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.2, 0.2]}')
    found = Trainer(recipe({**parts, "vit": f"vit:{folder}"}, "window", "t5", 2)).model.frames
    assert found.mean.flatten().tolist() == pytest.approx([0.4, 0.5, 0.6]) and found.spread[0].item() == pytest.approx(0.2)


def test_parts_that_moved_are_found_where_they_are_said_to_be_and_others_are_refused(parts, tmp_path):
    here = {**parts, "opt": tiny_decoder("opt", tmp_path / "opt", seed=3), "vit": tiny_vit(tmp_path / "vit", seed=3)}
    Trainer(recipe(here, "stream", "opt", 2)).save(tmp_path / "run")
    policy, name = f"learned:{tmp_path / 'run'}?device=cpu", "clevrskills/match_pose@val#0"
    record, *_ = play(Players(policy), name)
    for kind in ("opt", "vit"):
        shutil.move(tmp_path / kind, tmp_path / f"{kind}-moved")
    refuses(lambda: play(Players(policy), name), "there is no folder")
    places = f"language=opt:{tmp_path / 'opt-moved'}&vision=vit:{tmp_path / 'vit-moved'}"
    moved, *_ = play(Players(f"{policy}&{places}"), name)
    assert replace(moved, timings={}) == replace(record, timings={})
    refuses(lambda: play(Players(f"{policy}&{places}&language={parts['opt']}"), name), "another pretrained opt")


@pytest.mark.parametrize(
    ("form", "settings", "said"),
    [
        ("window", ["model.language={opt}"], "expected t5:FOLDER"),
        ("stream", ["model.language=gpt:x"], "t5:FOLDER or opt:FOLDER or llama:FOLDER"),
        ("stream", ["model.language=opt:{llama}"], "'llama'; expected 'opt'"),
        ("stream", ["model.vision={opt}"], "no vision for this model; expected vit:FOLDER"),
        ("stream", ["model.adapters=4"], "set model.language or model.vision"),
        ("stream", ["model.vision={vit}", "model.adapters=-1"], "at least 0"),
        ("stream", ["data.source.language={opt}"], "set model.language alone"),
    ],
)
def test_a_wrong_recipe_gets_one_line(parts, form, settings, said):
    bare = {**parts, "llama": parts["llama"].removeprefix("llama:")} if "opt:" in settings[0] else parts
    refuses(lambda: recipe_named(f"clevrskills/{form}", [*SETTINGS, *(one.format(**bare) for one in settings)]), said)


def test_parts_that_do_not_fit_get_one_line(parts, tmp_path):
    short = tiny_decoder("opt", tmp_path / "short", positions=64)
    refuses(lambda: Trainer(recipe({**parts, "opt": short}, "stream", "opt")), "64 tokens in a row; prompt and looks can be 288")
    settings = [*SETTINGS, f"model.vision={parts['vit']}", "data.source.size=96", "model.grid=12", "model.chunk=4"]
    Trainer(recipe_named("clevrskills/window", settings))
    coarse = tmp_path / "coarse"
    transformers.ViTModel(transformers.ViTConfig(image_size=32, patch_size=32, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
                                                 intermediate_size=8)).save_pretrained(coarse)  # fmt: skip
    refuses(lambda: Trainer(recipe_named("clevrskills/window", [*SETTINGS, f"model.vision=vit:{coarse}"])), "patches of 32 pixels")


@pytest.mark.parametrize("setting", ["model.vision={vit}", "model.language={opt}"])
def test_an_export_with_frozen_parts_is_refused(parts, setting):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from etude.learn.onnx_export import exported

    found = Trainer(recipe_named("clevrskills/stream", [*SETTINGS, setting.format(**parts)]))
    refuses(lambda: exported(found.averaged), "pretrained parts cannot be exported")
