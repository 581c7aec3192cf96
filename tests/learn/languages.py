"""Tiny models with random weights, in folders as transformers saves them: a T5, an OPT, a Llama, a ViT."""

from __future__ import annotations

import json
import string
from pathlib import Path

from etude.learn.wording import DIGIT

WORDS = ["▁the", "▁Rotate", "▁degrees", "▁put"]  # pieces of more than one sign
PIECES = ["<pad>", "</s>", "<unk>", "▁", *string.ascii_letters, *string.digits, *".,:", *WORDS]
LAYERS = 2


def tiny_tokenizer(folder: Path) -> None:
    """Write a tokenizer in T5's way: pieces of words, the longest first, each word with a sign for the blank before it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    scored = [(piece, -1.0 if piece in WORDS else -2.0) for piece in PIECES]
    made = Tokenizer(models.Unigram(scored, unk_id=PIECES.index("<unk>"), byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": "t5", "eos_token_id": 1}))


def tiny_t5(folder: Path, seed: int = 0, pieces: int = DIGIT + 8) -> str:
    """Write a whole T5 with its decoder, as those that can be had come, and name it as a recipe does."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(seed)
    tiny_tokenizer(folder)
    shape = {"d_model": 24, "d_kv": 8, "d_ff": 40, "num_layers": LAYERS, "num_heads": 3, "vocab_size": pieces}
    T5ForConditionalGeneration(T5Config(**shape)).save_pretrained(folder)
    return f"t5:{folder}"


def tiny_decoder(kind: str, folder: Path, seed: int = 0, positions: int = 512) -> str:
    """Write an OPT or a Llama with its tokenizer, and name it as a recipe does."""
    import torch
    import transformers

    torch.manual_seed(seed)
    tiny_tokenizer(folder)
    shape = {"hidden_size": 24, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "max_position_embeddings": positions}
    more = {"ffn_dim": 40, "word_embed_proj_dim": 16} if kind == "opt" else {"intermediate_size": 40, "num_key_value_heads": 1}
    config, model = {"opt": ("OPTConfig", "OPTForCausalLM"), "llama": ("LlamaConfig", "LlamaForCausalLM")}[kind]
    getattr(transformers, model)(getattr(transformers, config)(vocab_size=len(PIECES), **shape, **more)).save_pretrained(folder)
    return f"{kind}:{folder}"


def tiny_vit(folder: Path, seed: int = 0) -> str:
    """Write a ViT for pictures of 64×64 in patches of 8×8, and name it as a recipe does."""
    import torch
    from transformers import ViTConfig, ViTModel

    torch.manual_seed(seed)
    shape = {"hidden_size": 24, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": 40}
    ViTModel(ViTConfig(image_size=64, patch_size=8, **shape)).save_pretrained(folder)
    return f"vit:{folder}"
