"""One arithmetic: what it computes, and that nothing between a name and its record computes otherwise."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import etude
from etude.arithmetic import MANY, arctan2, circle, cos, cross, dot, dots, hypot, norm, norms, power, product, sin, total, turned, unit

SOURCE = Path(etude.__file__).parent
# What never reaches an episode, a state, a frame or a record: statistics over records, pages, training and clocks.
BESIDE = (
    "bench", "cli/", "doctor.py", "evaluation/decisions.py", "evaluation/inference.py", "evaluation/matrix.py", "evaluation/pairs.py",
    "evaluation/tables.py", "learn/", "report/", "suites/himan/tables.py", "suites/vlmbench/tables.py", "web/",
    *(f"suites/{suite}/{name}.py" for suite in ("clevrskills", "himan", "iwisdm", "vima", "vlmbench") for name in ("bench", "paper")),
)  # fmt: skip
DISPATCHED = frozenset(
    """sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p cbrt power
    float_power hypot logaddexp logaddexp2 sinc angle dot vdot inner matmul matvec vecmat vecdot tensordot einsum convolve correlate
    polyfit cov corrcoef partition argpartition""".split()  # noqa: SIM905 (a table of names reads better as words)
)


KERNEL = re.compile("jit|compiled")


def _whole(node: ast.expr) -> bool:
    """Is this expression seen to be a whole number or a truth, whose sums are exact?"""
    match node:
        case ast.Constant(value=int()) | ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.BinOp(op=ast.LShift()):
            return True
        case ast.Call(func=ast.Name(id="len" | "int" | "bool" | "isinstance" | "all" | "any")):
            return True
    return False


def _stable(call: ast.Call) -> bool:
    return any(k.arg == "kind" and isinstance(k.value, ast.Constant) and k.value.value == "stable" for k in call.keywords)


def _is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "numpy")


def _compiled(tree: ast.Module) -> set[ast.AST]:
    """All that stands in functions which numba compiles."""
    kernels = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and any(KERNEL.search(ast.unparse(d)) for d in f.decorator_list)]
    return {node for kernel in kernels for statement in kernel.body for node in ast.walk(statement)}


def offences(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a program, and what on them computes something that depends on the CPU, the C library or the version of Python."""
    tree = ast.parse(text)
    compiled = _compiled(tree) if KERNEL.search(text) else set()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield node.lineno, "@ goes to BLAS: use product, turned, dot or dots of etude.arithmetic (poses compose with *)"
            case ast.Attribute(value=ast.Attribute(value=module, attr="linalg" | "fft" as part)) if _is_numpy(module):
                yield node.lineno, f"np.{part} goes to a library that chooses by CPU: use etude.arithmetic"
            case ast.Attribute(value=module, attr=name) if _is_numpy(module) and name in DISPATCHED:
                yield node.lineno, f"np.{name} chooses its instructions by CPU: use etude.arithmetic, or math for one number"
            case ast.Attribute(value=ast.Name(id="math"), attr="hypot") if node in compiled:
                yield node.lineno, "math.hypot in compiled code is the C library's, which changed: write the square root"
            case ast.Attribute(value=ast.Name(id="math"), attr="sumprod"):
                yield node.lineno, "math.sumprod exists from Python 3.12 on: use dot"
            case ast.Call(func=ast.Attribute(attr="argsort")) if not _stable(node):
                yield node.lineno, 'argsort orders equal keys by CPU: say kind="stable"'
            case ast.Call(func=ast.Attribute(attr="dot" | "argpartition", value=owner)) if not isinstance(owner, ast.Name):
                yield node.lineno, "this method goes to BLAS or chooses by CPU: use etude.arithmetic"
            case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp(elt=element), *_]) if _whole(element):
                pass
            case ast.Call(func=ast.Name(id="sum")):
                yield node.lineno, "sum of floats differs from Python 3.12 on: use total"
            case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=2)):
                pass
            case ast.BinOp(op=ast.Pow(), left=ast.Constant()):
                pass
            case ast.BinOp(op=ast.Pow()) | ast.AugAssign(op=ast.Pow()):
                yield node.lineno, "** of an array chooses its instructions by CPU: use power, math.pow for one number, or multiply"
            case ast.keyword(arg="fastmath" | "parallel"):
                yield node.lineno, f"{node.arg} gives up the order of sums"
            case ast.Import(names=names) if any(n.name.split(".")[0] in ("scipy", "random", "statistics") for n in names):
                yield node.lineno, f"import {names[0].name}: not between a name and its record"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in ("scipy", "random", "statistics"):
                yield node.lineno, f"from {module}: not between a name and its record"


def test_nothing_between_a_name_and_its_record_depends_on_the_cpu():
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {what}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not str(path.relative_to(SOURCE)).startswith(BESIDE)
        for line, what in offences(path.read_text())
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "a @ b", "a @= b", "np.linalg.norm(a)", "np.dot(a, b)", "np.einsum('i,i', a, b)", "a[0].dot(b)", "np.sin(a)", "np.fft.fft(a)",
        "np.argsort(a)", "a.argsort()", "sum(a)", "sum(x * x for x in a)", "a ** 3", "a ** b", "a **= 3", "import scipy.spatial",
        "from scipy import special", "import random", "f = njit(fastmath=True)", "math.sumprod(a, b)",
        "@njit\ndef f(x, y):\n    return math.hypot(x, y)",
    ],
)  # fmt: skip
def test_what_depends_on_the_cpu_is_noticed(line):
    assert list(offences(line))


@pytest.mark.parametrize(
    "line",
    ["a * b", "a ** 2", "2 ** k", "sum(1 for x in a)", "sum(x > 0 for x in a)", "np.argsort(a, kind='stable')", "math.sin(x)", "a.sum()"],
)
def test_what_is_the_same_everywhere_is_let_through(line):
    assert not list(offences(line))


def test_kernels_call_nothing_compiled_in_another_file():
    """numba's cache would not notice when that other file changes."""
    texts = {path: path.read_text() for path in SOURCE.rglob("*.py")}
    for path, tree in ((path, ast.parse(text)) for path, text in texts.items() if KERNEL.search(text)):
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("etude")
            for alias in node.names
        }  # fmt: skip
        called = {node.func.id for node in _compiled(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        assert not called & imported, path


# ------------------------------------------------------------------------------------------------ what it computes


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(3)


def test_sums_run_from_the_left():
    values = [1e16, 1.0, -1e16, 1.0]
    assert total(values) == ((1e16 + 1.0) - 1e16) + 1.0
    assert dot(values, [1.0] * 4) == total(values)
    assert total([]) == 0


@pytest.mark.parametrize(
    "shapes", [((3,), (3, 3)), ((3, 3), (3,)), ((5, 3), (3,)), ((3, 3), (3, 3)), ((40, 2), (2, 2)), ((4, 5, 3), (3, 3))]
)
def test_products_are_those_of_matrices_with_one_order_of_summing(numbers, shapes):
    a, b = (numbers.normal(size=shape) for shape in shapes)
    found = product(a, b)
    assert np.allclose(found, a @ b, rtol=1e-13)
    right = b if b.ndim == 2 else b[:, None]
    slow = [[total(x * y for x, y in zip(row, column, strict=True)) for column in right.T] for row in a.reshape(-1, a.shape[-1])]
    assert np.array_equal(found.ravel(), np.ravel(slow))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="shapes"):
        product(np.zeros((4, 3)), np.zeros((2, 2)))


def test_lengths_and_vector_products(numbers):
    v, w = numbers.normal(size=(7, 3)), numbers.normal(size=(7, 3))
    assert np.allclose(norms(v), [math.dist(row, (0, 0, 0)) for row in v], rtol=1e-15)
    assert [norm(row) for row in v] == norms(v).tolist()
    assert [dot(a, b) for a, b in zip(v, w, strict=True)] == dots(v, w).tolist()
    assert np.allclose(cross(v[0], w[0]), np.cross(v[0], w[0]))
    assert norm(unit(v[0])) == pytest.approx(1.0)
    assert np.allclose(turned(v, np.eye(3)[::-1]), v[:, ::-1])
    assert np.array_equal(hypot(v[:, 0], v[:, 1]), norms(v[:, :2]))


@pytest.mark.parametrize("count", [0, 1, 9, MANY + 1])
def test_elementary_functions_are_the_c_librarys_for_few_numbers_and_many(numbers, count):
    x, y = numbers.uniform(-9, 9, count), numbers.uniform(-9, 9, count)
    assert sin(x).tolist() == [math.sin(v) for v in x]
    assert cos(x).tolist() == [math.cos(v) for v in x]
    assert arctan2(y, x).tolist() == [math.atan2(b, a) for a, b in zip(x, y, strict=True)]
    assert power(np.abs(x), 2.4).tolist() == [math.pow(abs(v), 2.4) for v in x]
    assert circle(x).tolist() == [[math.cos(v), math.sin(v)] for v in x]


def test_one_number_gives_one_number():
    assert sin(0.5) == math.sin(0.5) and isinstance(cos(0.5), float)
