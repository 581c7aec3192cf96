"""RoboHiMan's protocol: a fixed fifth of its lists, policies and planners by level of training data, shards, and Q1 to Q5 answered."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from refusing import refused
from run_fixtures import record

from etude.evaluation.record import GivenSubtask
from etude.evaluation.store import read_run
from etude.learn.named_recipes import recipe_named
from etude.names import EpisodeName, EtudeError
from etude.papers.concluding import conclusions
from etude.papers.filling import filled
from etude.papers.models import models_of
from etude.papers.page import write_pages
from etude.papers.playing import ANY, Played, PolicyLine, in_part, planners_given, play, tables_of
from etude.policies.loading import address_of
from etude.policies.planners import OraclePlanner
from etude.policies.scripted import NoopPolicy, OraclePolicy
from etude.suites.himan.conclusions import BEST, CLAIMS
from etude.suites.himan.models import PLANNER
from etude.suites.himan.recipes import ATOMIC, COMPOSITIONAL, EVERY, LEVELS, SEEN, evaluation, factors
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable
from etude.suites.suite import SUITES

RVT2 = PolicyLine(BEST[0], {level: f"policy-{level}" for level in LEVELS}, True, ("RVT2-Vanilla", "RVT2-VLM", "RVT2"),
                  {level: f"planner-{level}" for level in LEVELS})  # fmt: skip
SPEAKER = PolicyLine(PLANNER, {}, True, planners=RVT2.planners)


def table(number: str) -> PaperTable:
    return next(one for one in tables_of("himan") if one.number == number)


# ------------------------------------------------------------------------------------------------ a fixed fifth


@pytest.mark.parametrize(("plan", "tasks", "count"), [("atomic", ATOMIC, 144), ("compositional", COMPOSITIONAL, 180)])
def test_the_fifth_of_a_list_has_every_factor_of_every_task_once_with_its_control(plan, tasks, count):
    part, whole = SUITES["himan"].plans[f"{plan}-fifth"](), SUITES["himan"].plans[plan]()
    assert len(part) == count == len(whole) / 5 and {*part} <= {*whole} == {*evaluation(tasks)}
    names = [EpisodeName.parse(name) for name in part]
    cells = Counter((name.task, *name.perturbations) for name in names)
    assert cells == {(t, *f): 1 if f else 3 for t in tasks for f in ((), (EVERY,), *((factor,) for factor in factors(t)))}
    controls = {(name.task, name.seed) for name in names if not name.perturbations}
    alone = [name for name in names if name.perturbations and (name.task, name.seed) not in controls]
    assert {name.task for name in alone} <= {"take_two_out_of_same", "transfer_box"}  # whose seeds were replaced


def test_those_who_do_not_play_whole_lists_play_their_part_and_one_may_play_them_whole_in_a_mode(tmp_path, capsys, monkeypatch):
    lines = in_part([RVT2, SPEAKER], [table("Table 2")], [f"{RVT2.name}:rule"])
    assert [line.whole for line in lines] == [("rule",), ()] and in_part([RVT2], [table("Table 2")], [RVT2.name])[0].whole is None
    with pytest.raises(EtudeError, match=r"unknown line of --whole 'RVT2-R:rule'; did you mean 'RVT2-RP'"):
        in_part([RVT2], [table("Table 2")], ["RVT2-R:rule"])
    typed = ["--policy", "oracle", "--out", str(tmp_path / "x")]
    assert "have no fixed part" in refused(capsys, monkeypatch, "paper", "iwisdm", *typed, "--part")
    assert "give --part too" in refused(capsys, monkeypatch, "paper", "himan", *typed, "--whole", "oracle")


# ------------------------------------------------------------------------------------------------ who plays what


def test_a_planner_plans_for_policies_of_its_own_training_and_is_asked_offline_once_for_all_of_them():
    assert RVT2.address("L2", "rule") == RVT2.address("L2", "vanilla") == "policy-L2"
    assert RVT2.address("L2", "coupled") == "policy-L2 with planner-L2"
    assert RVT2.address("L2", "offline") == SPEAKER.address("L2", "offline") == "planner-L2"
    assert SPEAKER.address("L2", "rule") is None and RVT2.address("50 demonstrations", "rule") is None
    assert [line.players("L2", "offline").folder for line in (RVT2, SPEAKER)] == [Path("oracle/offline/planner-L2")] * 2


def test_a_policy_stands_under_the_name_that_the_paper_has_for_it_in_each_block():
    blocks = {block.title: block for block in (*table("Table 2").blocks, *table("Table 6").blocks)}
    names = {title: [line.name_in(block) for line in (RVT2, SPEAKER) if line.plays(block)] for title, block in blocks.items()}
    assert names == {
        "Offline": [PLANNER], "Online, rule-based planner": ["RVT2-RP"], "Online, planner that sees": ["RVT2-VLM"],
        "Performance drop": ["RVT2"], "Rule-based planner": ["RVT2-RP"], "Vanilla": ["RVT2-Vanilla"],
    }  # fmt: skip
    assert not any(SPEAKER.plays(block) for block in table("Study 1").blocks)
    assert not any(PolicyLine("oracle", {ANY: "oracle"}).plays(block) for block in table("Study 2").blocks)


def test_planners_are_given_one_for_all_or_one_for_each_level():
    tables = tables_of("himan")
    assert planners_given(["rule"], tables) == {ANY: "rule"} and planners_given([], tables) == {}
    assert planners_given(["L1=a", "L4=chat:m@http://h/v1?size=64"], tables) == {"L1": "a", "L4": "chat:m@http://h/v1?size=64"}
    for texts in (["rule", "oracle"], ["L1=a", "rule"]):
        with pytest.raises(EtudeError, match="--planner is given more than once"):
            planners_given(texts, tables)
    with pytest.raises(EtudeError, match=r"--planner L1=… is given twice"):
        planners_given(["L1=a", "L1=b"], tables)


def test_every_cell_of_the_papers_own_tables_has_a_model_and_each_model_learns_from_its_level():
    models = models_of("himan")
    assert len({one.name for one in models}) == len(models)
    there = {(one.who, one.trained) for one in models}
    for number in ("Table 2", "Table 6", "Table 8", "Figure 4", "Figure 5", "Figure 6", "Study 1", "Study 2", "Study 3"):
        words = {cell.trained for cell in table(number).cells}
        assert {(BEST[0], word) for word in words} <= there and number.startswith("Study") | ({(PLANNER, w) for w in words} <= there)
    assert all(f"data.source.plan={one.trained[:2] if one.trained[:2] in LEVELS else 'L4'}" in one.settings for one in models)
    made = {one.name: recipe_named(f"himan/{one.recipe}", one.settings) for one in models if one.name in ("planner-L4", "heatmaps-50")}
    assert made["planner-L4"].plans and not made["heatmaps-50"].plans and made["heatmaps-50"].data.most == 50


# ------------------------------------------------------------------------------------------------ played


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A table of two drawers in some modes; one of them is the part."""
    folder = tmp_path_factory.mktemp("lists")
    for name, seeds in (("whole", (0, 1)), ("part", (1,))):
        (folder / f"{name}.txt").write_text("".join(f"himan/open_drawer@test#{seed}\n" for seed in seeds))

    def made(*modes: str) -> PaperTable:
        conditions = [PaperCondition(mode, f"{folder}/whole.txt", mode=mode, part=f"{folder}/part.txt") for mode in modes]
        row = PaperRow(tuple(PaperCell((one,), lambda records: float(len(records)), "L1") for one in conditions))
        return PaperTable("Table 1", "Drawers", modes, (PaperBlock("Episodes", (row,)),), shares=True)

    return made


def test_modes_with_a_planner_are_played_beside_the_others_and_a_part_grows_into_the_whole(tiny, tmp_path):
    modes = ("vanilla", "coupled", "offline")
    line = PolicyLine("mine", {"L1": OraclePolicy()}, planners={"L1": OraclePlanner()})
    policy, planner = address_of(line.policies["L1"]), address_of(line.planners["L1"])
    part = play([tiny(*modes)], in_part([line], [tiny(*modes)], []), tmp_path)
    assert {key: [r.episode for r in records] for key, records in part.records.items()} == {
        (policy, "vanilla"): ["himan/open_drawer@test#1"],
        (f"{policy} with {planner}", "coupled"): ["himan/open_drawer@test#1"],
        (planner, "offline"): ["himan/open_drawer@test#1"],
    }
    folders = [str(folder.relative_to(tmp_path)) for folder in part.folders.values()]
    assert [folder.split("/")[-2:] for folder in folders[1:]] == [[mode, folders[1].split("/")[-1]] for mode in modes[1:]]
    assert folders[0].split("/")[-1] == "vanilla" and folders[2].startswith("oracle/")
    found = filled(tiny(*modes), [line], part)
    assert found.lines[0].values == (1.0, 1.0, 1.0) and found.lines[0].episodes == 3
    more = in_part([line], [tiny(*modes)], ["mine:vanilla"])
    grown = play([tiny(*modes)], more, tmp_path)
    assert filled(tiny(*modes), more, grown).lines[0].values == (2.0, 1.0, 1.0)
    assert part.records[policy, "vanilla"][0] in read_run(part.folders[policy, "vanilla"]).records  # it was not played again


def test_shards_that_come_later_are_joined_to_what_is_there(tiny, tmp_path):
    lines, whole = [PolicyLine("noop", {ANY: NoopPolicy()})], [tiny("vanilla")]
    who = address_of(lines[0].policies[ANY])
    part = in_part(lines, whole, [])
    play(whole, part, tmp_path, shard="0/1")
    play(whole, part, tmp_path)
    (folder,) = (path.parent for path in tmp_path.glob("*/vanilla/plan.json"))
    assert [r.episode[-2:] for r in read_run(folder).records] == ["#1"]
    for k in range(2):
        play(whole, lines, tmp_path, shard=f"{k}/2")
    shards = {path.name for path in folder.glob("shard-*")}
    joined = play(whole, lines, tmp_path, told=lambda text: None).records[who, "vanilla"]
    assert shards == {"shard-part", "shard-0-of-2", "shard-1-of-2"} and [r.episode[-2:] for r in joined] == ["#0", "#1"]
    lines_of_run = (folder / "episodes.jsonl").read_bytes()
    assert play(whole, lines, tmp_path).records[who, "vanilla"] == joined and (folder / "episodes.jsonl").read_bytes() == lines_of_run


# ------------------------------------------------------------------------------------------------ Q1 to Q5


def made(tasks, mode: str, rate: float, level: str):
    """Records of a list, of which every task's share is done, the same under all factors."""
    found, seen = [], Counter()
    for name in evaluation(tasks):
        cell = EpisodeName.parse(name)
        key = cell.task, cell.perturbations
        count = 15 if not cell.perturbations else 5
        done = seen[key] < round(rate * count)
        seen[key] += 1
        stages = (GivenSubtask("x", ("x",), done, True, 0, 1),) if mode == "offline" else ()
        found.append(record(name, done, mode=mode, level=level, stages=stages))
    return tuple(found)


@pytest.fixture(scope="module")
def as_in_the_paper() -> Played:
    """A policy that does about what the paper's does."""
    rates = {
        ("atomic", "rule"): (0.6, 0.8, 0.8, 0.8), ("compositional", "rule"): (0.2, 0.2, 0.4, 0.4), ("atomic", "vanilla"): (0.0,) * 4,
        ("compositional", "vanilla"): (0.0,) * 4, ("atomic", "coupled"): (0.4,) * 4, ("compositional", "coupled"): (0.0,) * 4,
        ("atomic", "offline"): (0.6,) * 4, ("compositional", "offline"): (0.2, 0.2, 0.2, 0.4),
    }  # fmt: skip
    found = Played()
    for (what, mode), by_level in rates.items():
        tasks, level = (ATOMIC, "A") if what == "atomic" else (COMPOSITIONAL, "C")
        for trained, rate in zip(LEVELS, by_level, strict=True):
            found.records[str(RVT2.address(trained, mode)), f"{what}-{mode}"] = made(tasks, mode, rate, level)
    return found


def test_every_answer_asks_for_what_the_tables_play():
    tables = tables_of("himan")
    conditions, words = {one for t in tables for one in t.conditions}, {word for t in tables for word in t.trained}
    names = {who for t in tables for block in t.blocks for who in block.published}
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS) and {claim.section[:2] for claim in CLAIMS} == {
        f"Q{k}" for k in range(1, 6)
    }
    for claim in CLAIMS:
        for side in filter(None, (claim.first, claim.second, claim.first.less, claim.second.less)):
            assert side.condition in conditions and side.trained in words and {*side.who} <= names, claim.name
        assert len(claim.first.who) == len(claim.second.who), claim.name


def test_questions_are_answered_by_the_records(as_in_the_paper):
    found = {one.claim.name: one for one in conclusions(CLAIMS, [RVT2, SPEAKER], as_in_the_paper)}
    verdicts = {name: one.verdict for name, one in found.items()}
    for name in (
        "never composed alone", "planning composes", "planning on atomic tasks", "data alone does not compose",
        "perturbed skills help skills", "compositions do not help skills", "compositions help compositions", "planner errs on compositions",
        "compositions help the planner", "seeing costs atomic tasks", "seeing costs compositions", "hardly coupled",
    ):  # fmt: skip
        assert verdicts[name] == "holds", str(found[name])
    assert verdicts["perturbed skills help compositions"] == "does not hold"  # here they bring nothing
    assert verdicts["clouds over pictures"] == "cannot be told" and found["clouds over pictures"].behind == "not played"
    assert "of 1 of 4 models" in found["planning composes"].behind


def test_seen_and_unseen_compositions_are_told_apart(as_in_the_paper):
    records = tuple(
        record(r.episode, EpisodeName.parse(r.episode).task in SEEN, mode="rule", level="C")
        for r in as_in_the_paper.records["policy-L4", "compositional-rule"]
    )
    changed = Played({**as_in_the_paper.records, ("policy-L4", "compositional-rule"): records})
    (one,) = conclusions([claim for claim in CLAIMS if claim.name == "unseen as seen"], [RVT2], changed)
    assert one.verdict == "does not hold" and one.effect is not None and one.effect.mean == pytest.approx(100.0) and not one.effect.paired
    (line,) = (line for line in filled(table("Figure 6"), [RVT2], changed).lines if line.who == "here: RVT2-RP")
    assert line.values == (0.0, 1.0)


def test_the_page_has_shares_with_intervals_beside_the_papers_and_the_answers(as_in_the_paper, tmp_path):
    tables = [filled(table(number), [RVT2, SPEAKER], as_in_the_paper) for number in ("Table 2", "Table 6", "Study 1")]
    answers = conclusions(CLAIMS, [RVT2, SPEAKER], as_in_the_paper)
    write_pages(tmp_path / "page.md", "Results", "etude paper himan", tables, answers, None)
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert re.search(r"0\.600 \[0\.[56]\d, 0\.6\d\] \(0\.590\)", text)
    assert "| RVT2-VLM | 0.400 [" in text and "| Qwen2.5VL-7B | 0.600 [" in text and "| RVT2 | 0.200" in text
    assert "| Q1, 4.2 | Without a planner, no composition is done | **holds** |" in text
