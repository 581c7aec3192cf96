"""The example that fine-tunes a vision-language model on exported questions, on a tiny one with random weights."""

from __future__ import annotations

import json
import runpy
import string
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("PIL", reason="pillow is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.datasets import decisions, questions  # noqa: E402
from etude.evaluation.play import Players, Rollout  # noqa: E402

torch.set_num_threads(1)
SCRIPT = Path(__file__).parents[2] / "examples" / "adapters" / "finetune.py"
SIGNS = ["<pad>", "<s>", "</s>", "<image>", *string.ascii_letters, *string.digits, *string.punctuation, " ", "\n"]
CHAT = (
    "{% for m in messages %}{{ m['role'] }}: {% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}"
    "{% endif %}{% endfor %}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
DRAWER = "himan/open_drawer@train#0"
TRIAL = "iwisdm/low@train#0"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    """A model that reads letters and sees two by two patches."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    torch.manual_seed(0)
    letters = Tokenizer(models.WordLevel({sign: k for k, sign in enumerate(SIGNS)}, unk_token=" "))
    letters.pre_tokenizer, letters.decoder = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"), decoders.Fuse()
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "additional_special_tokens": ["<image>"]}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=letters, **special)
    eye = transformers.CLIPImageProcessorPil(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    processor = transformers.LlavaProcessor(eye, tokenizer, 14, "default", CHAT, num_additional_image_tokens=1)
    small = {"initializer_range": 0.2, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(hidden_size=16, image_size=28, patch_size=14, projection_dim=16, **small),
        text_config=transformers.LlamaConfig(
            vocab_size=len(SIGNS), hidden_size=64, max_position_embeddings=4096, pad_token_id=0, bos_token_id=1, eos_token_id=2, **small
        ),
        image_token_index=3,
    )
    folder = tmp_path_factory.mktemp("model")
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict[str, Path]:
    """Questions about an episode, and a trial, as they are exported."""
    folder = tmp_path_factory.mktemp("data")
    questions.export([DRAWER], folder / "frames", 32)
    decisions.export([TRIAL], folder / "trials", size=32)
    return {name: folder / name for name in ("frames", "trials")}


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


def test_questions_about_frames_and_trials_are_read_as_they_are_exported(script, data):
    frames, trials = (script["read_questions"](data[name]) for name in ("frames", "trials"))
    assert frames[0].key["frame"] == 0 and frames[0].answer == "<sub_task> grasp the bottom drawer handle </sub_task>"
    row = json.loads((data["trials"] / "trials.jsonl").read_text(encoding="utf-8"))
    assert [one.answer for one in trials] == [one["answer"] for one in row["questions"]] and trials[0].key == {"id": row["id"]}
    for one in (*frames, *trials):
        places = sum(part["type"] == "image" for message in one.messages for part in message["content"])
        assert places == len(one.pictures) > 0 and all(path.exists() for path in one.pictures)
    with pytest.raises(SystemExit, match="has neither"):
        script["read_questions"](data["frames"] / "images")


def test_adapters_learn_the_answers_which_are_then_played_and_the_rest_of_the_model_stays(script, model, data, tmp_path, capsys):
    ways = ("--device", "cpu", "--rank", "16", "--alpha", "64", "--on", r"language_model.*_proj$|lm_head$")
    script["main"](["train", model, str(data["frames"]), "--out", str(tmp_path), "--steps", "30", "--batch", "1", "--rate", "0.01", *ways])
    losses = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert len(losses) == 3 and losses[-1] < losses[0]
    script["main"](["merge", model, "--adapters", str(tmp_path), "--out", str(tmp_path / "merged"), "--device", "cpu"])
    first = script["read_questions"](data["frames"])[0]
    plain, adapted, merged = (script["Asking"](folder, "cpu") for folder in (model, model, str(tmp_path / "merged")))
    script["load"](adapted.model, tmp_path)
    with torch.no_grad():
        before, after, whole = (float(one.loss(first)) for one in (plain, adapted, merged))
    assert after == pytest.approx(whole, abs=1e-3) and after < 0.7 * before
    same = dict(merged.model.named_parameters())
    assert all(torch.equal(value, same[name]) for name, value in plain.model.named_parameters() if "vision" in name)
    answers = tmp_path / "answers.jsonl"
    script["main"](["answer", model, str(data["frames"]), "--adapters", str(tmp_path), "--out", str(answers), "--device", "cpu"])
    played = Rollout(Players("oracle", f"answers:{answers}"), DRAWER, "offline").record
    said = [json.loads(line)["answer"] for line in answers.read_text(encoding="utf-8").splitlines()]
    asked = script["read_questions"](data["frames"])
    assert [stage.right for stage in played.stages] == [text == one.answer for text, one in zip(said, asked, strict=True)]


def test_answers_to_trials_are_scored_by_the_same_file(script, model, data, tmp_path):
    answers = tmp_path / "answers.jsonl"
    script["main"](["answer", model, str(data["trials"]), "--out", str(answers), "--device", "cpu", "--longest", "4"])
    assert Rollout(Players(f"answers:{answers}"), TRIAL).record.outcome == "failure"  # random weights say nothing that could be right


def test_layers_that_are_not_there_and_commands_without_data_are_refused(script, model, tmp_path):
    with pytest.raises(SystemExit, match="no linear layer of the model"):
        script["adapt"](script["Asking"](model, "cpu").model, "nothing", 2, 1.0)
    with pytest.raises(SystemExit):
        script["main"](["train", model, "--out", str(tmp_path)])
