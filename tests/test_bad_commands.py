"""Commands that cannot be meant: each is refused in one line that says what is wrong, before any work is done."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from refusing import refused
from run_fixtures import drawn

from etude.evaluation.plan import Plan
from etude.evaluation.store import Store
from etude.names import EtudeError, canonical_json
from etude.scene.examples import example

PICK, LOW = "clevrskills/pick@train#1", "iwisdm/low@val#0"
TOUCH = ["--suite", "clevrskills", "--task", "touch"]
NOWHERE = "/dev/null/x"  # below a file, where nothing can be made

LOOKING = [
    (["show"], "Missing argument 'what'"),
    (["show", PICK, "--size", "²x²"], "--size '²x²' is not a size"),
    (["show", PICK, "--size", "9" * 5000], "is not a size"),
    (["show", PICK, "--size", "100000", "--out", "x.png"], "a picture is 1 to 8192 pixels wide and high"),
    (["show", PICK, "--size", "8000x8000", "--out", "x.png"], "has at most 16777216 pixels, got 8000×8000"),
    (["show", "tower", "--seed", "-1"], "Invalid value for '--seed'"),
    (["show", PICK, "--seed", "3"], "--seed has no meaning for 'clevrskills/pick@train#1', which says everything itself"),
    (["show", "gallery", "--size", "64"], "--size has no meaning for the gallery"),
    (["show", "catalog", "--camera", "front"], "--camera has no meaning for the catalog"),
    (["show", LOW, "--camera", "front"], "--camera has no meaning for iwisdm/low@val#0, which is a decision"),
    (["show", LOW, "--graph", "--size", "64"], "--size has no meaning for a graph"),
    (["show", PICK, "--out", f"{NOWHERE}.png"], "--out '/dev/null/x.png' cannot be written"),
    (["show", "catalog", "--out", f"{NOWHERE}.png"], "--out '/dev/null/x.png' cannot be written"),
    (["show", LOW, "--graph", "--out", f"{NOWHERE}.svg"], "--out '/dev/null/x.svg' cannot be written"),
    (["show", "clevrskills/pick@train#1?prompt=²"], "prompt=² does not exist; clevrskills/pick has prompts 0 to 8"),
    (["show", "clevrskills/pick@train#1?variant=²"], "variant=² does not exist"),
    (["show", "clevrskills/trace@train#1?variant=last"], "variant=last does not exist; expected a whole number from 0 on"),
    (["show", "clevrskills/match_pose@train#1?goals=²"], "goals=² is not possible"),
    (["describe", "himn"], "there is no folder 'himn'; taken as a suite: unknown suite 'himn'; did you mean 'himan'"),
    (["show", f"{LOW}?stimuli=pictures"], "there is no folder 'pictures'; taken as a name: unknown stimulus set 'pictures'"),
    (["show", f"{LOW}?switch=1"], "unknown option of iwisdm/low 'switch'; valid: delay, distractors, salt, stimuli"),
    (["show", f"{LOW}?stimuli=my/pictures"], "the value of 'stimuli' holds '/'; several are parted by ',', and a slash is written %2F"),
    (["show", "iwisdm/auto@val#0?operators=IsSame+And"], "the value of 'operators' holds '+'; several are parted by ','"),
    (["show", "clevrskills/pick@train#1?robot="], "the option 'robot' has no value"),
    (["show", "iwisdm/auto?switch=1"], "the split ('@…') is missing; the form is suite/task@split#seed"),
    (["show", "clevrskills/pick@train#1?robot=pandda"], "unknown arm 'pandda'; did you mean 'panda'"),
    (["show", "x" * 100_000], "(100000 characters); valid:"),
    (["show", "nowhere.json"], "there is no file 'nowhere.json'"),
    (["list", "clevrskills", "vima"], "unexpected extra argument"),
    (["bench", "physics", "all"], "unknown benchmark 'all'"),
    (["doctor", "--jsn"], "No such option: --jsn"),
]
PLAYING = [
    (["rollout", PICK, "--policy", "noop", "--video", f"{NOWHERE}.webp"], "--video '/dev/null/x.webp' cannot be written"),
    (["rollout", LOW, "--video", "x.webp", "--policy", "noop"], "iwisdm/low@val#0 is a decision, of which there is no video"),
    (["rollout", PICK, "--policy", "noop", "--camera", "base"], "--camera chooses the camera of the video: add --video FILE"),
    (
        ["rollout", PICK, "--policy", "noop", "--video", "x.webp", "--camera", "bas"],
        "unknown camera of clevrskills 'bas'; did you mean 'base'",
    ),
    (["rollout", PICK, "--policy", ""], "unknown policy ''"),
    (["rollout", PICK, "--policy", "oracle:noise=nan"], "the oracle's noise must not be negative but a number of metres, got nan"),
    (["rollout", PICK, "--policy", "oracle:wrong=2"], "the share of wrong answers must be from 0 to 1, got 2"),
    (["rollout", PICK, "--policy", "oracle:noise=0.1,noise=0.2"], "option 'noise' of the policy is given twice"),
    (["evaluate", *TOUCH, "--policy", "", "--workers", "1"], "unknown policy ''"),
    (["evaluate", *TOUCH, "--episodes", "99999999999999", "--policy", "noop"], "makes a plan of more than 1000000 episodes"),
    (["evaluate", *TOUCH, "--first-seed", "999999999999999999", "--policy", "noop"], "goes beyond the last seed, 999999999999999999"),
    (["evaluate", *TOUCH, "--more", "-1", "--policy", "noop"], "--more must not be negative, got -1"),
    (["evaluate", *TOUCH, "--timeout", "nan", "--policy", "noop"], "--timeout must be more than 0 seconds, got nan"),
    (["evaluate", *TOUCH, "--memory", "nan", "--policy", "noop"], "--memory must be more than 0 GiB, got nan"),
    (["evaluate", *TOUCH, "--option", "robot=a=b", "--policy", "noop"], "--option 'robot=a=b' is not of the form key=value"),
    (
        ["evaluate", *TOUCH, "--option", "robot=panda", "--option", "robot=ur5", "--policy", "noop"],
        "--option robot is given twice: panda and ur5",
    ),
    (["evaluate", *TOUCH, "--mode", "vanilla", "--mode", "vanilla", "--policy", "noop"], "the mode vanilla is given twice"),
    (["evaluate", *TOUCH, "--ray-address", "auto", "--policy", "noop"], "--ray-address is used by --executor ray"),
    (["evaluate", "--task", "touch"], "say what to play: --suite NAME, --plan FILE"),
    (["evaluate", "--plan", "vima-200", "--episodes", "500", "--policy", "noop"], "--episodes 500 of each kind: the list has at most 200"),
]
RECORDING = [
    (["demos", "--out", "d", *TOUCH, "--size", "²"], "--size '²' is not a size; write 256 or 320x240"),
    (["demos", "--out", "d", *TOUCH, "--size", "64x"], "--size '64x' is not a size"),
    (["demos", "--out", "d", *TOUCH, "--size", "64x8"], "--size must be from 16 to 4096 pixels, got 64x8"),
    (["demos", "--out", "d", "--recipe", "himan/L3", "--split", "tst"], "unknown split among the listed episodes 'tst'"),
    (["demos", "--out", "d", *TOUCH, "--option", "robot"], "--option 'robot' is not of the form key=value"),
    (["drive"], "Missing argument 'EPISODE…'"),
    (["drive", "clevrskills/pik@train#0"], "unknown task of clevrskills 'pik'; did you mean 'pick'"),
    (["drive", LOW], "iwisdm/low@val#0 is a decision, without a robot to drive; 'etude study' has people answer"),
    (["drive", "clevrskills/pick@test#0"], "clevrskills/pick@test#0 is for testing"),
    (["drive", PICK, "--out", NOWHERE], "--out '/dev/null/x' cannot be made: Not a directory"),
    (["drive", PICK, "--out", "/dev/null"], "--out '/dev/null' is a file; choose a folder"),
    (["drive", PICK, "--size", "8"], "--size must be from 16 to 4096 pixels, got 8"),
    (["drive", PICK, "--size", "33"], "videos need an even width and height"),
    (["drive", PICK, "--person", "a/b"], "--person 'a/b' must be a name of letters"),
    (["drive", PICK, "--time", "0.5"], "Invalid value for '--time'"),
    (["export", "--out", NOWHERE, "--suite", "iwisdm", "--task", "low"], "--out '/dev/null/x' cannot be made: Not a directory"),
    (["export", "--out", "x", "--suite", "clevrskills"], "clevrskills has no decisions to write as 'jsonl'; 'etude demos' records"),
    (["export", "--out", "x", "--suite", "himan"], "himan has no decisions to write as 'jsonl'; its form is --form questions"),
    (["replay", "nowhere"], "'nowhere' is not a LeRobot dataset"),
    (["rerender", "nowhere", "--out", "x"], "there is no file 'nowhere/meta/etude.json'"),
    (["validate", "nowhere"], "there is no folder 'nowhere'"),
    (["study", "--task", "low", "--person", "a/b"], "--person 'a/b' must be a name of letters"),
    (["study", "--task", "low", "--person", "a", "--trials", "99999999999"], "makes a plan of more than 1000000 episodes"),
]


@pytest.mark.parametrize(("arguments", "words"), [*LOOKING, *PLAYING, *RECORDING])
def test_a_command_that_cannot_be_meant_is_refused_and_leaves_nothing(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert words in refused(capsys, monkeypatch, *arguments)
    left = [p for p in tmp_path.rglob("*") if p.name not in ("plan.json", "lock", "episodes.jsonl") and not p.is_dir()]
    assert left == []


SCENES = {
    "not JSON": ("{", "not JSON: Expecting property name"),
    "a list": ("[]", "Scene: expected an object, got []"),
    "nested too deeply": ("[" * 100_000, "nested too deeply"),
    "a number of thousands of digits": ("9" * 5_000, "thousands of digits"),
    "not text": (b"\xff\xfe\x00", "scene.json is not text in UTF-8"),
    "a far robot": (canonical_json(example("tower")).replace('"height":0.0', '"height":1e300', 1), "is 1e+300, where at most ±10000"),
}


@pytest.mark.parametrize("case", list(SCENES))
def test_a_broken_scene_file_is_refused(case, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text, words = SCENES[case]
    Path("scene.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert words in refused(capsys, monkeypatch, "show", "scene.json")


PLANS = {
    "empty": ("names.txt", "", "'names.txt' names no episodes; it needs one name on each line"),
    "comments alone": ("names.txt", "# nothing\n\n#more\n", "'names.txt' names no episodes"),
    "empty JSON": ("plan.json", "", "plan.json is not JSON: Expecting value at line 1, column 1"),
    "nested too deeply": ("plan.json", "[" * 100_000, "plan.json is not JSON that can be read: lists or objects are nested too deeply"),
    "a field twice": ("plan.json", '{"names": [], "names": []}', "the field 'names' is given twice"),
}


@pytest.mark.parametrize("command", ["evaluate", "demos", "export"])
@pytest.mark.parametrize("case", list(PLANS))
def test_a_plan_without_episodes_is_refused(case, command, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    name, text, words = PLANS[case]
    Path(name).write_text(text)
    assert words in refused(capsys, monkeypatch, command, "--plan", name, "--out", "out")
    assert not Path("out").exists()


def test_a_plan_saved_by_a_windows_editor_is_read(tmp_path):
    from etude.evaluation.plan import read_names

    path = tmp_path / "names.txt"
    path.write_bytes("\ufeffclevrskills/pick@train#0\r\n".encode())
    assert read_names(path) == ("clevrskills/pick@train#0",)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of eight made-up episodes."""
    folder = tmp_path_factory.mktemp("bad") / "run"
    made = drawn({"pick": "L0", "touch": "L0"}, "noop", {"L0": 0.6}, 4, folder=folder)
    with Store(folder, made.plan) as store:
        store.write_info(made.info)
        for record in made.records:
            store.add(record)
    return folder


def _edited(name: str, **changes: object):
    def edit(folder: Path) -> None:
        data = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**data, **changes}))

    return edit


def _first_line(**changes: object):
    def edit(folder: Path) -> None:
        first, *rest = (folder / "episodes.jsonl").read_text().splitlines()
        (folder / "episodes.jsonl").write_text("\n".join([json.dumps({**json.loads(first), **changes}), *rest, ""]))

    return edit


DAMAGES = {
    "run.json is missing": (lambda f: (f / "run.json").unlink(), "has results but no run.json to say what made them"),
    "run.json is empty": (lambda f: (f / "run.json").write_text("{}"), "has results but no run.json to say what made them"),
    "run.json has a text among its sittings": (_edited("run.json", sittings=["today"]), "run.json: sittings[0] is str"),
    "run.json is a list": (lambda f: (f / "run.json").write_text("[]"), "run.json is not a JSON object"),
    "run.json has a number for a machine": (_edited("run.json", machine=3), "run.json: machine is int, which no run of ours wrote"),
    "run.json has a list for a contract": (_edited("run.json", contract=[1]), "run.json: contract is list"),
    "run.json has a list of packages": (_edited("run.json", machine={"packages": []}), "run.json: machine.packages is list"),
    "run.json has no command but a number": (_edited("run.json", command=7), "run.json: command is int"),
    "the plan is nested too deeply": (lambda f: (f / "plan.json").write_text("[" * 100_000), "plan.json is not JSON that can be read"),
    "the plan has a number of 5000 digits": (lambda f: (f / "plan.json").write_text("9" * 5000), "plan.json is not JSON that can be read"),
    "the plan has no shards": (_edited("plan.json", shard=[0, 0]), "shard 0/0: shards are counted from 0"),
    "the plan has a negative shard": (_edited("plan.json", shard=[-1, 2]), "shard -1/2: shards are counted from 0"),
    "the plan has endless patience": (_edited("plan.json", patience=10**400), "plan.patience: expected a number of at most 64 bits"),
    "a result has endless steps": (_first_line(steps=10**400), "line 1 is damaged (result.steps: expected a number of at most 64 bits"),
    "a result has an endless return": (_first_line(**{"return": 1e999}), "line 1 is damaged (result.reward: expected a finite number"),
    "a result has half a character": (_first_line(error="\ud800"), "line 1 is damaged (result.error: \"\\ud800\" holds half a character"),
    "a folder in place of the results": (lambda f: [(f / "episodes.jsonl").unlink(), (f / "episodes.jsonl").mkdir()], "cannot be read"),
    "no results": (lambda f: (f / "episodes.jsonl").write_text(""), "there is nothing to report"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(DAMAGES))
def test_a_damaged_run_is_not_reported(case, played, capsys, monkeypatch, tmp_path):
    damage, words = DAMAGES[case]
    folder = tmp_path / "run"
    shutil.copytree(played, folder)
    damage(folder)
    assert words in refused(capsys, monkeypatch, "report", str(folder))
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "RUN", "--films", "-1"], "--films must not be negative, got -1"),
        (["report", "RUN", "--out", f"{NOWHERE}.html"], "the report '/dev/null/x.html' cannot be written"),
        (["report", "RUN", "--export", NOWHERE], "tables cannot be written to '/dev/null/x'"),
        (["evaluate", "--out", "RUN", "--task", "pick"], "--task is settled by the plan of"),
        (["evaluate", "--out", "RUN", "--episodes", "7"], "--episodes is settled by the plan of"),
        (["evaluate", "--out", "RUN", "--patience", "7"], "--patience is settled by the plan of"),
        (["evaluate", "--out", "RUN", "--policy", "random"], "holds a run with policy 'noop', not 'random'"),
        (["merge", "RUN", "--out", NOWHERE], "--out '/dev/null/x' cannot be made"),
        (["export", "--suite", "iwisdm", "--task", "low", "--out", "RUN/run.json"], "run.json' is a file; choose a new folder"),
        (["replay", "RUN"], "is not a LeRobot dataset: it has no meta/info.json"),
    ],
)
def test_what_cannot_be_done_with_a_run_is_refused(arguments, words, played, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played, "RUN")
    before = {p: p.read_bytes() for p in Path("RUN").rglob("*") if p.is_file() and p.name != "lock"}
    assert words in refused(capsys, monkeypatch, *arguments)
    after = {p: p.read_bytes() for p in Path("RUN").rglob("*") if p.is_file() and p.name not in ("lock", "report.html")}
    assert after == before


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"codebase_version": "v3.0"}', '{"codebase_version": "v3.0", "fps": "x", "features": {}}',
     '{"codebase_version": "v3.0", "fps": 20, "features": 3}', '{"fps": 20, "features": {"a": {}}}'],
)  # fmt: skip
def test_a_data_set_that_describes_nothing_is_not_replayed(text, capsys, monkeypatch, tmp_path):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(text)
    assert "meta/info.json" in refused(capsys, monkeypatch, "replay", str(tmp_path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_ends_in_one_line(capsys, monkeypatch, tmp_path):
    (tmp_path / "page.html").symlink_to("/dev/full")
    line = refused(capsys, monkeypatch, "show", "tower", "--size", "16", "--out", str(tmp_path / "page.html"))
    assert line == "error: No space left on device"


def test_a_plan_says_what_it_cannot_be():
    with pytest.raises(EtudeError, match="the mode rule is given twice"):
        Plan("noop", ("clevrskills/pick@train#0",), modes=("rule", "rule"))
