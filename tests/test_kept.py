"""What is slow to make is kept for the next process: equal to the last bit, safe with many at once, never trusted if damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from etude import kept
from etude.catalog import keeping
from etude.catalog.grasp import finger_grasps
from etude.catalog.registry import SHAPES, ShapeEntry, shape
from etude.catalog.shape import Shape
from etude.catalog.suction import suction_spot
from etude.catalog.textures import texture

NOWHERE = Path("/dev/null/nowhere")  # below a file, where not even root can make a folder
THINGS = ("letter A", "triangle")
MAKING = f"""
import hashlib
from etude.catalog.keeping import _content
from etude.catalog.registry import shape
from etude.catalog.textures import texture
digest = hashlib.sha256(texture("checkerboard").tobytes())
for name in {THINGS!r}:
    digest.update(_content(shape(name)).encode())
print(digest.hexdigest())
"""


def forget() -> None:
    """What a new process would not know."""
    for function in (SHAPES_MADE, suction_spot, finger_grasps, texture, kept._folder, kept.private_folder, kept.tell):
        function.cache_clear()


SHAPES_MADE = sys.modules[shape.__module__]._made


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Iterator[Path]:
    """An empty place for what is kept."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    forget()
    yield tmp_path / "etude-kept"
    forget()


def everything(thing: Shape) -> tuple[object, ...]:
    return thing.name, keeping._content(thing), thing.rests, suction_spot(thing), finger_grasps(thing), thing.hands


def test_what_is_read_equals_what_was_made(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(kept, "_folder", lambda: None)
        made = [everything(shape(name)) for name in THINGS]
        painted = texture("checkerboard").copy()
        assert not folder.exists()
        SHAPES_MADE.cache_clear()
    for _ in range(2):  # written, then read
        forget()
        assert [everything(shape(name)) for name in THINGS] == made
        assert np.array_equal(texture("checkerboard"), painted) and not texture("checkerboard").flags.writeable
        assert not shape("triangle").mesh.vertices.flags.writeable
    assert len(list(folder.glob("shape-*"))) == len(THINGS)


def test_it_is_read_and_not_made_again(folder, monkeypatch):
    shape("letter A")
    forget()
    entry = SHAPES["letter A"]

    def refuse(size: object) -> Shape:
        raise AssertionError("made again")

    monkeypatch.setitem(SHAPES._values, "letter A", ShapeEntry(refuse, entry.size, entry.group))
    assert len(shape("letter A").pieces) == 3


def test_another_size_and_other_code_are_other_things(folder, monkeypatch):
    shape("sphere", (0.05, 0.05, 0.05))
    shape("sphere", (0.05, 0.05, 0.06))
    assert len(list(folder.iterdir())) == 2
    forget()
    monkeypatch.setattr(keeping, "making_code", lambda: "another release")
    shape("sphere", (0.05, 0.05, 0.05))
    assert len(list(folder.iterdir())) == 3


def _flip(file: Path, other: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-40] ^= 1
    file.write_bytes(content)


def _cut(file: Path, other: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _empty(file: Path, other: Path) -> None:
    file.write_bytes(b"")


def _exchange(file: Path, other: Path) -> None:
    file.write_bytes(other.read_bytes())


def _pickle(file: Path, other: Path) -> None:
    np.save(file.with_suffix(".npy"), np.array([print], object), allow_pickle=True)
    file.with_suffix(".npy").replace(file)


@pytest.mark.parametrize("harm", [_flip, _cut, _empty, _exchange, _pickle], ids=lambda f: f.__name__[1:])
def test_a_damaged_or_foreign_file_is_made_again(harm: Callable[[Path, Path], None], folder):
    before = keeping._content(shape("letter A"))
    (file,) = folder.iterdir()
    good = file.read_bytes()
    shape("sphere")
    (other,) = set(folder.iterdir()) - {file}
    harm(file, other)
    assert file.read_bytes() != good
    forget()
    assert keeping._content(shape("letter A")) == before
    assert file.read_bytes() == good


def test_processes_that_make_the_same_things_at_once_agree(folder):
    command = [sys.executable, "-c", MAKING]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate()[0] for process in running]
    whole = sorted(file.name for file in folder.iterdir())
    said.append(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert len(set(said)) == 1 and said[0].strip()
    assert sorted(file.name for file in folder.iterdir()) == whole  # the fourth found all there, and no half-written file is left
    assert {name.split("-")[0] for name in whole} == {"shape", "texture"}


def test_where_nothing_else_can_be_written_a_temporary_folder_of_ones_own_is_used(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kept, "_places", lambda: iter([NOWHERE]))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    forget()
    shape("sphere")
    assert len(list((tmp_path / f"etude-{os.getuid()}" / "etude-kept").iterdir())) == 1
    assert capsys.readouterr().err == ""


def test_where_nothing_can_be_kept_things_are_made_all_the_same_and_that_is_said_once(folder, monkeypatch, capsys):
    expected = keeping._content(shape("letter A"))
    monkeypatch.setattr(kept, "_places", lambda: iter([NOWHERE]))
    monkeypatch.setattr(tempfile, "tempdir", str(NOWHERE))
    forget()
    assert keeping._content(shape("letter A")) == expected and shape("sphere").pieces
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("note: compiled code and meshes cannot be kept") and "NUMBA_CACHE_DIR" in line


def test_without_a_home_the_next_place_is_taken(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "__file__", str(NOWHERE / "kept.py"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    kept._folder.cache_clear()
    assert kept._folder() == tmp_path / "user" / "etude-kept"


def test_the_oldest_goes_where_there_is_too_much(folder, monkeypatch):
    monkeypatch.setattr(kept, "LIMIT", 60_000)
    monkeypatch.setattr(kept, "LOOK", 2)
    for k in range(40):
        shape("box", (0.05, 0.05, 0.05 + k / 1000))
    sizes = [file.stat().st_size for file in folder.iterdir()]
    assert len(sizes) < 40 and sum(sizes) <= 60_000 + 2 * max(sizes)
    forget()
    assert shape("box", (0.05, 0.05, 0.089)).size[2] == pytest.approx(0.089)


def test_what_others_make_is_not_kept(folder):
    entry = SHAPES["sphere"]
    SHAPES.add("somebody's sphere", entry, __name__)
    try:
        shape("somebody's sphere")
        assert not list(folder.iterdir()) if folder.exists() else True
    finally:
        del SHAPES._values["somebody's sphere"], SHAPES._modules["somebody's sphere"]
