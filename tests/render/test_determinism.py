"""The same bytes, whatever was drawn before and in whichever process; and no long wait before the first frame."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from render_desk import CAMERAS, desk, desk_digests, digest

import etude.render
from etude.render import Renderer, fingerprint, raster, setup, shade, shadow
from etude.scene.scene import Lighting

HERE = Path(__file__).parent
SOURCE = Path(etude.render.__file__).parent


def run(*arguments: str, **environment: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True, env={**os.environ, **environment}).stdout


def test_two_processes_give_the_same_bytes() -> None:
    assert run("render_desk.py", PYTHONHASHSEED="7").split() == [*desk_digests(), fingerprint()]


def test_pictures_do_not_depend_on_history() -> None:
    visuals, positions, rotations = desk()
    travelled, fresh = Renderer(visuals, Lighting()), Renderer(visuals, Lighting())
    random = np.random.default_rng(0)
    for _ in range(4):
        elsewhere = positions + random.uniform(-0.6, 0.6, positions.shape)
        elsewhere[0] = 0
        travelled.pose(elsewhere, rotations)
        travelled.shoot(CAMERAS[0], (64, 48), supersample=True)
        travelled.shoot(CAMERAS[2], (90, 90), hide=frozenset({4}))
    for renderer in (travelled, fresh):
        renderer.pose(positions, rotations)
    for camera in CAMERAS:
        assert digest(travelled.shoot(camera, (96, 80))) == digest(fresh.shoot(camera, (96, 80)))


def test_pictures_own_their_memory(desk_renderer: Renderer) -> None:
    first = desk_renderer.shoot(CAMERAS[0])
    before = digest(first)
    desk_renderer.shoot(CAMERAS[1])
    assert digest(first) == before


def test_fingerprint_names_the_version() -> None:
    assert fingerprint().startswith("etude-raster-1-")


def test_a_second_process_compiles_nothing() -> None:
    code = """
from etude.catalog.mesh import box
from etude.render import Renderer, raster, setup, shade, shadow
from etude.scene.scene import Camera, Lighting, look_at
from etude.scene.visual import Visual
Renderer([Visual(0, box((1, 1, 1)), "red")], Lighting()).shoot(Camera("eye", look_at((2, 1, 1), (0, 0, 0))))
kernels = [k for module in (raster, setup, shade, shadow) for k in vars(module).values() if hasattr(k, "stats")]
print(sum(sum(k.stats.cache_hits.values()) > 0 for k in kernels), sum(sum(k.stats.cache_misses.values()) for k in kernels))
"""
    exec(code, {})
    hits, misses = map(int, run("-c", code).split())
    assert hits > 5 and misses == 0


def test_the_cache_works_where_the_package_cannot_be_written(tmp_path: Path) -> None:
    """numba then keeps it in the user's cache directory."""
    shutil.copytree(SOURCE.parent, tmp_path / "site" / "etude", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "site" / "etude" / "render" / "__pycache__").touch()  # a file in its place keeps even root from writing there
    code = """
import numpy as np
from etude.render import measure
ids, depth, owner = np.zeros(1, np.uint16), np.ones((2, 2), np.float32), np.zeros((2, 2), np.int32)
measure.measure(True, ids, np.zeros(1, np.int32), depth, owner, depth.copy(), np.zeros((2, 2), np.uint16))
print(measure.__file__, sum(measure.measure.stats.cache_hits.values()))
"""
    user = {"XDG_CACHE_HOME": str(tmp_path / "user"), "PYTHONPATH": str(tmp_path / "site"), "NUMBA_CACHE_DIR": ""}
    assert run("-c", code, **user).split() == [str(tmp_path / "site/etude/render/measure.py"), "0"]
    assert list((tmp_path / "user").rglob("*.nbi"))
    assert run("-c", code, **user).split()[1] == "1"


def test_importing_cameras_does_not_load_numba() -> None:
    code = "import etude.render, sys; print('numba' in sys.modules, 'mujoco' in sys.modules)"
    assert run("-c", code).split() == ["False", "False"]


@pytest.mark.parametrize("module", sorted(SOURCE.glob("*.py")), ids=lambda p: p.stem)
def test_kernels_call_nothing_compiled_in_another_file(module: Path) -> None:
    """numba's cache would not notice when that other file changes."""
    tree = ast.parse(module.read_text())
    kernels = [f for f in tree.body if isinstance(f, ast.FunctionDef) and any("compiled" in ast.unparse(d) for d in f.decorator_list)]
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("etude")
        for alias in node.names
    }  # fmt: skip
    used = {node.id for kernel in kernels for statement in kernel.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    assert not used & imported


def test_further_frames_compile_nothing(desk_renderer: Renderer) -> None:
    """A kernel that is compiled again for arrays of another kind would cost seconds in the middle of an episode."""
    _, positions, rotations = desk()
    kernels = [k for module in (raster, setup, shade, shadow) for k in vars(module).values() if hasattr(k, "signatures")]
    known = []
    for i in range(4):
        moved = positions + 1e-3 * i
        moved[0] = 0
        desk_renderer.pose(moved, rotations)
        for camera in CAMERAS[:2]:
            desk_renderer.shoot(camera, (96 + i, 64))
        known.append([len(k.signatures) for k in kernels])
    assert sum(known[1]) > 5 and known[2:] == known[1:2] * 2
