"""Packages of others: a suite, a perturbation and a policy of their own work in every command, in workers, and without being touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from etude.names import EtudeError
from etude.plugins import load, provenance, require
from etude.templates import KINDS, write_package

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"
NAME = "kitchen/cube_on_plate@test#0"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example, installed by pip into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(EXAMPLE), str(source)], check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", str(folder), str(source)]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def run(installed, *arguments, cwd=None):
    paths = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH", str(ROOT / "src"))])])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=cwd, check=False)


def test_the_example_is_small():
    assert len((EXAMPLE / "src/kitchen_lab/__init__.py").read_text().splitlines()) <= 60


def test_an_installed_package_is_there_for_names_and_for_gymnasium(installed):
    program = f"""
import etude, gymnasium
assert "kitchen" in etude.suites()
env = gymnasium.make("etude/kitchen.cube_on_plate-v1", size=(16, 16))
env.reset(seed=0)
print(etude.episode("{NAME}").instruction.text)
print(etude.tasks("kitchen")["cube_on_plate"].summary)
"""
    done = run(installed, "-c", program)
    assert done.returncode == 0, done.stderr
    assert "Put the" in done.stdout and "Randomised" in done.stdout


def test_gymnasium_finds_it_by_the_name_of_its_module(installed):
    done = run(installed, "-c", "import gymnasium; print(gymnasium.make('kitchen_lab:etude/kitchen.cube_on_plate-v1', size=(16, 16)))")
    assert done.returncode == 0, done.stderr


def test_it_is_evaluated_in_workers_recorded_and_its_run_is_read_without_it(installed, tmp_path):
    play = ["evaluate", "--suite", "kitchen", "--episodes", "2", "--perturb", "dusk", "--workers", "2", "--out", "run", "--json"]
    done = run(installed, "-m", "etude", *play, "--policy", "oracle", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert [(g["suite"], g["perturbation"], g["successes"]) for g in groups] == [("kitchen", "", 2), ("kitchen", "dusk", 2)]
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert info["plugins"] == [{"module": "kitchen_lab", "package": "kitchen-lab", "version": "0.1.0"}]
    other = run(installed, "-m", "etude", *play[:-3], "--out", "still", "--policy", "hover", cwd=tmp_path)
    assert other.returncode == 0, other.stderr
    nowhere = tmp_path / "nowhere"
    for command in (["report", "run"], ["compare", "run", "still"]):
        done = run(nowhere, "-m", "etude", *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "cube_on_plate" in done.stdout
    page = (tmp_path / "run/report.html").read_text()
    assert "dusk" in page and "Turn the lights down" in page
    done = run(nowhere, "-m", "etude", "evaluate", "--out", "run", "--more", "1", cwd=tmp_path)
    assert done.returncode == 2 and "made with the plug-in 'kitchen_lab'" in " ".join(done.stderr.split())


def test_demonstrations_of_it_are_recorded_and_replayed(installed, tmp_path):
    done = run(installed, "-m", "etude", "demos", "--suite", "kitchen", "--episodes", "1", "--size", "32", "--out", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(installed, "-m", "etude", "replay", "data", cwd=tmp_path)
    assert done.returncode == 0 and "1 of 1 episodes came out the same" in done.stdout, done.stderr


def test_a_module_that_is_not_installed_is_imported_by_name(tmp_path):
    (tmp_path / "lab.py").write_text((EXAMPLE / "src/kitchen_lab/__init__.py").read_text())
    command = ["rollout", NAME, "--policy", "oracle", "--import", "lab"]
    done = run(ROOT / "src", "-m", "etude", *command, cwd=tmp_path)
    assert done.returncode == 0 and "success" in done.stdout, done.stderr


def test_what_etude_new_writes_passes_its_own_test(tmp_path):
    folders = [write_package(kind, f"my_{kind}", tmp_path / kind) for kind in KINDS]
    path = os.pathsep.join(str(folder / "src") for folder in folders)
    done = run(path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *map(str, folders), cwd=tmp_path)
    assert done.returncode == 0 and f"{len(KINDS)} passed" in done.stdout, done.stdout


def test_what_cannot_be_written_or_loaded_is_told_in_one_line(tmp_path, monkeypatch):
    with pytest.raises(EtudeError, match="did you mean 'suite'"):
        write_package("suit", "mine", tmp_path / "a")
    with pytest.raises(EtudeError, match="such as 'my_task'"):
        write_package("task", "My Task", tmp_path / "a")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    with pytest.raises(EtudeError, match="not empty"):
        write_package("task", "mine", tmp_path / "full")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EtudeError, match="there is no module 'no_such_lab' here"):
        load("no_such_lab")
    (tmp_path / "broken_lab.py").write_text("1 / 0")
    with pytest.raises(EtudeError, match="'broken_lab' cannot be loaded: ZeroDivisionError"):
        load("broken_lab")
    (tmp_path / "double_lab.py").write_text("from etude import Suite\nSuite('himan', 'Mine', splits={'test': 'test'})")
    with pytest.raises(EtudeError, match=r"etude\.suites\.himan has the suite 'himan' already"):
        load("double_lab")
    with pytest.raises(EtudeError, match="install my-lab"):
        require([{"module": "no_such_lab", "package": "my-lab", "version": "1"}])
    assert provenance(["etude.suites.himan", "etude"]) == []


def test_a_plug_in_that_is_broken_is_told_and_takes_nothing_along(tmp_path):
    (tmp_path / "broken_lab.py").write_text("1 / 0")
    (tmp_path / "broken_lab-1.dist-info").mkdir()
    (tmp_path / "broken_lab-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: broken-lab\nVersion: 1\n")
    (tmp_path / "broken_lab-1.dist-info/entry_points.txt").write_text("[etude.plugins]\nlab = broken_lab\n")
    done = run(tmp_path, "-c", "import etude; print(etude.__version__)")
    assert done.returncode == 0 and done.stdout.strip() and "'lab' of broken-lab cannot be loaded: ZeroDivisionError" in done.stderr
