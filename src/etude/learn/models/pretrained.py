"""A pretrained T5 as the encoder of prompts: words are its pieces, and things stand in the row where the pictures are.

Its weights are frozen, and no part of what is learned, averaged, counted or kept; its last layers may be (CoGeLoT A.3: two of them).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from etude.learn.wording import DIGIT, language_folder, refuse_other
from etude.names import EtudeError
from etude.perturb.tokenizer import local_tokenizer, tokenizer_file


class PretrainedT5(nn.Module):
    """Encodes prompts of tokens of one width. The T5 in the folder of a ``language`` must have this ``digest``; its last ``layers``
    learn."""

    def __init__(self, language: str, digest: str, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        refuse_other(language, digest)
        folder = language_folder(language)
        encoder = _encoder(folder, dropout).requires_grad_(False)
        blocks = list(encoder.encoder.block)
        if layers > len(blocks):
            raise EtudeError(f"the T5 in {folder} has {len(blocks)} layers; model.language_layers asks for {layers} of them to learn")
        pieces, known = 1 + max(local_tokenizer(tokenizer_file(folder)).vocabulary), encoder.config.vocab_size
        if pieces > known:
            raise EtudeError(f"the tokenizer in {folder} has {pieces} pieces, of which the T5 beside it knows {known}")
        deep = encoder.config.d_model
        self.into, self.out = nn.Linear(width, deep), nn.Linear(deep, width)
        self.last = nn.ModuleList(blocks[len(blocks) - layers :]).requires_grad_(True)
        self._frozen = (encoder,)  # a module that torch does not see: only what is registered learns and is kept

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Where this goes, the frozen weights go too."""
        self._frozen[0]._apply(fn)
        found: Self = super()._apply(fn, recurse)
        return found

    def forward(self, words: Tensor, said: Tensor, shown: Tensor, there: Tensor) -> Tensor:
        """Prompts (B, L, width) of ``words`` (B, L, 2) where something is ``said`` (B, L), and elsewhere of what is ``shown``
        (B, L, width); only some tokens are ``there`` (B, L)."""
        encoder = self._frozen[0]
        pieces = encoder.get_input_embeddings()(words[..., 0] * DIGIT + words[..., 1])
        row = torch.where(said[..., None], pieces, self.into(shown))
        out: Tensor = self.out(encoder(inputs_embeds=row, attention_mask=there.long()).last_hidden_state)
        return out


def _encoder(folder: Path, dropout: float) -> Any:
    """The encoder of a T5, in single precision; its decoder, where the folder has one, is left out."""
    try:
        from transformers import T5EncoderModel
        from transformers.utils import logging
    except ImportError:
        raise EtudeError("a pretrained T5 needs 'transformers', which is not installed: pip install transformers") from None
    logging.set_verbosity_error()  # it would report the decoder it does not find a place for
    logging.disable_progress_bar()
    try:
        model, found = T5EncoderModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dropout_rate=dropout, output_loading_info=True
        )
    except Exception as error:  # of transformers, safetensors, torch or json: each has its own for a file that is none
        raise EtudeError(f"the T5 in {folder} cannot be read: {' '.join(str(error).split())[:160]}") from None
    if found["missing_keys"]:
        raise EtudeError(
            f"the T5 in {folder} lacks {len(found['missing_keys'])} of its weights, such as {sorted(found['missing_keys'])[0]}"
        )
    return model.float().eval()
