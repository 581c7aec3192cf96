"""The audit finds what was planted, and finds nothing where nothing was."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from refusing import refused
from run_fixtures import drawn

from etude import cli
from etude.audit.cheats import CHEATS
from etude.audit.page import write
from etude.audit.parts import Candidate, Named, case
from etude.audit.run import audit
from etude.audit.scoring import tail
from etude.audit.symmetry import assignments
from etude.audit.texts import faults
from etude.goals import OnTop
from etude.names import EtudeError
from etude.prompts.instruction import instruction
from etude.report.audits import best_cheats
from etude.report.evaluation import write_report
from etude.scene.rooms import xarm_room
from etude.suites.suite import Conceded, Draft, Draw, Suite

SMALL = (0.04, 0.04, 0.04)
LARGER = (0.05, 0.05, 0.05)


def suite(name: str, leak: str = "", **more) -> Suite:
    """A suite with one task, cube on plate, and one leak, if any."""
    found = Suite(
        name, "A suite to be audited", splits={"train": "training", "test": "test"}, room=xarm_room,
        workspace=((-0.35, -0.3), (0.0, 0.3)), **more,
    )  # fmt: skip

    @found.task(level="L1", horizon=100)
    def cube_on_plate(draw: Draw) -> Draft:
        """Put a cube on the plate."""
        if leak == "split":
            draw = Draw(replace(draw.name, split="train"), "train", draw.attempt)
        scene, stream = draw.scene(), draw.rng("audited")
        count = 3 if leak != "choice" or stream.chance(0.5) else 1
        target = stream.integer(0, count - 1) if leak not in ("order", "number") else 0
        numbers = [0, 1, 2] if leak == "number" else stream.shuffled([0, 1, 2])
        plate = scene.add("plate", fixed=True, name="plate")
        x, y, z = plate.body.pose.position
        cubes = []
        for k in range(count):
            size = LARGER if leak == "small" and k != target else SMALL
            cubes.append(scene.add("cube", size=size, name=f"{scene.colour()} cube {numbers[k]}", words="cube"))
        if leak == "satisfied" and draw.name.seed == 3:
            scene.things[1 + target] = replace(cubes[target].body, pose=replace(plate.body.pose, position=(x, y, z + 0.035)))
        if leak == "number":
            scene.things[1:] = stream.shuffled(scene.things[1:])
        cube = cubes[target]
        article = "an" if leak == "article" else "a"
        told = instruction(f"Put {article} cube, the {cube.rpartition(' ')[0].removesuffix(' cube')} one, on the plate.")
        return scene.episode(OnTop(cube, plate), told, moved=[cube], receiving=[plate])

    return found


@pytest.fixture
def made(own_suites):
    """Suites of this test alone."""

    def make(leak: str = "", **more) -> Suite:
        return suite(f"audited-{leak or 'fair'}", leak, **more)

    return make


def looked(found: Suite, moving: int = 0, episodes: int = 60):
    return audit(found.name, episodes=episodes, moving=moving, workers=1)


def test_nothing_is_found_in_a_fair_suite(made):
    found = looked(made())
    (row,) = found.rows
    assert found.ok and row.ok and not row.reason, (row, found.degenerate, found.leaks)
    assert math.isclose(row.chance, 1 / 3, abs_tol=1e-4) and row.bound == row.chance


def test_a_target_that_is_always_the_smaller_one_is_found(made):
    (row,) = looked(made("small")).rows
    assert not row.ok and row.cheat_rate == 1.0 and "smaller one" in row.reason


@pytest.mark.parametrize("leak", ["order", "number"])
def test_what_a_sampler_puts_first_or_calls_zero_tells_nothing_because_it_is_dealt_anew(made, leak):
    (row,) = looked(made(leak)).rows
    assert row.ok


def test_a_test_split_that_holds_training_episodes_is_found(made):
    found = looked(made("split"))
    assert not found.ok and all(row.ok for row in found.rows)
    assert [leak.what for leak in found.leaks] == ["cube_on_plate: 50 episodes of test are in training"]


def test_shapes_that_should_be_new_but_are_not_are_found(made):
    found = looked(made(novel={"test": "shape"}), episodes=10)
    assert [(leak.what, leak.examples) for leak in found.leaks] == [("test should have no shape of training: 2 of them", ("cube", "plate"))]


def test_an_episode_that_is_done_before_it_begins_is_found(made):
    found = looked(made("satisfied"), moving=1, episodes=5)
    assert ("audited-satisfied/cube_on_plate@test#3", "satisfied before the first action") in {
        (d.episode, d.what) for d in found.degenerate
    }
    assert found.rows[0].oracle == 1.0


def test_episodes_without_a_choice_are_found_among_those_with_one(made):
    found = looked(made("choice"), episodes=10)
    assert {d.what for d in found.degenerate} == {"nothing to choose: every choice is right"}
    assert 0 < len(found.degenerate) < 10


def test_a_wrong_article_is_found(made):
    assert {d.what for d in looked(made("article"), episodes=2).degenerate} == {"wrong article: 'an cube'"}


def test_a_cheat_that_the_suite_concedes_is_let_pass_with_its_reason(made):
    (row,) = looked(made("small", exceptions=[Conceded("cube_on_plate", c, "the paper, page 3") for c in ("smaller one", "deaf")])).rows
    assert row.ok and row.reason == "the paper, page 3" and row.cheat_rate == 1.0


def test_more_than_five_concessions_are_an_excuse():
    with pytest.raises(EtudeError, match="6 cheats are conceded; at most 5 may be"):
        suite("audited-excused", exceptions=[Conceded("cube_on_plate", str(k), "because") for k in range(6)])


def test_the_same_audit_gives_the_same_bytes(made, tmp_path):
    value = made("small")
    for folder in ("one", "two"):
        write(looked(value, episodes=20), tmp_path / folder)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"audit.json", "audit.html", "rows.csv", "rows.md", "cheats.csv"} <= set(files)
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in files)


def test_the_command_speaks_json_and_says_by_its_status_that_something_is_wrong(made, tmp_path, capsys, monkeypatch):
    value = made("small")
    command = ["etude", "audit", value.name, "--episodes", "20", "--moving", "0", "--workers", "1", "--out", str(tmp_path), "--json"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1 and said == json.loads((tmp_path / "audit.json").read_text("utf-8"))
    assert list(said) == ["suite", "rows", "degenerate", "leaks", "ok"] and said["ok"] is False
    keys = ["task", "split", "chance", "cheat", "cheat_rate", "interval", "oracle", "bound", "ok", "reason"]
    assert list(said["rows"][0]) == keys and said["rows"][0]["oracle"] is None


def test_chance_counts_what_comes_to_the_same():
    assert assignments([["a", "b"], ["a", "b", "c"]]) == 4  # a with b or c, b with a or c
    assert tail([0.5, 0.5, 0.25], 3) == 0.0625 and tail([0.3], 0) == 1.0


def test_where_all_of_a_kind_are_wanted_chance_draws_a_kind():
    colours = ["red", "red", "blue", "blue", "green"]
    things = [Candidate(f"cube {k}", k, ("Body", "False"), ("cube",), "cube", c, (0.0, 0.1 * k), 1.0) for k, c in enumerate(colours)]

    def chance(wanted: list[str]) -> float:
        pattern = ("goal", ("set", *(("Laid", ("#", k)) for k in range(len(wanted)))))
        look = Named("toys/sort@test#0", tuple(things), tuple((name, "manipulated") for name in wanted), pattern, "", "", (0.0, 0.0))
        return case(look, {}, frozenset(), (0.0, 0.0)).chance

    assert chance(["cube 0", "cube 1"]) == 1 / 3  # red, blue or green
    assert chance(["cube 0", "cube 2"]) == 1 / 10  # any two of five


def test_sizes_and_blocks_that_are_alike_fix_no_part():
    for suite, task, chance in (("vlmbench", "pour_size", 1 / 2), ("himan", "take_two_out_of_same", 1 / 3)):
        found = audit(suite, task=[task], episodes=6, moving=0, workers=1)
        assert found.rows[0].chance == pytest.approx(chance, abs=1e-3) and not found.degenerate and not found.leaks


def test_texts_are_judged_exactly():
    fine = [
        "Pick up an orange cube.",
        "Put a U-shaped block into an L-shaped one.",
        "open the top drawer",
        "Rotate it 30 degrees.",
        "Put letter A into it: scene 1",
    ]
    assert not [fault for text in fine for fault in faults(text, ["it 3", "letter A 1"])]
    assert not [*faults("Rotate the red star 30 degrees.", ["red star 3"])]
    wrong = ["Take a orange.", "Put the the cube away.", "Take two block.", "the cup is dax. Put it away.", "Grasp red star 0."]
    names = ["red star 0"]
    assert [next(faults(text, names)).partition(":")[0] for text in wrong] == [
        "wrong article", "doubled word", "wrong plural", "a sentence starts with a small letter", "a name for machines",
    ]  # fmt: skip


def test_every_cheat_says_what_it_sees():
    assert len(CHEATS) > 20 and all(cheat.sees for cheat in CHEATS.values())


def test_a_report_shows_the_best_cheat_beside_the_score(tmp_path):
    audits = tmp_path / "audits"
    audits.mkdir()
    row = {"task": "touch", "split": "test", "cheat": "first entity", "cheat_rate": 0.75, "chance": 0.25}
    (audits / "audit.json").write_text(json.dumps({"suite": "clevrskills", "rows": [row]}), encoding="utf-8")
    page = tmp_path / "page.html"
    write_report([drawn({"touch": "L0"}, "mine", {"L0": 0.8}, 4)], page, audits=[audits])
    assert "Best cheat" in page.read_text("utf-8") and "first entity · chance 25" in page.read_text("utf-8")


def test_a_folder_without_an_audit_is_refused(tmp_path):
    with pytest.raises(EtudeError, match=r"there is no audit\.json in"):
        best_cheats([tmp_path])


REFUSED = [
    (["nowhere"], "unknown suite 'nowhere'"),
    (["clevrskills", "--task", "pik"], "unknown task of clevrskills 'pik'; did you mean 'pick'?"),
    (["clevrskills", "--episodes", "0"], "--episodes must be at least 1, got 0"),
    (["clevrskills", "--moving", "-1"], "--moving must not be negative, got -1; 0 plays nothing"),
    (["clevrskills", "--workers", "-1"], "--workers must not be negative, got -1"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[" ".join(a) for a, _ in REFUSED])
def test_what_cannot_be_meant_is_refused_in_one_line(arguments, said, tmp_path, capsys, monkeypatch):
    assert said in refused(capsys, monkeypatch, "audit", *arguments, "--out", str(tmp_path / "x"))
