"""A paper whose models are policies and planners: trained into folders of their names, they play every mode, each under its own planner."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")
pytest.importorskip("safetensors", reason="safetensors is not installed (extra 'learn')")

from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.train import Trainer  # noqa: E402
from etude.names import EtudeError  # noqa: E402
from etude.papers.filling import filled  # noqa: E402
from etude.papers.models import index, model_lines, models_of, trained_models  # noqa: E402
from etude.papers.playing import play  # noqa: E402
from etude.policies.loading import load_planner, load_policy  # noqa: E402
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable  # noqa: E402

SMALL = ("model.width=16", "model.heads=2", "model.layers=1", "data.source.size=32")
OWN = {"heatmaps": ("model.size=32",), "planner": ("model.grid=4",)}


def test_models_in_their_folders_play_each_mode_under_the_planner_of_their_own_level(tmp_path):
    for one in models_of("himan"):
        if one.name in ("heatmaps-L1", "planner-L1"):
            Trainer(recipe_named(f"himan/{one.recipe}", [*one.settings, *SMALL, *OWN[one.recipe]])).save(tmp_path / "models" / one.name)
    (tmp_path / "one.txt").write_text("himan/close_drawer@test#0\n")
    published = {"coupled": "RVT2-VLM", "offline": "Qwen2.5VL-7B"}
    conditions = {mode: PaperCondition(mode, str(tmp_path / "one.txt"), mode=mode) for mode in published}
    blocks = tuple(
        PaperBlock(mode, (PaperRow((PaperCell((conditions[mode],), lambda records: float(len(records)), "L1"),)),), {who: [[0.5]]})
        for mode, who in published.items()
    )
    tables = [PaperTable("Table 2", "Both", ("episodes",), blocks)]
    policy, planner = model_lines(trained_models("himan", tmp_path / "models"), "cpu")
    where = f"learned:{tmp_path}/models"
    assert policy.address("L1", "coupled") == f"{where}/heatmaps-L1?device=cpu with {where}/planner-L1"
    assert planner.address("L1", "offline") == f"{where}/planner-L1" and policy.address("L2", "coupled") is None
    speaking = {"L1": load_planner(str(planner.planners["L1"]))}
    live = [
        replace(policy, policies={"L1": load_policy(str(policy.policies["L1"]))}, planners=speaking),
        replace(planner, planners=speaking),
    ]
    found = filled(tables[0], live, play(tables, live, tmp_path / "out"))
    assert {line.who: line.values for line in found.lines} == {
        "RVT2-VLM": (0.5,), "here: RVT2-VLM": (1.0,), "Qwen2.5VL-7B": (0.5,), "here: Qwen2.5VL-7B": (1.0,),
    }  # fmt: skip
    assert "digest" in next(row for row in index("himan", tmp_path / "models").rows if row["model"] == "planner-L1")


def test_a_folder_that_holds_another_level_or_another_kind_is_refused(tmp_path):
    small = [*SMALL, *OWN["planner"]]
    Trainer(recipe_named("himan/planner", ["data.source.plan=L2", *small])).save(tmp_path / "planner-L1")
    with pytest.raises(EtudeError, match=r"does not hold planner-L1: its data\.source\.plan is 'L2', expected 'L1'"):
        trained_models("himan", tmp_path)
    Trainer(recipe_named("himan/planner", ["data.source.plan=L1", *small])).save(tmp_path / "heatmaps-L1")
    with pytest.raises(EtudeError, match="does not hold heatmaps-L1: its kind is 'planning', expected 'keyposes'"):
        trained_models("himan", tmp_path)
