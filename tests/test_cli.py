"""The command line: what users type, see and get wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from forked_process import command, forked
from PIL import Image
from refusing import refused
from typer.main import get_command
from typer.testing import CliRunner

from etude import __version__, cli
from etude.names import canonical_json
from etude.scene.examples import example


def etude(*arguments: str, check: int = 0) -> subprocess.CompletedProcess[str]:
    done = forked(command(*arguments))
    assert done.returncode == check, done.stderr
    return done


def test_show_writes_a_picture_of_one_camera(tmp_path):
    out = tmp_path / "new folder" / "front.png"
    etude("show", "tower", "--camera", "front", "--size", "96x64", "--out", str(out))
    assert Image.open(out).size == (96, 64)


def test_show_writes_all_cameras_on_one_page_that_needs_nothing_else(tmp_path):
    out = tmp_path / "drawers.html"
    etude("show", "drawers", "--size", "64", "--out", str(out))
    page = out.read_text()
    assert page.count("<img") == len(example("drawers").cameras) + 2
    assert "depth" in page and "segmentation" in page
    assert "http" not in page.replace("http-equiv", "")


def test_show_reads_a_scene_from_a_file(tmp_path):
    scene, out = tmp_path / "scene.json", tmp_path / "scene.png"
    scene.write_text(canonical_json(example("tower")))
    etude("show", str(scene), "--camera", "render", "--size", "64", "--out", str(out))
    again = tmp_path / "again.png"
    etude("show", "tower", "--camera", "render", "--size", "64", "--out", str(again))
    assert np.array_equal(np.asarray(Image.open(out)), np.asarray(Image.open(again)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "towr"], "unknown scene 'towr'; did you mean 'tower'"),
        (["show", "tower", "--camera", "frnt"], "unknown camera 'frnt'; did you mean 'front'"),
        (["show", "tower", "--size", "12y"], "is not a size"),
        (["show", "tower", "--out", "x.gif"], "must end in .png or .html"),
        (["show", "tower", "--renderer", "rastr"], "unknown renderer 'rastr'; did you mean 'raster'"),
        (["show", "vima/rotate"], "'vima/rotate' is not an episode name: the split ('@…') is missing"),
        (["view", "vima/rotate"], "'vima/rotate' is not an episode name: the split ('@…') is missing"),
        (["view", "runs/nowhere"], "'runs/nowhere' is neither an episode (SUITE/TASK@SPLIT#SEED) nor the folder of a run"),
        (["show", "nowhere.json"], "there is no file 'nowhere.json'"),
        (["show", "gallery", "--out", "x.png"], "must end in .html"),
        (["rollout", "clevrskills/pik@train#1", "--policy", "oracle"], "did you mean 'pick'"),
        (["rollout", "clevrskills/pick@train#1", "--policy", "oracl"], "unknown policy 'oracl'; did you mean 'oracle'"),
        (["rollout", "clevrskills/pick@train#1", "--video", "x.avi", "--policy", "oracle"], "must end in .mp4"),
        (["list", "clevr"], "unknown suite 'clevr'; did you mean 'clevrskills'"),
        (["bench", "rendr"], "unknown benchmark 'rendr'; did you mean 'render'"),
        (["bench", "physics", "--rounds", "2"], "--rounds is for --against COMMIT"),
        (["bench", "start", "--case", "imprt"], "no case of start is called so: 'imprt'"),
    ],
)
def test_mistakes_end_in_one_line_without_a_traceback(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, monkeypatch, *arguments)


def test_a_mistake_ends_a_whole_process_in_one_line_too():
    done = etude("show", "towr", check=2)
    assert done.stdout == "" and done.stderr == "error: unknown scene 'towr'; did you mean 'tower'?\n"


def test_a_broken_scene_file_is_refused_in_one_line(capsys, monkeypatch, tmp_path):
    path = tmp_path / "scene.json"
    path.write_text('{"entities": []}')
    assert "the field 'robot' is missing" in refused(capsys, monkeypatch, "show", str(path))


def test_bench_json_has_the_documented_form():
    report = json.loads(etude("bench", "physics", "build", "--quick", "--json").stdout)
    assert set(report) == {"machine", "results"} and report["machine"]["yardstick"]["compiled_mops"] > 0
    for result in report["results"]:
        assert set(result) == {"case", "value", "unit", "reference", "reference_value", "ratio"}
        assert result["value"] > 0


def test_doctor_tells_what_works_and_what_is_missing():
    report = json.loads(etude("doctor", "--json").stdout)
    assert report["packages"]["mujoco-core"] == "4.0.1"
    declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(report["extras"]) == set(declared) and all(extra["for"] for extra in report["extras"].values())
    assert report["extras"]["gl"]["needs"] == ["mujoco-core", "glfw", "pyopengl"]
    assert report["extras"]["test"]["installed"] and report["extras"]["test"]["missing"] == []
    assert isinstance(report["opengl"]["usable"], bool)
    assert "raster" in report["renderer"] and report["yardstick"]["python_mops"] > 0
    told = " ".join(etude("doctor").stdout.split())
    assert "million operations of compiled code a CPU second" in told
    assert all(f"pip install 'etude[{name}]'" in told for name, extra in report["extras"].items() if not extra["installed"])


def test_help_names_every_command():
    text = CliRunner().invoke(cli.app, ["--help"]).stdout
    assert all(name in text for name in ("show", "doctor", "bench", "evaluate", "report", "compare", "merge", "serve-policy", "rollout"))


def test_h_is_help_for_every_command():
    for words in ([], *([name] for name in get_command(cli.app).commands)):
        done = CliRunner().invoke(cli.app, [*words, "-h"])
        assert done.exit_code == 0 and "Usage" in done.stdout, words


def test_the_version_is_told_by_the_command_and_by_the_module():
    assert etude("--version").stdout == f"etude {__version__}\n"
    module = subprocess.run([sys.executable, "-m", "etude", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == f"etude {__version__}\n" and version("etude") == __version__


COMPUTING = ("mujoco", "numba", "scipy", "torch", "av", "pyarrow", "ray", "PIL", "networkx", "msgpack", "websockets")


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        ("import etude, etude.names", (*COMPUTING, "numpy", "gymnasium", "rich", "typer")),
        ("import etude.scene", COMPUTING),
        (
            "import sys; sys.argv = ['etude', '--help']; from etude.cli import main; main()",
            (*COMPUTING, "numpy", "gymnasium", "rich"),
        ),
    ],
    ids=["the package", "scenes", "the command line"],
)
def test_starting_loads_nothing_that_takes_long(program, heavy):
    watched = f"import atexit, sys; atexit.register(lambda: print([m for m in {heavy} if m in sys.modules], file=sys.stderr)); {program}"
    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_it_works_where_no_graphics_library_can_be_loaded(tmp_path):
    """An environment in which OpenGL, EGL, OSMesa and X cannot be used: pictures come out all the same."""
    out = tmp_path / "tower.png"
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")}
    program = (
        "import ctypes.util, sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('OpenGL', 'glfw'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from etude.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "show", "tower", "--camera", "front", "--size", "64", "--out", str(out)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert Image.open(out).size == (64, 64)
    assert not any(Path(tmp_path).glob("*.html"))


def test_list_names_every_task_in_the_documented_form():
    report = json.loads(etude("list", "--json").stdout)
    tasks = {t["task"]: t for t in report["suites"]["clevrskills"]["tasks"]}
    assert set(tasks["pick"]) == {"task", "splits", "levels", "perturbations", "horizon"}
    assert "pick" in etude("list", "clevrskills").stdout


def test_rollout_plays_and_films_an_episode(tmp_path):
    film = tmp_path / "pick.webp"
    done = etude("rollout", "clevrskills/pick@train#7", "--policy", "oracle", "--video", str(film), "--json")
    report = json.loads(done.stdout)
    assert report["success"] and report["id"].startswith("clevrskills/pick@train#7~")
    with Image.open(film) as frames:
        assert frames.n_frames >= report["steps"]


def test_rollout_writes_mp4(tmp_path):
    film = tmp_path / "noop.mp4"
    etude("rollout", "clevrskills/pick@train#7", "--policy", "oracle", "--video", str(film))
    assert film.stat().st_size > 10_000


def test_evaluate_json_has_the_documented_form(tmp_path):
    arguments = ["evaluate", "--suite", "clevrskills", "--task", "pick", "--policy", "oracle", "--episodes", "2", "--json"]
    (group,) = json.loads(etude(*arguments, "--workers", "2", "--out", str(tmp_path / "run")).stdout)["groups"]
    wanted = {
        "suite",
        "task",
        "split",
        "difficulty",
        "perturbation",
        "mode",
        "episodes",
        "successes",
        "errors",
        "mean_steps",
        "mean_return",
        "interval",
    }
    assert wanted <= set(group)
    assert group["episodes"] == 2 and group["errors"] == 0
