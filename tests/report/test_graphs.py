"""Pictures of task graphs, and graphs for networkx."""

from __future__ import annotations

import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from etude import cli
from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Negation, Switch
from etude.decisions.looks import Const, Count, Exist, Get, IsSame, Match, Relative, Select
from etude.decisions.networks import from_networkx, nodes_and_edges, to_networkx
from etude.decisions.operator import Operator
from etude.library import trial
from etude.names import EtudeError
from etude.report.graphs import HEIGHT, GraphDrawing, draw_task, draw_tasks, png, svg

RED = Select(1, (Match("category", Get("category", Select(2))),))
SHARED = Select(0)
EVERYTHING = DecisionGraph(
    Switch(
        And(Exist(RED), Negation(Relative("left of", SHARED, RED))),
        IsSame(Get("location", SHARED), Const("location", "top left")),
        IsSame(Count((SHARED, RED)), Const("number", "2")),
    ),
    4,
)
NAMES = [f"iwisdm/{level}@val#{seed}" for level in ("low", "medium", "high", "condition", "three_back") for seed in range(4)]


def drawings() -> list[GraphDrawing]:
    return [draw_task(EVERYTHING), *(draw_tasks(trial(name).tasks) for name in NAMES)]


def test_networkx_gives_every_task_back():
    for task in [EVERYTHING, *(placed.task for name in NAMES for placed in trial(name).tasks)]:
        assert from_networkx(to_networkx(task)) == task


def test_a_shared_look_is_one_node_and_the_root_is_node_0():
    graph = to_networkx(EVERYTHING)
    assert graph.nodes[0]["operator"] == "Switch" and graph.out_degree(0) == 0
    frames = [data["parameters"]["when"] for _, data in graph.nodes(data=True) if data["operator"] == "Select"]
    assert sorted(frames) == [0, 1, 2]
    assert {d["role"] for _, _, d in graph.in_edges(0, data=True)} == {"condition", "then", "otherwise"}
    assert {k: d["kind"] for k, d in graph.nodes(data=True)}[0] == "bool"


def test_a_graph_that_is_no_task_is_refused():
    looped = to_networkx(EVERYTHING)
    looped.add_edge(0, 1, role="left", order=99)
    with pytest.raises(EtudeError, match="without cycles"):
        from_networkx(looped)
    unknown = to_networkx(EVERYTHING)
    unknown.nodes[0]["operator"] = "Wonder"
    with pytest.raises(EtudeError, match="unknown operator 'Wonder'"):
        from_networkx(unknown)
    cut = to_networkx(EVERYTHING)
    cut.remove_edges_from(list(cut.in_edges(0)))
    with pytest.raises(EtudeError, match="one root"):
        from_networkx(cut)


def test_inputs_come_after_what_they_are_inputs_of():
    nodes, edges = nodes_and_edges(EVERYTHING)
    assert len(set(nodes)) == len(nodes)
    assert all(edge.target < edge.source for edge in edges)


def test_boxes_lie_inside_and_never_touch():
    for drawing in drawings():
        for box in drawing.boxes:
            assert box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= drawing.width
            assert box.y - HEIGHT / 2 >= 0 and box.y + HEIGHT / 2 <= drawing.height
        for a, b in combinations(drawing.boxes, 2):
            assert abs(a.y - b.y) >= HEIGHT or abs(a.x - b.x) >= (a.width + b.width) / 2


def test_lines_run_down_and_through_no_box():
    for drawing in drawings():
        for line in drawing.lines:
            ys = [y for _, y in line.points]
            assert ys == sorted(ys)
            for x, y in line.points[1:-1]:
                assert all(abs(y - b.y) > HEIGHT / 2 or abs(x - b.x) > b.width / 2 for b in drawing.boxes)


def test_the_branches_of_a_switch_are_told():
    words = [line.words for line in draw_task(EVERYTHING).lines]
    assert {"if", "then", "else", "category is", "first", "second"} <= set(words)


def test_frames_are_counted_as_in_the_instruction():
    assert {b.words for b in draw_task(EVERYTHING).boxes if "frame" in b.words} == {"Select frame 2", "Select frame 3", "Select frame 4"}


def test_the_svg_is_well_formed_and_names_every_operator():
    drawing = draw_task(EVERYTHING)
    root = ElementTree.fromstring(svg(drawing))
    texts = {"".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {box.words for box in drawing.boxes} <= texts


def test_the_picture_shows_boxes_in_their_colours():
    drawing = draw_task(EVERYTHING)
    picture = png(drawing, scale=1)
    assert picture.shape == (round(drawing.height), round(drawing.width), 3)
    for box in drawing.boxes:
        seen = picture[round(box.y), round(box.x - box.width / 2) + 4]
        assert np.abs(seen.astype(int) - [int(box.colour[k : k + 2], 16) for k in (1, 3, 5)]).max() < 12


def test_equal_tasks_give_equal_drawings():
    task = trial(NAMES[0]).tasks[0].task
    assert svg(draw_task(DecisionGraph.from_json(task.to_json()))) == svg(draw_task(task))


def test_a_single_look_can_be_drawn():
    root: Operator = Exist(Select(0))
    assert len(draw_task(DecisionGraph(root, 1)).boxes) == 2


# ------------------------------------------------------------------------------------------------ etude show


@pytest.mark.parametrize(
    ("arguments", "suffix"), [(["--graph"], ".svg"), (["--graph"], ".png"), (["--graph"], ".html"), ([], ".html"), ([], ".png")]
)
def test_show_writes_a_decision(tmp_path, arguments, suffix):
    out = tmp_path / f"x{suffix}"
    done = CliRunner().invoke(cli.app, ["show", "iwisdm/high@val#3", "--out", str(out), *arguments])
    assert done.exit_code == 0, done.output
    if suffix == ".png":
        assert min(Image.open(out).size) > 200
    else:
        text = out.read_text()
        assert ("<svg" in text) is bool(arguments)
        assert text.count("<img") == (0 if arguments else 9)


def test_show_writes_an_episode_with_the_pictures_of_its_instruction(tmp_path):
    out = tmp_path / "episode.html"
    done = CliRunner().invoke(cli.app, ["show", "vima/visual_manipulation@train#0", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "Pictures of the instruction" in out.read_text() and ">top<" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tower", "--graph"], "--graph shows a decision by its name"),
        (["clevrskills/pick@train#0", "--graph"], "has no graph of operators"),
        (["iwisdm/hihg@val#0"], "did you mean 'high'"),
        (["iwisdm/high@val#0", "--out", "x.svg"], "must end in .png or .html"),
        (["iwisdm/high@val#0", "--size", "64x32"], "squares"),
    ],
)
def test_show_refuses_in_one_line(tmp_path, arguments, message):
    done = CliRunner().invoke(cli.app, ["show", "--out", str(tmp_path / "x.html"), *arguments])
    assert isinstance(done.exception, EtudeError) and message in str(done.exception)


def test_networkx_is_asked_for_only_where_it_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert draw_task(EVERYTHING).boxes
    with pytest.raises(EtudeError, match=r"need networkx, which is not installed: pip install 'etude\[graphs\]'"):
        to_networkx(EVERYTHING)
