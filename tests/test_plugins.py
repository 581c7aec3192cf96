"""Packages of others: a suite, a perturbation and a policy of their own work in every command, in workers, and without being touched."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from forked_process import command, forked
from refusing import refused, told

import etude
from etude.evaluation.choosing import choose
from etude.names import EtudeError
from etude.plugins import load, provenance, require
from etude.policies.scripted import NoopPolicy
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


def test_it_is_evaluated_in_workers_recorded_and_its_run_is_read_without_it(installed, tmp_path, capsys, monkeypatch):
    play = ["evaluate", "--suite", "kitchen", "--episodes", "2", "--perturb", "dusk", "--workers", "2", "--out", "run", "--json"]
    done = run(installed, "-m", "etude", *play, "--policy", "oracle", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert [(g["suite"], g["perturbation"], g["successes"]) for g in groups] == [("kitchen", "", 2), ("kitchen", "dusk", 2)]
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert info["plugins"] == [{"module": "kitchen_lab", "package": "kitchen-lab", "version": "0.1.0"}]
    still = ["evaluate", "--suite", "kitchen", "--episodes", "1", "--workers", "1", "--out", "still", "--policy", "hover"]
    done = run(installed, "-m", "etude", *still, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)  # from here on in this process, which knows nothing of it
    assert "kitchen" not in etude.suites()
    for reader in (["report", "run"], ["compare", "run", "still"]):
        assert "cube_on_plate" in told(capsys, monkeypatch, *reader)
    page = (tmp_path / "run/report.html").read_text()
    assert "dusk" in page and "Turn the lights down" in page
    assert "made with the plug-in 'kitchen_lab'" in refused(capsys, monkeypatch, "evaluate", "--out", "run", "--more", "1")


def test_demonstrations_of_it_are_recorded_and_replayed(installed, tmp_path):
    program = """
import sys
from etude.cli import main
for arguments in ("demos --suite kitchen --episodes 1 --size 32 --workers 1 --out data", "replay data"):
    sys.argv = ["etude", *arguments.split()]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, arguments
"""
    done = run(installed, "-c", program, cwd=tmp_path)
    assert done.returncode == 0 and "1 of 1 episodes came out the same" in done.stdout, done.stderr


def test_a_module_that_is_not_installed_is_imported_by_name(tmp_path):
    (tmp_path / "lab.py").write_text((EXAMPLE / "src/kitchen_lab/__init__.py").read_text())
    done = forked(command("rollout", NAME, "--policy", "oracle", "--import", "lab"), tmp_path)
    assert done.returncode == 0 and "success" in done.stdout, done.stderr


def test_what_etude_new_writes_passes_its_own_test(tmp_path):
    folders = [write_package(kind, f"my_{kind}", tmp_path / kind) for kind in KINDS]

    def program():
        sys.path[:0] = [str(folder / "src") for folder in folders]
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--import-mode=importlib", *map(str, folders)]))

    done = forked(program, tmp_path)
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


OWN = """
from etude.names import EtudeError
from etude.perturb.perturbation import perturbation

@perturbation("brittle", "scene", plausible=True)
def brittle(episode, stream):
    '''Breaks on odd seeds.'''
    return episode if episode.parsed.seed % 2 == 0 else episode.scene.nothing

@perturbation("picky", "scene", plausible=True)
def picky(episode, stream):
    '''Refuses one task.'''
    if episode.parsed.task == "touch":
        raise EtudeError("picky: nothing to pick")
    return episode
"""


def test_what_breaks_in_a_plug_in_is_told_with_its_line_and_the_run_goes_on(tmp_path):
    (tmp_path / "own_lab.py").write_text(OWN)

    def program():
        load("own_lab")
        run = etude.evaluate(NoopPolicy(), "clevrskills/touch@train", episodes=2, perturb="brittle", control=False, out="run")
        whole, broken = run.records
        assert whole.outcome == "failure" and broken.outcome == "error"
        assert re.search(
            r"touch@train#1\+brittle cannot be made, the perturbation brittle broke: AttributeError: .* \(own_lab.py:8 in", broken.error
        )

    assert forked(program, tmp_path).stderr == ""


def test_tasks_that_refuse_a_perturbation_are_left_out_unless_all_do(tmp_path, caplog):
    (tmp_path / "own_lab.py").write_text(OWN)

    def program():
        load("own_lab")
        names = choose("clevrskills", task=("touch", "pick"), perturb="picky", episodes=1)
        assert "picky: 1 of 2 tasks are left out: picky: nothing to pick" in caplog.text
        print(*names)
        with pytest.raises(EtudeError, match="picky: nothing to pick"):
            choose("clevrskills", task="touch", perturb="picky", episodes=1)

    done = forked(program, tmp_path)
    assert done.stdout.split() == [f"clevrskills/{n}" for n in ("pick@test#0", "pick@test#0+picky", "touch@test#0")], done.stderr


def test_a_run_that_is_gone_on_with_loads_what_it_needs(tmp_path):
    (tmp_path / "own_lab.py").write_text(OWN)
    what = {"what": "clevrskills/touch@train", "perturb": "brittle", "control": False, "out": "run"}

    def begin():
        load("own_lab")
        etude.evaluate(NoopPolicy(), episodes=1, **what)

    def go_on():
        with pytest.raises(EtudeError, match=r"unknown perturbation 'brittle'.*--import MODULE"):
            etude.evaluate(NoopPolicy(), episodes=1, **{**what, "out": "other"})
        assert len(etude.evaluate(NoopPolicy(), episodes=1, **what).records) == 1

    for program in (begin, go_on):
        assert forked(program, tmp_path).stderr == ""


def test_a_script_without_a_guard_is_told_to_have_one(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import etude\netude.evaluate('noop', 'clevrskills/touch@train#0', workers=1)")

    def program():
        with pytest.raises(EtudeError, match=r'script.py starts worker processes.* if __name__ == "__main__":'):
            runpy.run_path(str(script), run_name="__main__")

    assert forked(program, tmp_path).stderr == ""
