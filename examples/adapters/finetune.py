"""Fine-tune a vision-language model on exported questions, with adapters of low rank; have it answer others; make one model of both.

    etude export --plan himan-L2 --form questions --out data/l2                # or trials: --suite iwisdm --task low --form jsonl
    etude export --plan himan-atomic-fifth --form questions --out data/test
    python examples/adapters/finetune.py train MODEL data/l2 --out adapters/l2
    python examples/adapters/finetune.py answer MODEL data/test --adapters adapters/l2 --out answers.jsonl
    etude evaluate --plan himan-atomic-fifth --mode offline --planner answers:answers.jsonl
    python examples/adapters/finetune.py merge MODEL --adapters adapters/l2 --out models/l2    # for a server: chat:…?prompt=open

MODEL is a folder as transformers saves it, with its processor; nothing is downloaded. Needs torch, transformers, safetensors and pillow.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModelForImageTextToText, AutoProcessor

QUESTIONS, TRIALS = "questions.jsonl", "trials.jsonl"
ADAPTERS = "adapters.safetensors"
IGNORED = -100  # labels that no loss is computed of


@dataclass(frozen=True)
class Asked:
    """A question: by which ``key`` its answer is known, ``messages`` of a chat, paths of ``pictures``, and the right answer."""

    key: dict[str, Any]
    messages: list[dict[str, Any]]
    pictures: list[Path]
    answer: str


def read_questions(folder: Path) -> list[Asked]:
    """What `etude export` wrote: questions about frames, or trials."""
    file = next((folder / name for name in (QUESTIONS, TRIALS) if (folder / name).exists()), None)
    if file is None:
        raise SystemExit(f"{folder} has neither {QUESTIONS} nor {TRIALS}: export with --form questions, or trials with --form jsonl")
    found = []
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        if file.name == QUESTIONS:
            key = {"id": row["id"], "frame": row["frame"]}
            found.append(_asked(key, row["messages"], f"<sub_task> {row['sub_task']} </sub_task>", folder))
        else:
            found += [_asked({"id": one["id"]}, one["messages"], one["answer"], folder) for one in row["questions"]]
    return found


def _asked(key: dict[str, Any], messages: list[dict[str, Any]], answer: str, folder: Path) -> Asked:
    """With messages as processors take them: texts, and places for pictures."""
    told, pictures = [], []
    for message in messages:
        content = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        pictures += [folder / part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        parts = [{"type": "image"} if part["type"] == "image_url" else {"type": "text", "text": part["text"]} for part in content]
        told.append({"role": message["role"], "content": parts})
    return Asked(key, told, pictures, answer)


class Adapted(nn.Module):
    """A linear layer that stays as it is, and what is added to it: a product of two small matrices, zero to begin with."""

    def __init__(self, layer: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.layer, self.scale = layer, alpha / rank
        self.down = nn.Parameter(torch.randn(rank, layer.in_features, device=layer.weight.device) / rank)
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank, device=layer.weight.device))

    def forward(self, x: Tensor) -> Tensor:
        added = nn.functional.linear(nn.functional.linear(x.float(), self.down), self.up) * self.scale
        return self.layer(x) + added.to(x.dtype)

    def merged(self) -> nn.Linear:
        """The layer with what was added to it."""
        with torch.no_grad():
            self.layer.weight += (self.up @ self.down * self.scale).to(self.layer.weight.dtype)
        return self.layer


def adapt(model: nn.Module, on: str, rank: int, alpha: float) -> dict[str, Adapted]:
    """Freeze a model, and put adapters around the linear layers whose names match."""
    model.requires_grad_(False)
    chosen = [name for name, layer in model.named_modules() if isinstance(layer, nn.Linear) and re.search(on, name)]
    if not chosen:
        raise SystemExit(f"no linear layer of the model has a name that matches {on!r}; --on takes another regular expression")
    found = {}
    for name in chosen:
        parent, _, own = name.rpartition(".")
        found[name] = Adapted(model.get_submodule(name), rank, alpha)
        setattr(model.get_submodule(parent), own, found[name])
    return found


def save(adapters: dict[str, Adapted], folder: Path, about: dict[str, str]) -> None:
    """Write adapters, and how they were made."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"{name}.{part}": getattr(one, part).detach().cpu() for name, one in adapters.items() for part in ("down", "up")}
    save_file(tensors, folder / ADAPTERS, about)


def load(model: nn.Module, folder: Path) -> dict[str, Adapted]:
    """Put the adapters of a folder around the layers of a model."""
    with safe_open(folder / ADAPTERS, "pt") as file:
        about = file.metadata()
        found = adapt(model, about["on"], int(about["rank"]), float(about["alpha"]))
        if {f"{name}.{part}" for name in found for part in ("down", "up")} != set(file.keys()):
            raise SystemExit(f"{folder} holds adapters of another model: their layers are not those that match {about['on']!r} here")
        with torch.no_grad():
            for name, one in found.items():
                one.down.copy_(file.get_tensor(f"{name}.down"))
                one.up.copy_(file.get_tensor(f"{name}.up"))
    return found


class Asking:
    """A model and its processor, from a folder."""

    def __init__(self, folder: str, device: str) -> None:
        self.device = torch.device(device)
        kept: dict[str, Any] = {"local_files_only": True}
        self.processor = AutoProcessor.from_pretrained(folder, **kept)
        dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=dtype, use_safetensors=True, **kept).to(self.device)

    def _encoded(self, one: Asked, answer: str = "") -> dict[str, Tensor]:
        text = self.processor.apply_chat_template(one.messages, add_generation_prompt=True, tokenize=False) + answer
        pictures = [Image.open(path).convert("RGB") for path in one.pictures]
        found = self.processor(images=pictures or None, text=[text], return_tensors="pt")
        return {name: value.to(self.device) for name, value in found.items()}

    def loss(self, one: Asked) -> Tensor:
        """How unlikely the right answer is, word by word; what is asked is not learned."""
        asked = self._encoded(one)["input_ids"].shape[1]
        encoded = self._encoded(one, one.answer + self.processor.tokenizer.eos_token)
        labels = encoded["input_ids"].clone()
        labels[:, :asked] = IGNORED
        found: Tensor = self.model(**encoded, labels=labels).loss
        return found

    def answer(self, one: Asked, most: int) -> str:
        """What the model says."""
        encoded = self._encoded(one)
        with torch.no_grad():
            said = self.model.generate(**encoded, max_new_tokens=most, do_sample=False)[:, encoded["input_ids"].shape[1] :]
        text: str = self.processor.tokenizer.batch_decode(said, skip_special_tokens=True)[0]
        return text.strip()


def train(asking: Asking, questions: list[Asked], options: argparse.Namespace) -> Iterator[float]:
    """Train adapters, and write them; gives the loss of every step."""
    torch.manual_seed(options.seed)
    adapters = adapt(asking.model, options.on, options.rank, options.alpha)
    weights = [p for one in adapters.values() for p in (one.down, one.up)]
    optimizer = torch.optim.AdamW(weights, lr=options.rate, weight_decay=0.0)
    order = random.Random(options.seed)
    asking.model.train()
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = options.rate * (1 - step / options.steps)
        losses = []
        for one in order.choices(questions, k=options.batch):
            loss = asking.loss(one) / options.batch
            loss.backward()
            losses.append(float(loss.detach()))
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield sum(losses)
    save(adapters, options.out, {"on": options.on, "rank": str(options.rank), "alpha": str(options.alpha), "model": options.model})


def main(typed: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("train", "answer", "merge"))
    parser.add_argument("model", help="a folder with a model and its processor")
    parser.add_argument("data", nargs="*", type=Path, help="folders that etude has exported")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--adapters", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--on", default=r"language_model.*\.[qkvo]_proj$", help="names of the layers that are adapted")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--alpha", type=float, default=32.0)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=64, help="tokens of an answer")
    options = parser.parse_args(typed)
    if options.do != "merge" and not options.data:
        parser.error(f"{options.do} needs at least one folder of exported questions")
    if options.do == "merge" and options.adapters is None:
        parser.error("merge needs --adapters")
    asking = Asking(options.model, options.device)
    questions = [one for folder in options.data for one in read_questions(folder)]
    if options.do == "train":
        for step, loss in enumerate(train(asking, questions, options), 1):
            if step % 10 == 0 or step == options.steps:
                print(f"step {step} of {options.steps}: loss {loss:.3f}", flush=True)
        return
    adapters = load(asking.model, options.adapters) if options.adapters is not None else {}
    asking.model.eval()
    if options.do == "merge":
        for name, one in adapters.items():
            parent, _, own = name.rpartition(".")
            setattr(asking.model.get_submodule(parent), own, one.merged())
        asking.model.save_pretrained(options.out)
        asking.processor.save_pretrained(options.out)
        return
    right = 0
    with options.out.open("w", encoding="utf-8") as lines:
        for one in questions:
            said = asking.answer(one, options.longest)
            right += said == one.answer
            lines.write(json.dumps({**one.key, "answer": said}, ensure_ascii=False) + "\n")
    print(f"{right} of {len(questions)} answers are the very words")


if __name__ == "__main__":
    main()
