"""Numbers from records: every count can be checked by hand here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_fixtures import record, run_of

from etude.catalog.textures import texture_names
from etude.decisions.trial import Trial
from etude.evaluation.inference import wilson
from etude.evaluation.pairs import compare, comparison, paired_records, perturbation_costs
from etude.evaluation.record import GivenSubtask, Subgoal
from etude.evaluation.saying import common_words
from etude.evaluation.subgoals import funnels
from etude.evaluation.tables import by, errors, faults, groups, odd_returns, p_value, percent, points
from etude.goals.goal import GoalNode
from etude.library import find
from etude.names import EtudeError
from etude.skills.subtasks import describe
from etude.suites.suite import SUITES

LOOKS = {word for name in texture_names() for word in name.rpartition("/")[2].split()}
PICK, PLACE = "clevrskills/pick@test", "clevrskills/place@test"


def leaf(number: int | str, words: str, reached: int | None, kind: str = "Held") -> Subgoal:
    return Subgoal(f"goal.{number}", kind, words, reached is not None, 0.5, False, reached)


# ------------------------------------------------------------------------------------------------ sums


def test_a_group_has_the_promised_form():
    played = [
        record(f"{PICK}#0", True, steps=10, reward=5.0),
        record(f"{PICK}#1", False, steps=20, reward=1.0),
        record(f"{PICK}#2", "error"),
    ]
    (row,) = groups(played)
    low, high = wilson(1, 2)
    assert list(row.to_data().items()) == [
        ("suite", "clevrskills"), ("task", "pick"), ("split", "test"), ("level", "L0"), ("difficulty", "default"), ("perturbation", ""),
        ("mode", "vanilla"), ("episodes", 2), ("successes", 1), ("errors", 1), ("mean_steps", 15.0), ("mean_return", 3.0),
        ("reward_per_step", 0.2), ("interval", [round(low, 4), round(high, 4)]),
    ]  # fmt: skip


def test_groups_come_in_the_order_of_first_appearance_and_split_by_every_condition():
    names = [f"{PLACE}#0", f"{PICK}#0", f"{PICK}#0?difficulty=hard", f"{PICK}#0+light+dark", "clevrskills/pick@train#0", f"{PLACE}#1"]
    rows = groups([*(record(n) for n in names), record(f"{PICK}#0", mode="rule"), record(f"{PICK}#1", level="L9")])
    found = [(r.task, r.split, r.level, r.difficulty, r.perturbation, r.mode, r.tally.episodes) for r in rows]
    assert found == [
        ("place", "test", "L0", "default", "", "vanilla", 2),
        ("pick", "test", "L0", "default", "", "vanilla", 1),
        ("pick", "test", "L0", "hard", "", "vanilla", 1),
        ("pick", "test", "L0", "default", "dark+light", "vanilla", 1),
        ("pick", "train", "L0", "default", "", "vanilla", 1),
        ("pick", "test", "L0", "default", "", "rule", 1),
        ("pick", "test", "L9", "default", "", "vanilla", 1),
    ]


def test_an_error_that_knows_no_level_is_counted_with_its_task():
    (row,) = groups([record(f"{PICK}#0", "error", level=""), record(f"{PICK}#1", level="L2")])
    assert (row.level, row.tally.episodes, row.tally.errors) == ("L2", 1, 1)
    assert [s.label for s in by([record(f"{PICK}#0", "error", level=""), record(f"{PICK}#1", level="L2")], "level")] == ["L2"]


def test_a_group_of_errors_alone_claims_nothing():
    (row,) = groups([record(f"{PICK}#0", "error")])
    assert row.to_data()["mean_steps"] is None and row.to_data()["reward_per_step"] is None
    assert row.tally.interval == (0.0, 1.0) and row.tally.rate == 0.0


def test_sums_over_several_tasks_are_less_certain_than_over_as_many_independent_episodes():
    """Two tasks, one always and one never solved: twenty episodes, but really two observations."""
    played = [record(f"{PICK}#{k}", True) for k in range(10)] + [record(f"{PLACE}#{k}", False, level="L1") for k in range(10)]
    (whole,) = by(played)
    low, high = wilson(10, 20)
    assert whole.tasks == 2 and whole.tally.successes == 10
    assert whole.tally.interval[0] < low and whole.tally.interval[1] > high
    assert [(s.label, s.tasks, s.tally.interval) for s in by(played, "level")] == [("L0", 1, wilson(10, 10)), ("L1", 1, wilson(0, 10))]


def test_sums_name_the_nearest_key():
    with pytest.raises(EtudeError, match="did you mean 'level'"):
        by([record(f"{PICK}#0")], "levle")


@given(
    st.lists(
        st.tuples(st.sampled_from([PICK, PLACE]), st.integers(0, 30), st.sampled_from([True, False, "error"])), unique_by=lambda t: t[:2]
    )
)
def test_every_record_is_counted_exactly_once_in_every_grouping(drawn):
    played = [record(f"{task}#{seed}", outcome) for task, seed, outcome in drawn]
    for keys in ((), ("task",), ("suite", "level"), ("mode", "perturbation", "split")):
        tallies = [s.tally for s in by(played, *keys)]
        assert sum(t.episodes + t.errors for t in tallies) == len(played)
        assert sum(t.successes for t in tallies) == sum(r.success for r in played)
        assert all(t.interval[0] <= t.rate <= t.interval[1] for t in tallies if t.episodes)


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.997, ">99 %"), (1.0, "100 %"), (0.99, "99 %"), (0.01, "1 %")]
)
def test_a_rate_is_said_to_be_certain_only_if_it_is(value, words):
    assert percent(value) == words


def test_numbers_are_written_with_their_signs():
    assert [points(v) for v in (0.124, -0.126, 0.001, -0.001)] == ["+12", "−13", "0", "0"]
    assert [p_value(p) for p in (1.0, 0.0432, 0.00012)] == ["1", "0.043", "<0.001"]


# ------------------------------------------------------------------------------------------------ perturbations


def never(_: str) -> bool | None:
    return None


def perturbed(task: str, name: str, control: str, changed: str, **more: str) -> list:
    """Records of a task: outcomes are written as letters, S F E, one for each seed; a dot is an episode that was not played."""
    kinds = {"S": True, "F": False, "E": "error"}
    bare = [record(f"{task}#{k}", kinds[c], **more) for k, c in enumerate(control) if c != "."]
    return bare + [record(f"{task}#{k}+{name}", kinds[c], **more) for k, c in enumerate(changed) if c != "."]


def test_a_cost_is_counted_on_matched_pairs_only():
    played = [*perturbed(PICK, "dark", "SSSSE.", "SFFESS"), record(f"{PICK}#77", False)]
    overall, task = perturbation_costs(played, never)
    assert (overall.task, task.task, overall.perturbation, overall.plausible) == ("", "pick", "dark", None)
    d = overall.difference
    assert (d.pairs, d.rate_b, d.rate_a) == (3, 1.0, pytest.approx(1 / 3))  # seeds 0, 1, 2: not 3 and 4 (errors), not 5 (no control)
    assert (overall.errors, overall.unmatched) == (2, 1)
    assert d.difference == pytest.approx(-2 / 3) and d.interval[0] < d.difference < d.interval[1]
    assert (d.table.only_a, d.table.only_b) == (0, 2) and d.p == 0.5


def test_a_control_must_have_the_same_options_and_mode():
    played = [
        record(f"{PICK}#0", True), record(f"{PICK}#0?robot=ur5", False), record(f"{PICK}#0+dark?robot=ur5", False),
        record(f"{PICK}#1", True), record(f"{PICK}#1+dark", True, mode="rule"),
    ]  # fmt: skip
    overall = perturbation_costs(played, never)[0]
    assert (overall.difference.pairs, overall.unmatched) == (1, 1)
    assert overall.difference.rate_b == 0.0


def test_without_controls_nothing_is_claimed():
    (overall, _) = perturbation_costs([record(f"{PICK}#0+dark", True)], never)
    assert overall.difference.pairs == 0 and not overall.flagged
    assert "not known" in overall.words


def test_an_implausible_perturbation_that_changes_nothing_is_flagged():
    played = perturbed(PICK, "no_words", "S" * 19 + "F", "S" * 18 + "FF")
    overall = perturbation_costs(played, {"no_words": False}.get)[0]
    assert overall.flagged
    assert overall.words.startswith("Still succeeds in 90 % of 20 episodes under no_words (95 % interval 70 % to 97 %; 95 % without)")


def test_of_few_pairs_nothing_is_said_about_what_a_policy_uses():
    overall = perturbation_costs(perturbed(PICK, "no_words", "SSS", "SSS"), {"no_words": False}.get)[0]
    assert not overall.flagged
    assert overall.words == (
        "Success is 100 % under it (95 % interval 44 % to 100 %) and 100 % without, in 3 pairs: at least 20 are needed to say whether it"
        " matters."
    )


@pytest.mark.parametrize(("after", "words"), [("F" * 20, "as it should"), ("S" * 12 + "F" * 8, "a good part survives")])
def test_an_implausible_perturbation_that_costs_is_not_flagged(after, words):
    overall = perturbation_costs(perturbed(PICK, "no_words", "S" * 20, after), {"no_words": False}.get)[0]
    assert not overall.flagged and words in overall.words


def test_a_plausible_perturbation_that_costs_is_flagged_and_one_that_does_not_is_not():
    played = perturbed(PICK, "dark", "S" * 20, "S" * 8 + "F" * 12) + perturbed(PICK, "blue", "", "S" * 19 + "F")
    found = {c.perturbation: c for c in perturbation_costs(played, lambda _: True) if not c.task}
    assert (
        found["dark"].flagged
        and found["dark"].words == "Costs 60 points of success: 100 % without it, 40 % under it, and should not matter."
    )
    assert not found["blue"].flagged and found["blue"].words.startswith("No significant cost: −5 points")


def test_several_perturbations_are_as_plausible_as_the_least_plausible():
    known = {"dark": True, "no_words": False}
    names = ["dark", "dark+no_words", "dark+unheard", "no_words+unheard"]
    played = [record(f"{PICK}#0+{name}") for name in names]
    assert {c.perturbation: c.plausible for c in perturbation_costs(played, known.get)} == dict(
        zip(names, (True, False, None, False), strict=True)
    )


def test_many_looks_are_corrected_for():
    """Six wins to none is p = 0.03 for one look, and nothing among twenty."""
    played = [r for k in range(20) for r in perturbed(f"clevrskills/t{k}@test", "dark", "S" * 6, "F" * 6 if k == 0 else "S" * 6)]
    rows = {c.task: c for c in perturbation_costs(played, lambda _: True)}
    assert rows["t0"].difference.p == pytest.approx(0.03125) and rows["t0"].difference.adjusted == pytest.approx(0.625)
    assert not rows["t0"].flagged
    assert rows[""].difference.adjusted == rows[""].difference.p


# ------------------------------------------------------------------------------------------------ sub-goals, faults, errors


def test_a_funnel_counts_who_ever_reached_a_leaf_and_who_failed_there_first():
    group = Subgoal("goal", "All", "both", False, 0.5, False, None)
    played = [
        record(f"{PICK}#0", True, subgoals=(group, leaf(0, "hold the cube", 5), leaf(10, "lift the cube", 9), leaf(2, "let go", 8))),
        record(f"{PICK}#1", False, subgoals=(group, leaf(0, "hold the bowl", 5), leaf(10, "lift the bowl", None)), first_failure="goal.10"),
        record(
            f"{PICK}#2", False, subgoals=(group, leaf(0, "hold the tray", None), leaf(10, "lift the tray", None)), first_failure="goal.0"
        ),
        record(f"{PICK}#3", "error"),
    ]
    (funnel,) = funnels(played)
    assert (funnel.task, funnel.episodes, funnel.successes) == ("pick", 3, 1)
    assert [(s.path, s.words, s.reached, s.episodes, s.first_failures) for s in funnel.steps] == [
        ("goal.0", "hold the …", 2, 3, 1),
        ("goal.2", "let go", 1, 1, 0),
        ("goal.10", "lift the …", 1, 3, 1),
    ]


def test_a_first_failure_that_is_no_leaf_is_shown_too():
    subgoals = (Subgoal("goal", "Always", "stay clear", False, 0.5, True, None), leaf(0, "hold", 3))
    (funnel,) = funnels([record(f"{PICK}#0", False, subgoals=subgoals, first_failure="goal")])
    assert [(s.path, s.first_failures) for s in funnel.steps] == [("goal", 1), ("goal.0", 0)]


@pytest.mark.parametrize(
    ("texts", "common"),
    [
        (["pick it up"], "pick it up"),
        (["put the red cube on the tray", "put the bowl on the tray"], "put the … on the tray"),
        (["stack a b", "stack c d"], "stack …"),
        (["a", "b c"], "…"),
        (["Put the cup into the red bowl", "Put the cube 2 into bowl 1"], "Put the … into … bowl …"),
        (["go", "go home"], "go …"),
        (["pick up red cube 0 now", "pick up bowl 0 now"], "pick up … now"),
        (["topple cup 0", "topple jug 0"], "topple …"),
        (["", ""], ""),
        (["Pick up the yellow and blue polka dot cube", "Pick up the yellow and red polka dot bowl"], "Pick up the …"),
        (["Put a red cup on it", "Put two red jugs on it"], "Put … on it"),
        (["Put the red cup on the red tray", "Put the jug on the red box"], "Put the … on the red …"),
        (["Put a cup and a jug into it", "Put a box and a bowl into it"], "Put a … into it"),
        (["Push it to (0.50, -0.10) now", "Push it to (0.50, 0.00) now"], "Push it to … now"),
        (["Put red pentagon 1 into plastic frame 2", "Put green letter G 0 into red square 1"], "Put … into …"),
    ],
)
def test_what_descriptions_have_in_common(texts, common):
    assert common_words(texts) == common


def test_in_no_task_of_any_suite_a_look_is_left_without_its_thing():
    for suite in SUITES.values():
        for task in suite.tasks.values():
            played = [find(f"{suite.name}/{task.name}@{task.splits[-1]}#{seed}") for seed in range(2)]
            if isinstance(played[0], Trial):
                continue
            nodes = [{n.path: describe(n.goal, e.scene) for n in GoalNode.of(e.goal, "goal").listed()} for e in played]
            for path in nodes[0].keys() & nodes[1].keys():
                between = common_words([nodes[0][path], nodes[1][path]]).split("…")[1:-1]
                assert all(set(part.split()) - {*LOOKS, "and", "the", "a"} for part in between), (task.name, between)


def stage(right: bool) -> GivenSubtask:
    return GivenSubtask("hold", ("hold",), right, True, 0, 5)


def test_faults_tell_the_planner_from_the_policy():
    more = {"mode": "coupled"}
    played = [
        record(f"{PICK}#0", True, stages=(stage(True), stage(True)), **more),
        record(f"{PICK}#1", False, stages=(stage(False),), fault="planning", **more),
        record(f"{PLACE}#0", False, stages=(stage(True),), fault="execution", **more),
        record(f"{PLACE}#1", False, **more),
        record(f"{PLACE}#2", "error", **more),
        record(f"{PICK}#0", False),
    ]
    whole, pick, place = faults(played)
    assert (whole.task, whole.mode, whole.episodes, whole.successes, whole.planning, whole.execution, whole.other) == (
        "",
        "coupled",
        4,
        1,
        1,
        1,
        1,
    )
    assert whole.accuracy == 0.75 and (pick.accuracy, place.accuracy) == (pytest.approx(2 / 3), 1.0)
    assert (pick.task, pick.planning, place.task, place.execution, place.other) == ("pick", 1, "place", 1, 1)


def test_where_no_planner_took_part_there_are_no_faults():
    assert faults([record(f"{PICK}#0", False)]) == []


def test_errors_are_grouped_by_message_the_most_frequent_first():
    played = [
        record(f"{PICK}#0", "error", error="one"),
        *(record(f"{PICK}#{k}", "error", error="two") for k in range(1, 6)),
        record(f"{PICK}#9"),
    ]
    assert [(e.message, e.count, e.examples) for e in errors(played)] == [
        ("two", 5, (f"{PICK}#1", f"{PICK}#2", f"{PICK}#3")),
        ("one", 1, (f"{PICK}#0",)),
    ]


# ------------------------------------------------------------------------------------------------ two runs


def test_runs_are_compared_on_the_episodes_both_have_played():
    a = [record(f"{PICK}#{k}", o) for k, o in enumerate([True, True, False, "error", True, True])]
    b = [record(f"{PICK}#{k}", o) for k, o in enumerate([True, False, False, True])] + [record(f"{PICK}#4", True, digest="other")]
    found = comparison(run_of(a, policy="one"), run_of(b, policy="two"))
    overall, task = found.rows
    assert (found.name_a, found.name_b, overall.task, task.task) == ("one", "two", "", "pick")
    t = overall.difference.table
    assert (t.both, t.only_a, t.only_b, t.neither) == (1, 1, 0, 1)
    assert (overall.errors, overall.changed, overall.unmatched_a, overall.unmatched_b) == (1, 1, 1, 0)
    assert "one succeeds in 33 percentage points more episodes than two" in overall.verdict
    assert [x.episode for x, _ in paired_records(a, b)] == [f"{PICK}#{k}" for k in range(3)]


def test_the_same_modes_are_paired_and_single_modes_are_paired_whatever_they_are():
    two_modes = [record(f"{PICK}#0", True), record(f"{PICK}#0", False, mode="rule")]
    assert compare("a", two_modes, "b", [record(f"{PICK}#0", True, mode="rule")]).overall.difference.table.only_b == 1
    assert compare("a", two_modes, "b", [record(f"{PICK}#0", True, mode="coupled")]).overall.difference.pairs == 0
    assert compare("a", [record(f"{PICK}#0")], "b", [record(f"{PICK}#0", mode="rule")]).overall.difference.pairs == 1


def test_two_runs_of_one_policy_are_told_apart_by_their_folders():
    found = comparison(run_of([record(f"{PICK}#0")], Path("runs/old")), run_of([record(f"{PICK}#0")], Path("runs/new")))
    assert (found.name_a, found.name_b) == ("policy (old)", "policy (new)")


def test_a_difference_in_one_of_many_tasks_is_said_to_be_possible_chance():
    a = [record(f"clevrskills/t{k}@test#{s}", True) for k in range(20) for s in range(6)]
    b = [record(f"clevrskills/t{k}@test#{s}", k > 0) for k in range(20) for s in range(6)]
    rows = {r.task: r for r in compare("a", a, "b", b).rows}
    assert rows["t0"].verdict.endswith("corrected for that, p = 0.62, and it may be chance.")
    assert "chance" not in rows[""].verdict + rows["t1"].verdict
    assert rows[""].difference.task_interval is not None and rows["t0"].difference.task_interval is None


def test_agreement_is_not_taken_for_certainty():
    same = [record(f"{task}#{k}") for task in (PICK, PLACE) for k in range(5)]
    found = compare("a", same, "b", same).overall.difference
    assert found.difference == 0 and found.task_interval == found.interval and found.interval[0] < 0 < found.interval[1]


def test_runs_without_common_episodes_say_so():
    row = compare("a", [record(f"{PICK}#0")], "b", [record(f"{PLACE}#0")]).overall
    assert (row.difference.pairs, row.unmatched_a, row.unmatched_b) == (0, 1, 1)
    assert "no episodes in common" in row.verdict


def test_higher_returns_of_failures_are_noted_within_a_mode():
    slow, fast = record(f"{PICK}#0", False, reward=90.0), record(f"{PICK}#1", True, reward=40.0)
    assert "clevrskills/pick: failures have a higher return" in odd_returns([slow, fast])
    offline = record(f"{PICK}#0", False, mode="offline", reward=90.0)
    assert odd_returns([offline, fast]) == ""
