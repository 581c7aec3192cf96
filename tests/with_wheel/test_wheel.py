"""What ``python -m build`` makes, installed in an empty environment, works from an empty folder (make test-wheel)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parent.parent.parent
CASES = ("tower", "clevrskills/stack@test#0+mo_size")  # a scene, and an episode from its name to its record


def run(*command: object, folder: Path) -> str:
    """What a command prints; only the installed package can be found by it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    done = subprocess.run([str(part) for part in command], cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, which is built from a copy: nothing that lies about in this tree can help."""
    source, out = tmp_path_factory.mktemp("source") / "etude", tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "out", "runs", "build", "__pycache__", "*.egg-info"))
    run(sys.executable, "-m", "build", "--outdir", out, source, folder=out)
    assert len(list(out.glob("*.tar.gz"))) == 1
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a program of a fresh environment, which has the wheel and what it asks for, in an empty folder."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=True)
    here = environment / "bin"
    run(here / "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt", wheel, folder=environment)
    return lambda program, *arguments: run(here / program, *arguments, folder=tmp_path_factory.mktemp("empty"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = ROOT / "src"
    files = (path for path in (package / "etude").rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    assert inside == {path.relative_to(package).as_posix() for path in files}
    assert {Path(name).suffix for name in inside} >= {".py", ".css", ".js", ".html", ".json", ".typed"}


def test_it_is_imported_from_where_it_was_installed(installed):
    assert "site-packages" in installed("python", "-c", "import etude; print(etude.__file__)")
    assert installed("etude", "--version") == installed("python", "-m", "etude", "--version")
    assert "No broken requirements found" in installed("pip", "check", "--disable-pip-version-check")


def test_it_computes_the_same_bytes(installed):
    report = json.loads(installed("etude", "doctor", "--digests", "--json", *(word for case in CASES for word in ("--case", case))))
    assert report["equal"] and {key.rpartition(": ")[0] for key in report["digests"]} == set(CASES)


def test_it_evaluates(installed):
    choice = ("--suite", "clevrskills", "--task", "pick", "--episodes", "2", "--policy", "oracle")
    (group,) = json.loads(installed("etude", "evaluate", *choice, "--out", "run", "--json"))["groups"]
    assert (group["episodes"], group["successes"], group["errors"]) == (2, 2, 0)
