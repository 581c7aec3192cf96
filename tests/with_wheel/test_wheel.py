"""What ``python -m build`` makes, installed in an empty environment, works from an empty folder (make test-wheel)."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parent.parent.parent
# Of what needs no extra; rooms that play whole episodes by the hundred would take this beyond ten minutes, and are for `make test`.
ROOMS = ("test_names.py", "test_pose.py", "test_ids.py", "test_docs.py", "decisions", "goals", "perturb", "prompts", "skills", "web")
EXTRAS = ("decisions/test_own_operators.py", "perturb/test_timed.py")  # which need networkx, and datasets
SIZE = 450_000_000  # bytes of an environment with the core, pip, setuptools and compiled Python
CASES = ("tower", "clevrskills/stack@test#0+mo_size")  # a scene, and an episode from its name to its record


def run(*command: object, folder: Path) -> str:
    """What a command prints; only the installed package can be found by it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    done = subprocess.run([str(part) for part in command], cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both: a wheel from the source distribution, which is built from a copy, so that nothing that lies about can help."""
    source, out = tmp_path_factory.mktemp("source") / "etude", tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "out", "runs", "build", "__pycache__", "*.egg-info"))
    run(sys.executable, "-m", "build", "--outdir", out, source, folder=out)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def source(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked. Its own package cannot be imported: what its tests find is what is installed."""
    (archive,) = built.glob("*.tar.gz")
    folder = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(archive, folder, filter="data")
    (found,) = folder.iterdir()
    (found / "src" / "etude" / "__init__.py").unlink()
    return found


class Fresh(NamedTuple):
    """An environment with the wheel and what it asks for, and how many bytes its files had before anything was run in it."""

    folder: Path
    size: int


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    constraints = ("-c", ROOT / "constraints.txt")
    run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *constraints, wheel, folder=folder)
    return Fresh(folder, sum(path.lstat().st_size for path in folder.rglob("*")))


@pytest.fixture(scope="module")
def installed(fresh: Fresh, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a program of the fresh environment in an empty folder."""
    return lambda program, *arguments: run(fresh.folder / "bin" / program, *arguments, folder=tmp_path_factory.mktemp("empty"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = ROOT / "src"
    files = (path for path in (package / "etude").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert inside == {path.relative_to(package).as_posix() for path in files}
    assert {Path(name).suffix for name in inside} >= {".py", ".css", ".js", ".html", ".json", ".typed"}


def test_an_index_takes_both_and_is_told_what_it_wants(built: Path, wheel: Path):
    said = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(built.iterdir()), folder=built)
    assert said.count("PASSED") == 2
    with zipfile.ZipFile(wheel) as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(file))
    assert (metadata["License-Expression"], metadata["License-File"]) == ("Apache-2.0", "LICENSE")
    assert metadata["Description-Content-Type"] == "text/markdown" and metadata["Requires-Python"] == ">=3.11"
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)}
    assert {*versions, "Typing :: Typed"} <= set(metadata.get_all("Classifier"))
    assert not metadata.get_all("Project-URL")  # there is no site of ours that it could name


def test_the_core_is_small(fresh: Fresh):
    assert (fresh.folder / "bin" / "etude").exists() and fresh.size <= SIZE


def test_the_source_distribution_brings_tests_that_the_wheel_passes(installed, source: Path):
    installed("pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt", "hypothesis", "pytest")
    rooms = (source / "tests" / room for room in ROOMS)
    others = (f"--ignore={source / 'tests' / file}" for file in EXTRAS)
    how = ("-p", "no:cacheprovider", "-c", source / "pyproject.toml", "-k", "not example")
    said = installed("python", "-m", "pytest", *how, *others, *rooms)
    assert " passed" in said


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
