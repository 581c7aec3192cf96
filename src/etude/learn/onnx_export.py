"""A trained model as an ONNX graph: weights in half precision, computed in single precision.

The graph makes one decision. Of strokes: tokens of the things that are new, and a stroke from these, the tokens kept from before, the
prompt and the history. Of keyposes: the pose after a look. Of closed-loop control: a chunk of actions after a look, and the next memory,
from the one before or, where an episode begins, from its prompt. All counts are free: things, tokens, steps, slots, pictures.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn
from torch.onnx import symbolic_helper

from etude.learn.buffer import Batch
from etude.learn.control import PICTURE_SIDES, PICTURE_TOKENS
from etude.learn.control_buffer import ControlPrompts
from etude.learn.keypose_buffer import KeyposeBatch
from etude.learn.keyposes import ACTION, POSE_NUMBERS
from etude.learn.models.cogelot import Cogelot
from etude.learn.models.controller import SMALLER, Controller
from etude.learn.models.keypose_model import KeyposeModel
from etude.learn.onnx_inference import BEGUN, FRESH, KEPT_MEMORY, KEYPOSE_INPUTS, LOOK, NEXT, PROMPT
from etude.learn.posing import in_a_row
from etude.learn.samples import NUMBERS, OBJECT, WORD
from etude.names import EtudeError
from etude.render.tokens import SIDE

OPSET = 18
SMALL, MANY = 16, 256  # numbers of weights that are not worth a node, and of a constant that are told shortly
STROKE_INPUTS = {  # names, with the counts that are free
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
UNLIKE = 997  # tokens of a prompt: no other count of a memory is the same
PROMPT_COUNTS = {
    "kinds": {1: "length"},
    "words": {1: "length"},
    "places": {1: "length"},
    "rows": {1: "length"},
    "pictures": {0: "pictures"},
}
Free = Mapping[str, Mapping[int, str]]


def exported(model: nn.Module) -> bytes:
    """The model as the bytes of an ONNX file."""
    borrowed = isinstance(model, Controller) and (model.recipe.language or model.recipe.vision)
    if borrowed or getattr(model, "pretrained", None) is not None:
        raise EtudeError("a policy with pretrained parts cannot be exported: their frozen weights are not its own; train one without")
    for kind, graph_of in GRAPHS.items():
        if isinstance(model, kind):
            found = graph_of(model)
            _halve(found.graph)
            onnx.checker.check_model(found)
            data: bytes = found.SerializeToString()
            return data
    raise EtudeError(f"a {type(model).__name__} cannot be exported; policies of strokes, keyposes and closed-loop control can")


def traced(graph: nn.Module, example: Sequence[Tensor], inputs: Sequence[str], outputs: Sequence[str], free: Free, prefix: str = "") -> Any:
    """A module as an ONNX model with short names, which begin with ``prefix``. ``free``: the counts of inputs and outputs that are no
    constants."""
    file = io.BytesIO()
    with _symbolics(), warnings.catch_warnings(), torch.no_grad():
        # The tracer warns wherever a length is a constant: the batch is always one, and the width is the model's.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph.eval(), tuple(example), file, dynamo=False, opset_version=OPSET, input_names=list(inputs), output_names=list(outputs),
            dynamic_axes={name: dict(counts) for name, counts in free.items()},
        )  # fmt: skip
    found = onnx.load_from_string(file.getvalue())
    _shorten(found.graph, prefix)
    return found


# ------------------------------------------------------------------------------------------------ strokes


class _Decision(nn.Module):
    """One decision, its inputs in the order of :data:`STROKE_INPUTS`."""

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


def _stroke_graph(model: Cogelot) -> Any:
    free = {**STROKE_INPUTS, "tokens": {0: "new"}}
    return traced(_Decision(model), _stroke_example(model.width), [*STROKE_INPUTS], ["stroke", "tokens"], free)


def _stroke_example(width: int, views: int = 2) -> tuple[Tensor, ...]:
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


# ------------------------------------------------------------------------------------------------ keyposes


class _KeyposeLook(nn.Module):
    """One look, its inputs in the order of :data:`~etude.learn.onnx_inference.KEYPOSE_INPUTS`."""

    def __init__(self, model: KeyposeModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, points: Tensor, colours: Tensor, felt: Tensor, words: Tensor, start: Tensor) -> Tensor:
        return in_a_row(self.model.answers(KeyposeBatch(points, colours, felt, words, torch.zeros(1, ACTION), start)))


def _keypose_graph(model: KeyposeModel) -> Any:
    points, length = model.source.points, 13
    example = (
        torch.ones((1, points, 3), dtype=torch.int16),
        torch.zeros((1, points, 3), dtype=torch.uint8),
        torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]),
        torch.zeros((1, length, 2), dtype=torch.int64),
        torch.zeros((1, POSE_NUMBERS)),
    )
    return traced(_KeyposeLook(model), example, KEYPOSE_INPUTS, ["keypose"], {"words": {1: "length"}})


# ------------------------------------------------------------------------------------------------ closed-loop control


class _Beginning(nn.Module):
    """The memory of an episode that begins, as a tuple in the order of ``names``."""

    def __init__(self, model: Controller) -> None:
        super().__init__()
        self.model = model
        self.names: tuple[str, ...] = ()

    def forward(self, kinds: Tensor, words: Tensor, places: Tensor, rows: Tensor, pictures: Tensor, start: Tensor) -> tuple[Tensor, ...]:
        memory = self.model.begin(ControlPrompts(kinds, words, places, rows, pictures), start)
        self.names = tuple(memory)
        return tuple(memory.values())


class _Acting(nn.Module):
    """A chunk of actions after a look, and the next memory."""

    def __init__(self, model: Controller, names: Sequence[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, frames: Tensor, felt: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        chunk, after = self.model.act(dict(zip(self.names, memory, strict=True)), frames, felt)
        return chunk, *(after[name] for name in self.names)


def _control_graph(model: Controller) -> Any:
    """The memory comes from the prompt where an episode is fresh, and else from before: what is not asked for is not computed."""
    grid, least = model.frames.grid, math.lcm(PICTURE_SIDES[0], SMALLER * PICTURE_SIDES[1])
    if grid % least and grid != SMALLER:
        raise EtudeError(f"a policy with model.grid={grid} cannot be exported; expected {SMALLER} or a multiple of {least}")
    length, size = UNLIKE, model.source.size
    kinds, rows = torch.full((1, length), WORD), torch.full((1, length), -1)
    kinds[0, 1], rows[0, 1] = OBJECT, PICTURE_TOKENS + 1
    prompt = (
        kinds,
        torch.zeros((1, length, 2), dtype=torch.int64),
        torch.arange(length)[None],
        rows,
        torch.zeros((2, size, size, 3), dtype=torch.uint8),
        torch.zeros((1, model.chunk, model.numbers)),
    )
    beginning = _Beginning(model.eval())
    with torch.no_grad():
        memory = beginning(*prompt)
    names = beginning.names
    free = {name: {axis: "length" for axis, n in enumerate(one.shape) if n == length} for name, one in zip(names, memory, strict=True)}
    look = (torch.zeros((1, len(model.source.cameras), size, size, 3), dtype=torch.uint8), torch.zeros((1, model.source.feels)))
    begun, now, after = ([f"{when}{name}" for name in names] for when in (BEGUN, "now.", NEXT))
    begins = traced(beginning, prompt, PROMPT, begun, {**PROMPT_COUNTS, **{f"{BEGUN}{k}": v for k, v in free.items()}}, "b")
    acts = traced(
        _Acting(model, names), (*look, *memory), [*LOOK, *now], ["chunk", *after],
        {f"{when}{k}": v for when in ("now.", NEXT) for k, v in free.items()}, "a",
    )  # fmt: skip
    return _either(begins, acts, names)


def _either(begins: Any, acts: Any, names: Sequence[str]) -> Any:
    """One model of two: what ``begins`` gives, or what is given, goes into what ``acts``. Weights of both are there once."""
    graph = acts.graph
    known = {(w.data_type, tuple(w.dims), w.raw_data): w.name for w in graph.initializer}
    same = {w.name: known.get((w.data_type, tuple(w.dims), w.raw_data), w.name) for w in begins.graph.initializer}
    graph.initializer.extend(w for w in begins.graph.initializer if same[w.name] == w.name)
    for node in begins.graph.node:
        node.input[:] = [same.get(name, name) for name in node.input]
    given = {one.name: one for one in graph.input}
    kept = [_called(given[f"now.{name}"], f"{KEPT_MEMORY}{name}") for name in names]
    same_again = [_called(one, f"same.{one.name}") for one in kept]
    passed = [helper.make_node("Identity", [one.name], [other.name]) for one, other in zip(kept, same_again, strict=True)]
    branch = helper.make_node(
        "If", [FRESH], [f"now.{name}" for name in names],
        then_branch=helper.make_graph(begins.graph.node, "begins", [], begins.graph.output),
        else_branch=helper.make_graph(passed, "goes_on", [], same_again),
    )  # fmt: skip
    fresh = helper.make_tensor_value_info(FRESH, onnx.TensorProto.BOOL, [])
    inputs = [fresh, *begins.graph.input, *kept, *(given[name] for name in LOOK)]
    nodes = [branch, *graph.node]
    del graph.input[:], graph.node[:]
    graph.input.extend(inputs)
    graph.node.extend(nodes)
    return acts


def _called(value: Any, name: str) -> Any:
    """What is said about a value, under another name."""
    found = onnx.ValueInfoProto()
    found.CopyFrom(value)
    found.name = name
    return found


GRAPHS: dict[type[nn.Module], Callable[[Any], Any]] = {Cogelot: _stroke_graph, KeyposeModel: _keypose_graph, Controller: _control_graph}

# ------------------------------------------------------------------------------------------------ what the tracer has no word for


@contextmanager
def _symbolics() -> Iterator[None]:
    """Operators that ONNX lacks, or that the tracer does not know."""
    for name, found in SYMBOLICS.items():
        torch.onnx.register_custom_op_symbolic(name, found, OPSET)
    try:
        yield
    finally:
        for name in SYMBOLICS:
            torch.onnx.unregister_custom_op_symbolic(name, OPSET)


def _log_add_exp(graph: Any, a: Any, b: Any) -> Any:
    apart = graph.op("Exp", graph.op("Neg", graph.op("Abs", graph.op("Sub", a, b))))
    one = graph.op("Constant", value_t=torch.tensor(1.0))
    return graph.op("Add", graph.op("Max", a, b), graph.op("Log", graph.op("Add", one, apart)))


def _hypot(graph: Any, a: Any, b: Any) -> Any:
    return graph.op("Sqrt", graph.op("Add", graph.op("Mul", a, a), graph.op("Mul", b, b)))


def _scatter_least(graph: Any, values: Any, axis: Any, at: Any, given: Any, how: Any, included: Any) -> Any:
    reduction = {"amin": "min"}[symbolic_helper._get_const(how, "s", "reduce")]
    return graph.op("ScatterElements", values, at, given, axis_i=symbolic_helper._get_const(axis, "i", "dim"), reduction_s=reduction)


SYMBOLICS = {"aten::logaddexp": _log_add_exp, "aten::hypot": _hypot, "aten::scatter_reduce": _scatter_least}

# ------------------------------------------------------------------------------------------------ how a file is kept small


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


def _shorten(graph: Any, prefix: str) -> None:
    """Call values by numbers after a prefix, keep equal constants once, and drop what is said about nodes: names of modules, a thousand
    times over, would take more than half a megabyte."""
    named = {one.name for one in (*graph.input, *graph.output)}
    short: dict[str, str] = {"": ""}
    constants: dict[bytes, Any] = {}
    nodes = []
    for node in graph.node:
        node.name = node.doc_string = ""
        if node.op_type == "Constant" and node.output[0] not in named:
            value = node.attribute[0].SerializeToString()
            short[node.output[0]] = short.setdefault(constants.setdefault(value, node).output[0], f"{prefix}{len(short)}")
        else:
            nodes.append(node)

    def called(names: Sequence[str]) -> list[str]:
        return [name if name in named else short.setdefault(name, f"{prefix}{len(short)}") for name in names]

    for weights in graph.initializer:
        (weights.name,) = called([weights.name])
    nodes = [*constants.values(), *nodes]
    for node in nodes:
        node.input[:], node.output[:] = called(node.input), called(node.output)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(other for node in nodes for other in _told_shortly(node))


def _told_shortly(node: Any) -> list[Any]:
    """A constant of many numbers that are all the same, or count up from 0, as how it is made; what else it may be as it is."""
    if node.op_type != "Constant" or node.attribute[0].name != "value":
        return [node]
    values, name = numpy_helper.to_array(node.attribute[0].t), node.output[0]
    if values.size < MANY:
        return [node]
    if (values == values.flat[0]).all():
        shape = numpy_helper.from_array(np.array(values.shape, np.int64))
        one = numpy_helper.from_array(values.reshape(-1)[:1])
        return [
            helper.make_node("Constant", [], [f"{name}.shape"], value=shape),
            helper.make_node("ConstantOfShape", [f"{name}.shape"], [name], value=one),
        ]
    if values.ndim == 1 and np.array_equal(values, np.arange(len(values))):
        ends = [numpy_helper.from_array(np.array(number, values.dtype)) for number in (0, len(values), 1)]
        parts = [f"{name}.{k}" for k in range(3)]
        told = [helper.make_node("Constant", [], [part], value=end) for part, end in zip(parts, ends, strict=True)]
        return [*told, helper.make_node("Range", parts, [name])]
    return [node]
