"""Trunks: transformer blocks with and without cross-attention, before-normed."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

RATIO = 3.5  # of the hidden width to the width
torch.backends.cuda.enable_cudnn_sdp(False)  # cuDNN plans attention anew for every shape, and batches have many


class Attention(nn.Module):
    """Multi-head attention of queries (B, N, width) over tokens (B, M, width); ``allowed`` bool (B, 1, N or 1, M)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.both, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)
        with torch.no_grad():  # to begin with, like looks at like: prompts and tables show the same things
            self.both.weight[:width] = self.query.weight

    def forward(self, queries: Tensor, tokens: Tensor, allowed: Tensor | None) -> Tensor:
        return self.over(queries, self.both(tokens), allowed)

    def over(self, queries: Tensor, known: Tensor, allowed: Tensor | None) -> Tensor:
        """Over tokens of which keys and values are ``known`` (B, M, 2 width); ``allowed`` may also be a bias, for each head."""
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (self.query(queries), *known.chunk(2, -1)))
        if allowed is not None and allowed.dtype != torch.bool:
            allowed = allowed.to(q.dtype)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return out


class TransformerBlock(nn.Module):
    """Self-attention, cross-attention where the block has it, and a hidden layer."""

    def __init__(self, width: int, heads: int, dropout: float, own: bool = True, cross: bool = False) -> None:
        super().__init__()
        self.own = Attention(width, heads) if own else None
        self.cross = Attention(width, heads) if cross else None
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(1 + own + cross))
        self.hidden = nn.Sequential(nn.Linear(width, int(RATIO * width)), nn.GELU(), nn.Linear(int(RATIO * width), width))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        allowed: Tensor | None = None,
        tokens: Tensor | None = None,
        shown: Tensor | None = None,
        known: Tensor | None = None,
    ) -> Tensor:
        """``known``: keys and values of the ``tokens``, where they are looked at more than once."""
        norms = iter(self.norms)
        if self.own is not None:
            y = next(norms)(x)
            x = x + self.dropout(self.own(y, y, allowed))
        if self.cross is not None:
            y = next(norms)(x)
            if known is None:
                assert tokens is not None
                known = self.cross.both(tokens)
            x = x + self.dropout(self.cross.over(y, known, shown))
        out: Tensor = x + self.dropout(self.hidden(next(norms)(x)))
        return out
