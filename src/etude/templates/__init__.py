"""Small packages to begin with: ``etude new suite kitchen`` writes one of the files here, with words such as ``NAME`` filled in."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from etude.index import INDEX
from etude.names import EtudeError, unknown

BASE = "pick"  # a task in which something can be played
KINDS = ("task", "suite", "perturbation", "policy")
_WORD = re.compile(r"[a-z][a-z0-9_]*")


def write_package(kind: str, name: str, folder: Path) -> Path:
    """Write a package of this kind into a new folder: its module, a test of it, and what ``pip`` has to know."""
    if kind not in KINDS:
        raise unknown("kind of package", kind, KINDS)
    if not _WORD.fullmatch(name):
        raise EtudeError(f"{name!r} cannot be the name of a module; write it in small letters, digits and _, such as {_suggested(name)!r}")
    if folder.exists() and any(folder.iterdir()):
        raise EtudeError(f"--out {str(folder)!r} is there already, and not empty; choose a new folder")
    module = f"my_{name}"
    suite = next(suite for suite, entry in INDEX.items() if "ee_delta" in entry["tasks"].values())
    words = {"MODULE": module, "PACKAGE": module.replace("_", "-"), "NAME": name, "BASE_SUITE": suite, "BASE_TASK": BASE}
    place = resources.files(__name__)
    files = {
        "pyproject.toml": place.joinpath("package.toml.txt"),
        "README.md": place.joinpath("readme.md.txt"),
        f"src/{module}/__init__.py": place.joinpath(f"{kind}.py.txt"),
        f"tests/test_{name}.py": place.joinpath(f"test_{kind}.py.txt"),
    }
    for path, template in files.items():
        text = template.read_text("utf-8")
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def _suggested(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_0123456789") or "my_task"
