"""A trained model as an ONNX graph: weights in half precision, computed in single precision.

The graph makes one decision: tokens of the things that are new, and a stroke from these, the tokens kept from before, the prompt and the
history. All counts are free: things new and kept, prompt tokens, steps, slots.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn

from etude.learn.buffer import Batch
from etude.learn.models.cogelot import Cogelot
from etude.learn.samples import NUMBERS, OBJECT, WORD
from etude.names import EtudeError
from etude.render.tokens import SIDE

OPSET = 17
SMALL = 16  # numbers; so few are not worth a node
INPUTS = {  # names, with the counts that are free
    "crops": {0: "new"},
    "boxes": {0: "new"},
    "mask": {0: "new"},
    "kept_tokens": {0: "kept"},
    "kept_boxes": {0: "kept"},
    "kept_mask": {0: "kept"},
    "kinds": {1: "length"},
    "words": {1: "length"},
    "places": {1: "length"},
    "rows": {1: "length"},
    "seen": {1: "steps", 2: "slots"},
    "before": {1: "steps"},
    "begun": {1: "steps"},
}


class _Decision(nn.Module):
    """One decision, its inputs in the order of :data:`INPUTS`."""

    def __init__(self, model: Cogelot) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        crops: Tensor, boxes: Tensor, mask: Tensor, kept_tokens: Tensor, kept_boxes: Tensor, kept_mask: Tensor,
        kinds: Tensor, words: Tensor, places: Tensor, rows: Tensor, seen: Tensor, before: Tensor, begun: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        tokens = self.model.things(crops, boxes, mask)
        things = torch.cat([kept_tokens, tokens])
        steps = begun.long().sum(1) + 1  # all but the first have something before them
        batch = Batch(
            things, steps, torch.cat([kept_boxes, boxes]), torch.cat([kept_mask, mask]), kinds, words, places, rows, seen, before, begun,
            before, steps, steps,
        )  # fmt: skip
        return self.model.answers(batch, things), tokens


def exported(model: Cogelot) -> bytes:
    """The model as the bytes of an ONNX file."""
    if model.pretrained is not None:
        raise EtudeError(
            "a policy that reads with a pretrained T5 cannot be exported: its frozen weights are not its own; train one without"
        )
    graph, file = _Decision(model).eval(), io.BytesIO()
    # ONNX has no such operator, and the tracer no word for it.
    torch.onnx.register_custom_op_symbolic("aten::logaddexp", _log_add_exp, OPSET)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # The tracer warns wherever a length is a constant: the batch is always one, and the width is the model's.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                graph, _example(model.width), file, dynamo=False, opset_version=OPSET, input_names=list(INPUTS),
                output_names=["stroke", "tokens"], dynamic_axes={**INPUTS, "tokens": {0: "new"}},
            )  # fmt: skip
    finally:
        torch.onnx.unregister_custom_op_symbolic("aten::logaddexp", OPSET)
    found = onnx.load_from_string(file.getvalue())
    _halve(found.graph)
    _shorten(found.graph)
    onnx.checker.check_model(found)
    data: bytes = found.SerializeToString()
    return data


def _example(width: int, views: int = 2) -> tuple[Tensor, ...]:
    """Something to trace with: no two counts are the same, so that none is taken for another."""
    new, kept, length, steps, slots = 7, 11, 13, 3, 5
    kinds, rows = torch.full((1, length), WORD), torch.full((1, length), -1)
    kinds[0, 1], rows[0, 1] = OBJECT, 2
    begun = torch.ones((1, steps), dtype=torch.bool)
    begun[0, 0] = False
    return (
        torch.zeros((new, views, SIDE, SIDE, 3), dtype=torch.uint8),
        torch.zeros((new, views, 4), dtype=torch.int16),
        torch.ones((new, views), dtype=torch.bool),
        torch.zeros((kept, width)),
        torch.zeros((kept, views, 4), dtype=torch.int16),
        torch.ones((kept, views), dtype=torch.bool),
        kinds,
        torch.zeros((1, length, 2), dtype=torch.int64),
        torch.arange(length)[None],
        rows,
        torch.arange(steps * slots).view(1, steps, slots),
        torch.zeros((1, steps, NUMBERS)),
        begun,
    )


def _log_add_exp(graph: Any, a: Any, b: Any) -> Any:
    apart = graph.op("Exp", graph.op("Neg", graph.op("Abs", graph.op("Sub", a, b))))
    one = graph.op("Constant", value_t=torch.tensor(1.0))
    return graph.op("Add", graph.op("Max", a, b), graph.op("Log", graph.op("Add", one, apart)))


def _halve(graph: Any) -> None:
    """Keep weights in half precision where they are so by nature, as those of a checkpoint are: nothing is rounded. The tracer keeps some
    twice, one turned; once is enough."""
    before = []
    kept: dict[tuple[tuple[int, ...], bytes], str] = {}
    for weights in list(graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.dtype != np.float32 or values.size < SMALL or not np.array_equal(values.astype(np.float16), values):
            continue
        name, half = weights.name, values.astype(np.float16)
        twin = kept.get((half.T.shape, half.T.tobytes())) if half.ndim == 2 else None
        if twin is not None:
            graph.initializer.remove(weights)
            before.append(helper.make_node("Transpose", [twin], [name], perm=[1, 0]))
            continue
        kept[half.shape, half.tobytes()] = name
        weights.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
        before.append(helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*before, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _shorten(graph: Any) -> None:
    """Call values by numbers, keep equal constants once, and drop what is said about nodes: names of modules, a thousand times over, would
    take more than half a megabyte."""
    named = {one.name for one in (*graph.input, *graph.output)}
    short: dict[str, str] = {"": ""}
    constants: dict[bytes, Any] = {}
    nodes = []
    for node in graph.node:
        node.name = node.doc_string = ""
        if node.op_type == "Constant":
            value = node.attribute[0].SerializeToString()
            short[node.output[0]] = short.setdefault(constants.setdefault(value, node).output[0], f"{len(short)}")
        else:
            nodes.append(node)

    def called(names: Sequence[str]) -> list[str]:
        return [name if name in named else short.setdefault(name, f"{len(short)}") for name in names]

    for weights in graph.initializer:
        (weights.name,) = called([weights.name])
    nodes = [*constants.values(), *nodes]
    for node in nodes:
        node.input[:], node.output[:] = called(node.input), called(node.output)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
