"""The copy of a model that computes on a GPU: its matrices and convolutions in half precision, all else shared with the model.

Autocast alone rounds every weight anew in each pass, and turns every gradient back, one small computation each: hundreds a step. Here
all weights are rounded at once, to the same values.
"""

from __future__ import annotations

import copy
import itertools

import torch
from torch import nn

HALVED = (nn.Linear, nn.Conv2d)


class HalfCopy:
    """Beside a model whose weights stay in full precision, a ``computing`` one. Modules that say ``full_precision`` are left as they are,
    with all they consist of."""

    def __init__(self, model: nn.Module) -> None:
        shared = {id(tensor): tensor for tensor in itertools.chain(model.parameters(), model.buffers())}
        self.computing: nn.Module = copy.deepcopy(model, shared)
        self._pairs: list[tuple[nn.Parameter, nn.Parameter]] = []
        self._halve(self.computing, {})

    def _halve(self, module: nn.Module, done: dict[nn.Parameter, nn.Parameter]) -> None:
        if getattr(module, "full_precision", False):
            return
        for name, whole in module.named_parameters(recurse=False) if isinstance(module, HALVED) else ():
            if not whole.requires_grad:
                continue
            if whole not in done:
                done[whole] = nn.Parameter(whole.detach().bfloat16())
                self._pairs.append((whole, done[whole]))
            setattr(module, name, done[whole])
        for child in module.children():
            self._halve(child, done)

    def refresh(self) -> None:
        """Round the weights as they are now."""
        with torch.no_grad():
            torch._foreach_copy_([half for _, half in self._pairs], [whole for whole, _ in self._pairs])

    def hand_over(self) -> None:
        """Add the gradients of what was computed to those of the model."""
        given = [(whole, half.grad) for whole, half in self._pairs if half.grad is not None]
        if not given:
            return
        found = [torch.empty_like(whole) for whole, _ in given]
        with torch.no_grad():
            torch._foreach_copy_(found, [gradient for _, gradient in given])
            there = [k for k, (whole, _) in enumerate(given) if whole.grad is not None]
            if there:
                torch._foreach_add_([given[k][0].grad for k in there], [found[k] for k in there])
        for (whole, _), gradient in zip(given, found, strict=True):
            whole.grad = gradient if whole.grad is None else whole.grad
        for _, half in self._pairs:
            half.grad = None
