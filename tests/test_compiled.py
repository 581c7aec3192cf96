"""Compiled functions are kept for the next process wherever that is possible, and work where it is not."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

import etude
from etude import compiled

TINY = """
from etude.compiled import compiled

@compiled
def half(x):
    return x / 2
"""
NOWHERE = "/dev/null/nowhere"  # below a file, where not even root can make a folder


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Loads a module with a compiled function, as a new process would, from a folder that cannot be written and without a home."""
    site, temporary = tmp_path / "site", tmp_path / "temporary"
    site.mkdir()
    temporary.mkdir()
    (site / "tiny.py").write_text(TINY)
    (site / "__pycache__").touch()  # a file in its place keeps even root from writing there
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, NOWHERE)
    monkeypatch.setattr(compiled.config, "CACHE_DIR", NOWHERE)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def load() -> ModuleType:
        compiled.private_folder.cache_clear()
        compiled.tell.cache_clear()
        spec = importlib.util.spec_from_file_location("tiny", site / "tiny.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    compiled.private_folder.cache_clear()
    compiled.tell.cache_clear()


def own(tmp_path: Path) -> Path:
    return tmp_path / "temporary" / f"etude-{os.getuid()}"


def test_without_a_home_code_is_kept_in_a_temporary_folder_of_ones_own(tiny, tmp_path, capsys):
    assert tiny().half(3.0) == 1.5
    assert stat.S_IMODE(own(tmp_path).stat().st_mode) == 0o700 and list(own(tmp_path).rglob("*.nbc"))
    again = tiny()
    assert again.half(3.0) == 1.5 and sum(again.half.stats.cache_hits.values()) == 1
    assert capsys.readouterr().err == "" and compiled.config.CACHE_DIR == NOWHERE


def _open_to_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _led_elsewhere(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to("elsewhere")


@pytest.mark.parametrize("laid", [_open_to_all, _led_elsewhere, Path.touch], ids=lambda f: f.__name__)
def test_a_folder_that_others_could_fill_is_not_used_and_that_is_said_once(laid, tiny, tmp_path, capsys):
    laid(own(tmp_path))
    module = tiny()
    assert module.half(3.0) == 1.5 and compiled.compiled(lambda x: x + 1)(2) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("note: compiled code and meshes cannot be kept") and "NUMBA_CACHE_DIR" in line
    assert not list((tmp_path / "temporary").rglob("*.nb?"))


def test_without_any_temporary_folder_it_compiles_all_the_same(tiny, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", NOWHERE)
    assert tiny().half(3.0) == 1.5
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_read_only_installation_without_a_home_imports_everything_that_is_compiled(tmp_path):
    source = Path(etude.__file__).parent
    site = tmp_path / "site" / "etude"
    shutil.copytree(source, site, ignore=shutil.ignore_patterns("__pycache__"))
    modules = [p.relative_to(source).with_suffix("") for p in source.rglob("*.py") if "from etude.compiled import" in p.read_text()]
    assert len(modules) > 10
    for folder in {site / m.parent for m in modules}:
        (folder / "__pycache__").touch()
    program = f"import {', '.join('.'.join(('etude', *m.parts)) for m in modules)}; print(etude.__file__)"
    (tmp_path / "temporary").mkdir()
    places = {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path / "temporary")}
    environment = {**os.environ, **places, "PYTHONPATH": str(site.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", str(site / "__init__.py"))


def test_nothing_is_compiled_past_the_one_decorator():
    source = Path(etude.__file__).parent
    users = {p.name for p in source.rglob("*.py") if re.search(r"^\s*(import numba|from numba)", p.read_text(), re.MULTILINE)}
    assert users == {"compiled.py"}


def test_what_an_earlier_release_kept_under_other_names_is_compiled_anew(tmp_path):
    program = "from typing import NamedTuple\nfrom etude.compiled import compiled\nclass {0}(NamedTuple):\n    x: float\n"
    program += "@compiled\ndef twice(at):\n    return 2 * at.x\nprint(twice({0}(1.5)))\n"
    for name in ("Before", "After"):
        (tmp_path / "kept.py").write_text(program.format(name))
        command = [sys.executable, "-c", "import kept"]
        paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
        assert done.stdout == "3.0\n", done.stderr


def test_what_was_kept_is_loaded_without_the_whole_of_the_compiler(tmp_path):
    program = "import sys\nfrom etude.compiled import compiled\n"
    program += "@compiled\ndef doubled(x):\n    return [2 * v for v in x]\n"
    program += "print(doubled((1, 2)), 'numba.np.linalg' in sys.modules)\n"
    (tmp_path / "kept.py").write_text(program)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    for compiles in (True, False):
        done = subprocess.run([sys.executable, "-c", "import kept"], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == f"[2, 4] {compiles}\n"
