"""Pretrained models inside ours: a T5 that encodes prompts, an OPT or a Llama as a trunk, a ViT that looks at frames.

Their weights are frozen, and no part of what is learned, averaged, counted or kept; the last layers of a language may be (CoGeLoT A.3: two
of them), and adapters are: thin matrices beside the queries and values of their attention.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.folders import LANGUAGES, VISIONS, parted, refuse_other
from etude.learn.models.tokens import jittered
from etude.learn.wording import DIGIT
from etude.names import EtudeError, parse_json, read_text
from etude.perturb.tokenizer import local_tokenizer, tokenizer_file

CLASSES: dict[str, tuple[str, str, Callable[[Any], nn.ModuleList]]] = {  # of transformers; what they call dropout; where their layers are
    "t5": ("T5EncoderModel", "dropout_rate", lambda model: model.encoder.block),
    "opt": ("OPTModel", "dropout", lambda model: model.decoder.layers),
    "llama": ("LlamaModel", "attention_dropout", lambda model: model.layers),
    "vit": ("ViTModel", "hidden_dropout_prob", lambda model: model.layers),
}
ADAPTED = ("q", "v", "q_proj", "v_proj", "query", "value")  # what queries and values are called in one or another
PROCESSING = "preprocessor_config.json"


class AroundFrozen(nn.Module):
    """Learns around a frozen module that torch does not see: only what is registered learns and is kept."""

    def __init__(self, frozen: nn.Module) -> None:
        super().__init__()
        self._frozen = (frozen,)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Where this goes, the frozen weights go too."""
        self._frozen[0]._apply(fn)
        found: Self = super()._apply(fn, recurse)
        return found


class Adapter(AroundFrozen):
    """A frozen linear layer, and beside it the product of two thin matrices (LoRA), which is 0 to begin with."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__(layer)
        self.down, self.up = nn.Linear(layer.in_features, rank, bias=False), nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self._frozen[0](x) + self.up(self.down(x))
        return out


def adapters(model: nn.Module, rank: int) -> nn.ModuleList:
    """Put adapters of a rank into a model; none with 0."""
    found = nn.ModuleList()
    for parent in list(model.modules()) if rank else ():
        for name, layer in list(parent.named_children()):
            if name in ADAPTED and isinstance(layer, nn.Linear):
                found.append(Adapter(layer, rank))
                setattr(parent, name, found[-1])
    return found


class PretrainedLanguage(AroundFrozen):
    """Reads rows of tokens of one width: encodes them (T5), or each after those before it (OPT, Llama). The model in the folder of a
    ``language`` must have this ``digest``; its last ``layers`` learn, and adapters of a ``rank``."""

    def __init__(self, language: str, digest: str, layers: int, width: int, dropout: float, rank: int = 0) -> None:
        refuse_other(language, digest)
        kind, folder = parted(language, LANGUAGES)
        model = _loaded(kind, folder, dropout)
        super().__init__(model)
        blocks = list(CLASSES[kind][2](model))
        if layers > len(blocks):
            raise EtudeError(f"the {kind} in {folder} has {len(blocks)} layers; model.language_layers asks for {layers} of them to learn")
        pieces, known = 1 + max(local_tokenizer(tokenizer_file(folder)).vocabulary), model.config.vocab_size
        if pieces > known:
            raise EtudeError(f"the tokenizer in {folder} has {pieces} pieces, of which the {kind} beside it knows {known}")
        deep = model.get_input_embeddings().embedding_dim
        self.into, self.out = nn.Linear(width, deep), nn.Linear(deep, width)
        self.last = nn.ModuleList(blocks[len(blocks) - layers :]).requires_grad_(True)
        self.adapters = adapters(model, rank)

    def refuse_longer(self, tokens: int) -> None:
        """Raise if it cannot read so many tokens in a row."""
        known = getattr(self._frozen[0].config, "max_position_embeddings", tokens)
        if tokens > known:
            raise EtudeError(f"the pretrained language model reads {known} tokens in a row; prompt and looks can be {tokens}")

    def forward(self, words: Tensor, said: Tensor, shown: Tensor, there: Tensor) -> Tensor:
        """Rows (B, L, width) of ``words`` (B, L, 2) where something is ``said`` (B, L), and elsewhere of what is ``shown``
        (B, L, width); only some tokens are ``there`` (B, L)."""
        model = self._frozen[0]
        pieces = model.get_input_embeddings()(words[..., 0] * DIGIT + words[..., 1])
        row = torch.where(said[..., None], pieces, self.into(shown))
        # A T5 knows places by how far apart they are; to the others, what is not there takes none.
        places = {} if model.config.model_type == "t5" else {"position_ids": (there.cumsum(1) - 1).clamp(min=0), "use_cache": False}
        out: Tensor = self.out(model(inputs_embeds=row, attention_mask=there.long(), **places).last_hidden_state)
        return out


class PretrainedFrames(AroundFrozen):
    """Square frames as ``grid`` × ``grid`` tokens of one width, seen by the ViT in a ``vision``'s folder, whose places are stretched or
    shrunk for frames of another size than its own; with adapters of a ``rank``."""

    def __init__(self, vision: str, digest: str, width: int, size: int, grid: int, jitter: float, dropout: float, rank: int = 0) -> None:
        refuse_other(vision, digest)
        kind, folder = parted(vision, VISIONS)
        model = _loaded(kind, folder, dropout, add_pooling_layer=False)
        super().__init__(model)
        patch = model.config.patch_size
        if size % patch or size // patch < grid:
            raise EtudeError(f"the {kind} in {folder} has patches of {patch} pixels: too few for frames of {size} and model.grid={grid}")
        self.grid, self.jitter, self._side = grid, jitter, size // patch
        self.out = nn.Linear(model.config.hidden_size, width)
        self.adapters = adapters(model, rank)
        mean, spread = _colours(folder)
        self.register_buffer("mean", torch.tensor(mean).view(3, 1, 1), persistent=False)
        self.register_buffer("spread", torch.tensor(spread).view(3, 1, 1), persistent=False)

    def looks(self, frames: Tensor, jitter: float = 0.0) -> Tensor:
        """Tokens (N, grid², width), row by row, of frames as they are kept, bytes (N, S, S, 3)."""
        pixels = jittered(frames.permute(0, 3, 1, 2).float() / 127.5 - 1.0, jitter if self.training else 0.0)
        seen = self._frozen[0](pixel_values=((pixels + 1) / 2 - self.mean) / self.spread, interpolate_pos_encoding=True).last_hidden_state
        cells = seen[:, 1:].transpose(1, 2).unflatten(2, (self._side, self._side))  # the first token is of the whole picture
        out: Tensor = self.out(functional.adaptive_avg_pool2d(cells, self.grid).flatten(2).transpose(1, 2))
        return out


def _colours(folder: Path) -> tuple[list[float], list[float]]:
    """Mean and spread of the three colours that the model in a folder has learned with; a half each if the folder does not say."""
    file = folder / PROCESSING
    told = parse_json(read_text(file)) if file.is_file() else {}
    return told.get("image_mean", [0.5] * 3), told.get("image_std", [0.5] * 3)


def _loaded(kind: str, folder: Path, dropout: float, **more: Any) -> Any:
    """A frozen model in single precision; what a folder holds besides, such as the decoder of a T5, is left out."""
    try:
        import transformers
        from transformers.utils import logging
    except ImportError:
        raise EtudeError(f"a pretrained {kind} needs 'transformers', which is not installed: pip install transformers") from None
    logging.set_verbosity_error()  # it would report the decoder it does not find a place for
    logging.disable_progress_bar()
    name, dropped, _ = CLASSES[kind]
    try:
        model, found = getattr(transformers, name).from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True, **{dropped: dropout}, **more
        )
    except Exception as error:  # of transformers, safetensors, torch or json: each has its own for a file that is none
        raise EtudeError(f"the {kind} in {folder} cannot be read: {' '.join(str(error).split())[:160]}") from None
    if found["missing_keys"]:
        missing = sorted(found["missing_keys"])
        raise EtudeError(f"the {kind} in {folder} lacks {len(missing)} of its weights, such as {missing[0]}")
    return model.float().eval().requires_grad_(False)
