"""Conclusions of a paper are held against records by one rule, models are known by what they were trained on, and both reach the page."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from refusing import refused, told
from run_fixtures import record

from etude.evaluation.matrix import READINGS
from etude.learn.header import FORMAT
from etude.learn.named_recipes import recipe_named
from etude.names import EtudeError
from etude.papers.concluding import Effect, compared, conclusions, interval, judged
from etude.papers.filling import filled
from etude.papers.models import index, model_lines, models_of, trained_models
from etude.papers.page import write_pages
from etude.papers.playing import ANY, Played, PolicyLine, tables_of
from etude.suites.paper import checked_tables
from etude.suites.suite import SUITES
from etude.suites.vima.conclusions import CLAIMS
from etude.suites.vima.models import LINES

TASKS = ("rotate", "rearrange", "visual_manipulation", "same_shape", "follow_order")
CLAIM = {claim.name: claim for claim in CLAIMS}
WHO = tuple(LINES.values())


def made(condition: str, rate: float, seeds: int = 20, suffix: str = "", level: str = "L1", steps: int = 1):
    """Records of five tasks, of which a share succeed: the lowest seeds, so that twins under other conditions are the same episodes."""
    return tuple(
        record(f"vima/{task}@{level}#{seed}{suffix}", seed < rate * seeds, level="", steps=steps, least=1)
        for task in TASKS
        for seed in range(seeds)
    )


def lines_of(trained: str = "paraphrases", who=WHO) -> list[PolicyLine]:
    return [PolicyLine(name, {trained: f"{trained}/{name}"}, declared=True) for name in who]


def played(conditions, trained: str = "paraphrases", who=WHO) -> Played:
    return Played({(f"{trained}/{name}", key): records for key, records in conditions.items() for name in who})


def verdict(name: str, found: Played, lines) -> str:
    (one,) = conclusions([CLAIM[name]], lines, found)
    return one.verdict


@pytest.mark.parametrize(
    ("direction", "low", "high", "expected"),
    [
        ("above", 0.1, 3.0, "holds"),
        ("above", -1.0, 4.9, "does not hold"),
        ("above", -20.0, -3.0, "does not hold"),
        ("above", -1.0, 5.1, "cannot be told"),
        ("alike", -4.9, 4.9, "holds"),
        ("alike", 1.0, 4.0, "holds"),
        ("alike", 5.0, 9.0, "does not hold"),
        ("alike", -9.0, -5.0, "does not hold"),
        ("alike", 1.0, 9.0, "cannot be told"),
        ("alike", -6.0, 1.0, "cannot be told"),
    ],
)
def test_the_rule_goes_by_the_whole_interval(direction, low, high, expected):
    assert judged(direction, Effect((low + high) / 2, low, high, 100, True)) == expected
    assert judged(direction, None) == "cannot be told"


def test_a_cost_that_is_there_holds_and_one_that_is_reversed_does_not():
    plain, worse = made("original", 0.8), made("gobbledygook-tokens", 0.3, suffix="+gobbledygook_tokens")
    name = "gobbledygook tokens cost"
    assert verdict(name, played({"original": plain, "gobbledygook-tokens": worse}), lines_of()) == "holds"
    better = made("gobbledygook-tokens", 1.0, suffix="+gobbledygook_tokens")
    assert verdict(name, played({"original": worse_of(plain), "gobbledygook-tokens": better}), lines_of()) == "does not hold"
    assert verdict(name, played({"original": plain}), lines_of()) == "cannot be told"
    (one,) = conclusions([CLAIM[name]], lines_of(), played({"original": plain, "gobbledygook-tokens": worse}, who=WHO[:1]))
    assert one.models == 1 and one.behind == "100 pairs of 1 of 4 models"
    few = [records[:3] for records in (plain, worse)]
    assert verdict(name, played({"original": few[0], "gobbledygook-tokens": few[1]}, who=WHO[:1]), lines_of()) == "cannot be told"


def worse_of(records):
    return tuple(replace(one, outcome="failure") for one in records)


def test_sides_are_paired_by_task_level_and_seed_and_by_model():
    first = {(0, "rotate", "L1", seed): 1.0 for seed in range(10)} | {(0, "rearrange", "L1", seed): 0.0 for seed in range(10)}
    second = {key: 1.0 - value for key, value in first.items() if key[1] == "rotate"}
    found = compared(first, second)
    assert found is not None and found.pairs == 10 and found.paired and found.mean == 100.0 and found.low < 100.0
    apart = compared(first, {(0, "same_texture", "L4", seed): 0.0 for seed in range(10)})
    assert apart is not None and not apart.paired and apart.mean == 50.0 and apart.low < 0.0 < apart.high
    assert compared(first, {(0, "rotate", "L1", 3): 1.0}) is None


def test_equal_scores_leave_room_for_what_was_not_seen():
    """Fifty episodes in which nothing differs do not show that nothing ever does."""
    costs = {(0, "rotate", "L1", seed): 0.0 for seed in range(50)}
    found = compared(dict.fromkeys(costs, 0.5), dict.fromkeys(costs, 0.5))
    assert found is not None and (found.low, found.high) == pytest.approx((-6.0, 6.0))
    low, high = interval({("rotate", "L1", seed): 1.0 for seed in range(50)})
    assert 92.0 < low < 94.0 and high == 100.0
    assert interval({}) is None


def test_a_cost_that_differs_between_architectures_is_compared_on_the_same_episodes():
    name = "patches lose more by affordances"
    default, hard = made("original", 1.0), made("extreme", 0.2, suffix="?difficulty=extreme")
    objects, patches = WHO[::2], WHO[1::2]
    robust = played({"original": default, "extreme": made("extreme", 0.9, suffix="?difficulty=extreme")}, who=objects)
    frail = played({"original": default, "extreme": hard}, who=patches)
    both = Played({**robust.records, **frail.records})
    assert verdict(name, both, lines_of()) == "holds"
    swapped = {(key[0].replace("Obj-Centric", "X").replace("Patches", "Obj-Centric").replace("X", "Patches"), key[1]): value
               for key, value in both.records.items()}  # fmt: skip
    assert verdict(name, Played(swapped), lines_of()) == "does not hold"


def test_levels_are_compared_on_the_tasks_they_share():
    lines = lines_of("original")
    higher = (*made("original", 0.9, level="L2"), *made("original", 0.2, level="L3"))
    found = played({"original": higher}, "original")
    (one,) = conclusions([CLAIM["L3 below L2"]], lines, found)
    assert one.verdict == "holds" and one.effect is not None and one.effect.mean == pytest.approx(70.0)
    assert one.effect.pairs == 4 * len(TASKS) * 20 and str(one).startswith(
        "New objects (L3) are harder than new combinations (L2): holds here (+70"
    )


def test_success_after_mistakes_is_no_success_without_them():
    clumsy = made("original", 0.8, steps=3)
    assert verdict("mistakes are mended", played({"original": clumsy}), lines_of()) == "holds"
    assert verdict("mistakes are mended", played({"original": made("original", 0.8)}), lines_of()) == "does not hold"
    assert verdict("above chance without instructions", played({"masked": clumsy}), lines_of()) == "holds"
    assert verdict("above chance without instructions", played({"masked": worse_of(clumsy)}), lines_of()) == "does not hold"


def test_every_conclusion_asks_for_what_the_tables_play():
    tables = tables_of("vima")
    conditions, words = {one for t in tables for one in t.conditions}, {word for t in tables for word in t.trained}
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS) >= 40
    for claim in CLAIMS:
        for side in filter(None, (claim.first, claim.second, claim.first.less, claim.second.less)):
            assert side.condition in conditions and side.trained in words and set(side.who) <= set(WHO), claim.name
            assert side.scores.keywords["reading"] in READINGS
        assert len(claim.first.who) == len(claim.second.who), claim.name


# ------------------------------------------------------------------------------------------------ models


def checkpoint(folder: Path, name: str, change: str = "", suite: str = "vima") -> None:
    """A checkpoint of a declared model, without weights worth the name; ``change`` is a setting it was not declared with."""
    (model,) = (one for one in models_of(suite) if one.name == name)
    recipe = recipe_named(f"{suite}/{model.recipe}", [*model.settings, *([change] if change else [])])
    metadata = {"format": FORMAT, "recipe": json.dumps(recipe.to_data()), "history": json.dumps({"steps": 100, "episodes": 60_000})}
    header = json.dumps({"__metadata__": metadata, "a": {"dtype": "F16", "shape": [3, 5], "data_offsets": [0, 30]}}).encode()
    (folder / name).mkdir(parents=True)
    (folder / name / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(30))
    (folder / name / "curve.jsonl").write_text("".join(json.dumps({"step": s, "loss": 9.0 - s / 50}) + "\n" for s in (50, 100, 150)))


def test_the_twelve_models_of_the_paper_are_declared_and_every_cell_of_its_tables_has_one():
    models = models_of("vima")
    assert sum(bool(one.paper_id) for one in models) == 12 and len({one.name for one in models}) == len(models)
    there = {(one.who, one.trained) for one in models}
    for one in tables_of("vima"):
        for block in one.blocks:
            lines = set(block.published) & set(WHO) or ({WHO[0]} if block.models_only else set())
            assert {(who, cell.trained) for who in lines for cell in block.cells} <= there, (one.number, block.title)
    for one in models:
        recipe = recipe_named(f"vima/{one.recipe}", one.settings)
        assert ("paraphrase" in recipe.data.source.perturb) == (one.trained in ("paraphrases", "permuted", "spawned", "drawn"))
        if one.trained in ("original", "paraphrases") and recipe.model.look == "objects":
            assert recipe.model.slot_positions and not recipe.data.shuffle  # or else permuted slots could not matter


def test_models_are_found_by_name_and_known_by_what_they_were_trained_on(tmp_path, capsys, monkeypatch):
    checkpoint(tmp_path, "objects-xattn-original")
    checkpoint(tmp_path, "objects-xattn-paraphrases")
    (line,) = model_lines(trained_models("vima", tmp_path), "cpu")
    assert line.name == "Cross-Attn + Obj-Centric" and line.policy("original") == f"learned:{tmp_path}/objects-xattn-original?device=cpu"
    rows = {row["model"]: row for row in index("vima", tmp_path).rows}
    one = rows["objects-xattn-original"]
    assert (
        one["numbers"] == 15
        and len(one["digest"]) == 16
        and [p["loss"] for p in one["curve"]] == [8.0, 6.0]
        and "digest" not in rows["recovery"]
    )
    text = told(capsys, monkeypatch, "paper", "vima", "--models", str(tmp_path))
    assert "8.00 to 6.00" in text and "etude train vima/patches-concat" in text and f"--out {tmp_path}/objects-xattn-original\n" not in text
    checkpoint(tmp_path, "patches-xattn-paraphrases", "data.source.perturb=descriptors")
    with pytest.raises(
        EtudeError, match=r"does not hold patches-xattn-paraphrases: its data\.source\.perturb is 'descriptors', expected 'paraphrase'"
    ):
        trained_models("vima", tmp_path)


def test_agents_that_are_given_a_part_of_the_truth_play_from_the_checkpoint_of_another(tmp_path):
    published = {who for one in tables_of("vlmbench") for block in one.blocks for who in block.published}
    assert {one.who for one in models_of("vlmbench")} == published
    checkpoint(tmp_path, "topdown", suite="vlmbench")
    lines = {line.name: line.policy("") for line in model_lines(trained_models("vlmbench", tmp_path))}
    assert lines["6D-CLIPort"] == f"learned:{tmp_path}/topdown"
    assert lines["6D-CLIPort (GT Pos)"] == f"true:position:learned:{tmp_path}/topdown" and len(lines) == 3
    missing = [note for note in index("vlmbench", tmp_path).notes if note.startswith("etude train")]
    assert len(missing) == 2 and all("model.sees=" in note for note in missing)
    checkpoint(tmp_path, "vision-only", "model.sees=both", suite="vlmbench")
    with pytest.raises(EtudeError, match=r"does not hold vision-only: its model\.sees is 'both', expected 'cloud'"):
        trained_models("vlmbench", tmp_path)


def test_every_conclusion_about_the_agents_is_about_two_of_them_and_what_they_play():
    names = {one.who for one in models_of("vlmbench")}
    conditions = {one for table in tables_of("vlmbench") for one in table.conditions}
    for claim in SUITES["vlmbench"].paper_claims():
        assert {*claim.first.who, *claim.second.who} <= names
        assert {claim.first.condition, claim.second.condition} <= conditions


def test_no_models_and_a_suite_without_any_are_refused(tmp_path, capsys, monkeypatch):
    assert "has none of the paper's models" in refused(capsys, monkeypatch, "paper", "vima", "--models", str(tmp_path), "--out", "x")
    with pytest.raises(EtudeError, match="himan_real declares no models of a paper; clevrskills, vima, vlmbench, himan, iwisdm, etudes do"):
        models_of("himan_real")


def test_models_that_a_paper_does_not_have_stand_in_all_of_its_tables(tmp_path):
    for name in ("decider", "decider-blind"):
        checkpoint(tmp_path, name, suite="iwisdm")
    lines = model_lines(trained_models("iwisdm", tmp_path))
    assert [line.name for line in lines] == ["Learned", "Learned, blind"]
    blocks = [block for table in tables_of("iwisdm") for block in table.blocks]
    assert all(line.plays(block) is not block.people_only for line in lines for block in blocks)


# ------------------------------------------------------------------------------------------------ tables and page


def test_a_line_of_the_paper_stands_only_where_the_paper_has_it_and_studies_are_for_their_models_alone():
    eight = next(one for one in tables_of("vima") if one.number == "Table 8")
    study = next(one for one in tables_of("vima") if one.number == "Study 1")
    patches, plain = PolicyLine("Cross-Attn + Patches", {"paraphrases": "x"}, declared=True), PolicyLine("oracle", {ANY: "oracle"})
    assert not any(map(patches.plays, eight.blocks)) and all(map(plain.plays, eight.blocks))
    assert not any(map(plain.plays, study.blocks)) and not any(map(patches.plays, study.blocks))
    assert all(map(PolicyLine(WHO[0], {"episodes-5000": "x"}, declared=True).plays, study.blocks))
    broken = replace(eight, blocks=(replace(eight.blocks[0], against="nothing"),))
    with pytest.raises(EtudeError, match="there is no block 'nothing' to compare with"):
        checked_tables([broken])


def test_the_page_has_ours_beside_the_papers_with_intervals_differences_and_conclusions(tmp_path):
    three = next(one for one in tables_of("vima") if one.number == "Table 3")
    plain, worse = made("original", 0.8), made("gobbledygook-tokens", 0.3, suffix="+gobbledygook_tokens")
    found, lines = played({"original": plain, "gobbledygook-tokens": worse}), lines_of()
    table = filled(three, lines, found)
    (ours,) = (line for line in table.lines if line.block == "Gobbledygook tokens" and line.who == f"here: {WHO[0]}")
    assert ours.values[0] == 30.0 and ours.intervals[0][0] < 30.0 < ours.intervals[0][1] and ours.intervals[1] is None
    assert ours.differences[0].mean == -50.0 and ours.differences[0].pairs == 100 and ours.differences[0].high < 0.0
    paths = write_pages(
        tmp_path / "page.md", "Results", "etude paper vima", [table], conclusions(CLAIMS, lines, found), index("vima", tmp_path)
    )
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert (
        "30.0 [" in text
        and "(56.7)" in text
        and "−50.0 [" in text
        and "| 4.2 | Random tokens cost every architecture | **holds** |" in text
    )
    assert (
        "| 4.5 | Permuted slots cost who sees objects | **cannot be told** | – | not played |" in text
        and "etude train vima/objects-xattn" in text
    )
    papers, own = text.split("What studies of our own expect")
    assert f"Of {sum(not claim.own for claim in CLAIMS)} conclusions of the paper" in papers and "recovery data" not in papers
    assert "| 2 | A fifth of recovery data helps | **cannot be told** | – | not played |" in own
    assert tmp_path / "page" / "table_3.svg" in paths and "![Table 3](page/table_3.svg)" in text
    assert SUITES["vima"].paper_claims() == CLAIMS
