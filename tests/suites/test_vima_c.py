"""VIMA's sweeping tasks: what is asked, what counts as in, what must not be touched, and that the oracle sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from etude.envs.simulation import Simulation
from etude.evaluation.play import Players, play
from etude.goals.goal import Always
from etude.goals.sweeping import Gathered, KeptOff
from etude.library import episode, tasks
from etude.names import EtudeError
from etude.pose import Pose
from etude.scene.scene import Area, Body

CASES = [("sweep_without_exceeding", split) for split in ("train", "L1", "L2")] + [("sweep_without_touching", "L4")]


def gathered(found):
    return next(g for g in found.goal.members if isinstance(g, Gathered))


@pytest.mark.parametrize(("task", "split"), CASES)
def test_the_prompt_has_the_originals_wording_and_slots(task, split):
    verb = "exceeding" if task.endswith("exceeding") else "touching"
    text = episode(f"vima/{task}@{split}#3").instruction.template(slots=True)
    assert text.startswith("Sweep ") and text.endswith(f"{{swept_obj}} into {{bounds}} without {verb} {{constraint}}.")


@pytest.mark.parametrize(("task", "split"), CASES)
def test_as_many_are_swept_as_asked_for_and_the_rest_are_left(task, split):
    found = episode(f"vima/{task}@{split}#1")
    goal = gathered(found)
    blocks = [e for e in found.scene.entities if isinstance(e, Body)]
    assert 1 <= goal.count <= len(goal.things) and 2 * len(goal.things) == len(blocks)
    assert len({b.texture for b in blocks}) == 2 and sum(isinstance(e, Area) for e in found.scene.entities) == 2


@pytest.mark.parametrize(("task", "split"), CASES)
def test_the_oracle_sweeps_with_as_few_strokes_as_were_counted(task, split):
    record, _ = play(Players("oracle"), f"vima/{task}@{split}#0")
    assert record.success and record.steps <= record.least


def test_ten_strokes_are_allowed_and_enough_or_twenty_if_asked_for():
    for task, split in CASES[-2:]:
        usual, longer = (episode(f"vima/{task}@{split}#5?difficulty=distracting{more}") for more in ("", "&horizon=20"))
        assert usual.least <= usual.horizon == 10 and longer.horizon == 20 and longer.scene == usual.scene
    with pytest.raises(EtudeError, match="unknown value of horizon '15'"):
        episode("vima/sweep_without_touching@L4#0?horizon=15")
    with pytest.raises(EtudeError, match="unknown option of vima/rotate 'horizon'"):
        episode("vima/rotate@L1#0?horizon=20")


def test_nothing_overlaps_at_the_start_whatever_the_seed():
    for seed in range(8):
        Simulation(episode(f"vima/sweep_without_exceeding@train#{seed}?difficulty=distracting"))  # a world refuses overlaps


def test_a_block_over_the_line_is_a_failure_for_good():
    found = episode("vima/sweep_without_exceeding@train#0")
    rule = next(g for g in found.goal.members if isinstance(g, Always) and isinstance(g.member, KeptOff))
    simulation = Simulation(found)
    thing = rule.member.things[0]
    x, y = (np.asarray(rule.member.lower) + rule.member.upper) / 2
    simulation.world.teleport({thing: Pose.flat(float(x), float(y), 0.0151)})
    simulation.world.step()
    assert simulation.monitor.update().violated and simulation.over


def test_sweeping_is_done_with_strokes_of_a_spatula():
    table = tasks("vima")
    found = episode("vima/sweep_without_touching@L4#0")
    assert found.control == "sweep" and found.scene.robot.hand == "spatula"
    assert table["sweep_without_exceeding"].splits == ("train", "val", "L1", "L2") and table["sweep_without_touching"].splits == ("L4",)
