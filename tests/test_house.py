"""How the house is built: what may import what, what may be named where. CONTRIBUTING.md tells the same in words."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import etude

SOURCE = Path(etude.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# From the ground up. A room (a package or module of etude) imports from rooms of floors below its own, and from itself; rooms of one floor
# do not know each other, but on the ground. Imports inside functions count; those that only name a type do not. A new room gets its place
# here.
GROUND = (
    "arithmetic", "cgroups", "compiled", "foreign", "index", "kept", "loops", "machine", "names", "plugins", "pose", "registry", "salt",
    "yardstick",
)  # fmt: skip
BENCHMARKS = "suites/*"  # what comes with etude as it could come with a plug-in: nothing below knows it
FLOORS = (
    GROUND,
    ("catalog",),
    ("scene",),
    ("goals", "render"),
    ("prompts",),
    ("decisions", "episodes"),
    ("skills",),
    ("suites",),
    ("perturb",),
    ("library",),
    ("envs",),
    ("policies",),
    ("evaluation",),
    ("datasets", "digests", "doctor", "report", "templates", "vector", "web"),
    ("api", "audit", "bench", "drive", "integrations", "learn"),
    (BENCHMARKS, "papers"),
    ("cli",),
    ("__main__",),
)
UPWARDS = {
    ("etude.evaluation.store", f"etude.report.{page}") for page in ("article", "evaluation")
}  # ``run.report(path)``, for those who hold a run
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


def for_types(path: Path) -> set[ast.AST]:
    """What stands under ``if TYPE_CHECKING``, and is never imported."""
    guarded = (node for node in tree(path).body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
    return {inner for node in guarded for inner in ast.walk(node)}


def module(path: Path) -> str:
    return ".".join(("etude", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module(path): path for path in FILES}


def room(name: str) -> str:
    """Of a module: ``scene`` for ``etude.scene.world``, ``etude`` for the package itself."""
    if (SOURCE / Path(*name.split(".")[1:3])).is_dir() and name.startswith("etude.suites."):
        return BENCHMARKS
    return [*name.split("."), "etude"][1] if name != "etude" else "etude"


def imports(path: Path, among: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules of etude that these nodes of a file import, with the line."""
    for node in among:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{path}:{node.lineno}: a relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in MODULES else node.module for name in inner]
        else:
            continue
        yield from ((name, node.lineno) for name in found if name.split(".")[0] == "etude")


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(SOURCE.parent)}:{line}"


def test_every_room_has_a_floor():
    assert {room(name) for name in MODULES} - {"etude"} == set(FLOOR)


def test_a_room_imports_only_from_floors_below():
    wrong = []
    for name, path in MODULES.items():
        here = room(name)
        for there, line in imports(path, set(nodes(path)) - for_types(path)):
            other = room(there)
            fine = (
                (name, there) in UPWARDS
                or here == "etude"
                or other in (here, "etude")
                or FLOOR[other] < FLOOR[here]
                or {here, other} <= set(GROUND)
            )
            if not fine:
                wrong.append(f"{place(path, line)}: {here} imports {there}")
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_through_others():
    """Imports inside functions are left out: they run when everything is loaded."""
    graph = {name: {there for there, _ in imports(path, tree(path).body) if there != name} for name, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_nobody_imports_what_another_module_keeps_private():
    wrong = []
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("etude"):
                hidden = [alias.name for alias in node.names if alias.name.startswith("_") and not alias.name.endswith("__")]
                wrong += [f"{place(path, node.lineno)}: {name} of {node.module}" for name in hidden]
    assert not wrong, "\n".join(wrong)


def test_a_class_name_stands_once():
    places = defaultdict(list)
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(place(path, node.lineno))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert len(places) > 100 and not twice, twice


SUITES = sorted(path.name for path in (SOURCE / "suites").iterdir() if (path / "__init__.py").exists())
IN_TEXT = re.compile(rf"(?<![A-Za-z])({'|'.join(SUITES)})(?![A-Za-z])")
IN_NAMES = re.compile("|".join(SUITES), re.IGNORECASE)


def words(path: Path) -> Iterator[tuple[int, str]]:
    """Every identifier and text of a file that names a suite, with its line."""
    docstrings = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    if IN_NAMES.search(module(path)):
        yield 1, f"the module {module(path)}"
    for node in nodes(path):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in docstrings and IN_TEXT.search(node.value):
                yield node.lineno, repr(node.value)
            continue
        for field in ("id", "attr", "arg", "name", "asname", "module"):  # of names, attributes, arguments, definitions and imports
            text = getattr(node, field, None)
            if isinstance(text, str) and IN_NAMES.search(text):
                yield getattr(node, "lineno", 1), text


def test_the_search_for_suite_names_finds_them_where_they_may_stand():
    assert {"clevrskills", "himan", "iwisdm", "vima", "vlmbench"} <= set(SUITES)
    own = Counter(path.relative_to(SOURCE / "suites").parts[0] for path in FILES if "suites" in path.parts for _ in words(path))
    assert set(SUITES) <= set(own)


def test_nothing_outside_the_suites_names_one():
    found = [f"{place(path, line)}: {text}" for path in FILES if SOURCE / "suites" not in path.parents for line, text in words(path)]
    assert not found, f"{len(found)} places\n" + "\n".join(found)


PUBLIC = [name for name in etude.__all__ if inspect.isfunction(getattr(etude, name)) or inspect.isclass(getattr(etude, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_explained_with_an_example(name):
    text = inspect.getdoc(getattr(etude, name)) or ""
    assert re.search(r"^\s*>>> |^```|::$", text, re.MULTILINE), f"etude.{name} has no example: {text!r}"
