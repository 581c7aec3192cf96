"""The evaluation page as text: what it says, what it leaves out, and that nothing in it comes from elsewhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from run_fixtures import drawn, record, run_of

from etude.evaluation.record import GivenSubtask, Subgoal
from etude.evaluation.subgoals import failure_words
from etude.evaluation.view import view_file, write_view
from etude.names import EtudeError
from etude.report.confusion import SHOWN
from etude.report.contestants import contestants
from etude.report.evaluation import report, write_report
from etude.report.failures import failures_section, spread

TASKS = {"pick": "L0", "rotate": "L0", "stack": "L1", "sort": "L2"}
RATES = {"L0": 0.95, "L1": 0.6, "L2": 0.3}
PICK = "clevrskills/pick@test"
VOID = {"meta", "link", "br", "img", "input", "wbr"}


class Reader(HTMLParser):
    """Checks that tags nest, and collects ids, links, text and the tags there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))  # a space that keeps lines together is a space


def page(*runs, **more) -> Reader:
    return Reader(report(runs, **more))


def several():
    perturbations = {"dark": 0.5, "no_words": 1.0}
    return (
        drawn(TASKS, "one", RATES, 12, perturbations, folder=Path("one")),
        drawn(TASKS, "two", {"L0": 0.5, "L1": 0.2, "L2": 0.1}, 12, error_rate=0.1, folder=Path("two")),
        drawn(TASKS, "two", RATES, 12, mode="coupled", planner="vlm", folder=Path("three")),
    )


def test_the_page_is_well_formed_and_every_way_leads_somewhere():
    found = page(*several())
    ids = [a["id"] for _, a in found.tags if "id" in a]
    assert len(ids) == len(set(ids))
    for link in found.all("a"):
        assert link["href"].removeprefix("#") in ids
    for table in found.all("form"):
        assert table["data-for"] in ids
    sections = [s["id"] for s in found.all("section")]
    assert sections == [
        "headline",
        "understanding",
        "summary",
        "tasks",
        "levels",
        "perturbations",
        "subgoals",
        "planner",
        "confusion",
        "comparison",
        "failures",
        "errors",
        "reproduce",
    ]


def test_nothing_is_loaded_from_elsewhere():
    text = report(several())
    assert "http" not in text.replace("http-equiv", "")
    assert not re.search(r"@import|url\(", text)
    assert all(
        v.startswith("data:") for tag in ("img", "video", "link") for a in Reader(text).all(tag) if (v := a.get("src") or a.get("href"))
    )
    assert "default-src 'none'" in text


def test_the_same_runs_give_the_same_bytes():
    assert report(several()) == report(several())


def test_the_headline_says_success_with_interval_episodes_errors_machine_and_renderer():
    played = [record(f"{PICK}#{k}", k < 9) for k in range(10)] + [record(f"{PICK}#10", "error")]
    words = page(run_of(played, policy="mine")).text
    for part in (
        "mine on clevrskills",
        "90 %",
        "95 % interval 60–98",
        "9 of 10 episodes, 1 task",
        "1 error",
        "16 cores",
        "raster-1-4f1d22aa",
    ):
        assert part in words


def test_success_is_stated_on_unperturbed_episodes_and_of_perturbed_ones_only_where_there_are_no_others():
    bare, dark = [record(f"{PICK}#{k}", True) for k in range(4)], [record(f"{PICK}#{k}+dark", False) for k in range(4)]
    assert "4 of 4 episodes" in page(run_of([*bare, *dark])).text
    assert "0 of 4 perturbed episodes" in page(run_of(dark)).text


def test_empty_sections_are_left_out():
    found = page(run_of([record(f"{PICK}#0")]))
    assert [s["id"] for s in found.all("section")] == ["headline", "tasks", "reproduce"]
    assert found.all("button") and not [b for b in found.all("button") if b.get("class") == "chip"]


def test_nothing_played_is_nothing_to_report():
    with pytest.raises(EtudeError, match="nothing to report"):
        report([replace(run_of([record(f"{PICK}#0")]), records=())])


def test_what_a_user_can_name_is_never_taken_for_markup():
    nasty = '<script>alert("x")</script>&amp;'
    subgoals = (Subgoal("goal", "Held", nasty, False, 0.1, False, None),)
    played = [record(f"{PICK}#0", False, subgoals=subgoals, first_failure="goal"), record(f"{PICK}#1", "error", error=nasty)]
    found = page(run_of(played, Path(nasty.replace("/", "")), policy=nasty, renderer=nasty, command=[nasty]), run_of(played, policy="b"))
    assert len(found.all("script")) == 1
    assert found.text.count(nasty) >= 6


def test_perturbations_are_told_apart_by_words_and_the_wrong_way_round_is_said():
    bare = [record(f"{PICK}#{k}", True) for k in range(20)]
    dark, silent = [record(f"{PICK}#{k}+dark", k < 5) for k in range(20)], [record(f"{PICK}#{k}+no_words", True) for k in range(20)]
    found = page(run_of([*bare, *dark, *silent]))
    for part in (
        "Plausible: success should stay", "Implausible: success should vanish", "Costs 75 points of success",
        "Still succeeds in 100 % of 20 episodes", "Loses points to", "dark −75", "Succeeds despite", "no_words 100 %",
    ):  # fmt: skip
        assert part in found.text
    kinds = {a["class"] for a in found.all("rect") if "cost" in (a.get("class") or "")}
    assert kinds == {"cost plausible", "cost implausible"}


def test_a_verdict_stands_in_words():
    good, bad = ([record(f"{PICK}#{k}", outcome) for k in range(20)] for outcome in (True, False))
    words = page(run_of(good, policy="good"), run_of(bad, policy="bad")).text
    assert words.count("good succeeds in 100 percentage points more episodes than bad") == 2  # in short, and where they are compared
    assert "significant, in favour of good" in words and "both succeed 0 · only good 20 · only bad 0 · neither 0" in words


def test_policies_have_marks_of_their_own():
    found = page(*several())
    chips = [b for b in found.all("button") if b.get("class") == "chip"]
    assert len(chips) == 3 and all(b["aria-pressed"] == "true" for b in chips)
    shapes = {p["d"] for p in found.all("path") if "mark" in (p.get("class") or "")}
    assert len(shapes) == 3


def test_runs_that_cannot_be_compared_are_said_to_be_so():
    played = [record(f"{PICK}#0")]
    words = page(run_of(played, Path("a"), "a"), run_of(played, Path("b"), "b", renderer="gl-1-77")).text
    assert "pixels were made by different renderers (raster-1-4f1d22aa and gl-1-77)" in words
    part = replace(run_of([record(f"{PICK}#{k}") for k in range(5)]), records=(record(f"{PICK}#0"),))
    assert "policy: 4 of 5 planned episodes are not played yet" in page(part).text


def test_policies_of_one_name_are_told_apart():
    played = [record(f"{PICK}#0")]
    runs = [
        run_of(played, Path("x/r"), "a"),
        run_of(played, Path("y/r"), "a"),
        run_of(played, Path("z"), "a"),
        run_of(played, Path("q"), "b"),
    ]
    assert [a.label for a in contestants(runs)] == ["a (r) 1", "a (r) 2", "a (z)", "b"]


def test_modes_of_one_run_stand_side_by_side():
    modes = ("vanilla", "rule", "planner", "coupled", "offline")
    run = run_of([record(f"{PICK}#0", mode=m) for m in modes], policy="p", planner="v")
    assert [a.label for a in contestants([run])] == ["p", "p + rule planner", "v + oracle skills", "p + v", "v, offline"]


@pytest.mark.parametrize(
    ("violated", "reached", "words"),
    [(True, None, "hold it: violated"), (False, None, "hold it: not reached"), (False, 31, "hold it: reached at step 31, then lost")],
)
def test_a_failure_is_told_in_words(violated, reached, words):
    subgoals = (Subgoal("goal", "Held", "hold it", False, 0.1, violated, reached),)
    assert failure_words(record(f"{PICK}#0", False, subgoals=subgoals, first_failure="goal")) == words


def test_what_was_taken_for_what_stands_in_small_tables():
    stages = [(GivenSubtask("say" * (k + 1), ("hold",), False, True, 0, 5),) * (k + 1) for k in range(SHOWN + 2)]
    played = [record(f"{PICK}#{k}", True, mode="coupled", stages=said) for k, said in enumerate(stages)]
    found = page(run_of(played, planner="v"), run_of([record(f"{PICK}#0", False, cause="put elsewhere")], folder=Path("alone")))
    captions = [caption for caption in ("said instead of what was right", "done instead of what was asked") if caption in found.text]
    assert len(captions) == 2 and "put elsewhere" in found.text
    assert "say" * (SHOWN + 2) in found.text and "2 rows more in the exported tables" in found.text


@pytest.mark.parametrize(
    ("names", "said", "unsaid"),
    [
        ([PICK], "Walk around in any of them", "etude show"),
        (["iwisdm/low@val"], "Look at any of them with etude show", "Walk around"),
        (
            ["iwisdm/low@val", PICK],
            "Look at any decision among them with etude show and its name. Walk around in any of the others",
            "any of them",
        ),
    ],
)
def test_failures_are_looked_at_by_commands_that_can_show_them(names, said, unsaid):
    lead = failures_section(contestants([run_of([record(f"{name}#0", "error") for name in names])]), [], 0, Path()).partition("<form")[0]
    assert said in lead and unsaid not in lead


def test_a_choice_is_spread_over_kinds_and_keeps_its_order():
    assert spread(["a1", "a2", "a3", "b1", "c1", "c2"], lambda item: item[0], 4) == ["a1", "a2", "b1", "c1"]


def test_few_films_are_embedded_and_the_rest_linked(tmp_path):
    folder = tmp_path / "runs" / "mine"
    played = []
    for k in range(4):
        film = folder / "films" / f"pick#{k} +dark.webp"
        film.parent.mkdir(parents=True, exist_ok=True)
        film.write_bytes(b"RIFF" + bytes([k]) * 8)
        played.append(record(f"{PICK}#{k}", k == 3, film=f"films/{film.name}"))
    played += [record(f"{PICK}#8", False, film="films/lost.webp"), record(f"{PICK}#9", False, film="../../secret.webp")]
    (tmp_path / "secret.webp").write_bytes(b"RIFF")  # outside the run: neither embedded nor linked
    out = tmp_path / "pages" / "report.html"
    write_report([run_of(played, folder)], out, embed_films=2)
    found = Reader(out.read_text(encoding="utf-8"))
    assert len(found.all("img")) == 2 and all(i["src"].startswith("data:image/webp;base64,") for i in found.all("img"))
    links = [unquote(a["href"]) for a in found.all("a") if not a["href"].startswith("#")]
    assert links == [f"../runs/mine/films/pick#{k} +dark.webp" for k in range(3)]  # of failures, in the list
    assert all((out.parent / link).is_file() for link in links)


def test_a_film_that_would_make_the_page_too_heavy_is_linked_only(tmp_path, monkeypatch):
    monkeypatch.setattr("etude.report.failures.LARGEST", 100)
    (tmp_path / "small.mp4").write_bytes(b"x" * 100)
    (tmp_path / "large.mp4").write_bytes(b"x" * 101)
    found = page(
        run_of([record(f"{PICK}#{k}", False, film=f"{name}.mp4") for k, name in enumerate(("small", "large"))], tmp_path), embed_films=9
    )
    (video,) = found.all("video")
    assert {"controls", "muted", "loop", "playsinline"} <= set(video)


def test_a_long_list_of_failures_is_cut_evenly_and_says_so(monkeypatch):
    monkeypatch.setattr("etude.report.failures.LISTED", 6)
    played = [record(f"{PICK}#{k}", False) for k in range(20)] + [record(f"clevrskills/place@test#{k}", False) for k in range(3)]
    found = page(run_of(played))
    assert "23 episodes did not succeed" in found.text and "6 of 23 are listed here" in found.text
    listed = [r for r in found.all("tr") if r.get("data-outcome") == "failure"]
    assert len(listed) == 6


def test_how_to_do_it_again_is_exact():
    run = run_of([record(f"{PICK}#0")], command=["etude", "evaluate", "--option", "a b=100 %", "--out", "x"])
    found = page(run)
    assert "etude evaluate --option 'a b=100 %' --out x" in "".join(found.words)
    assert run.plan.digest in found.text and "mujoco 4.0.1" in found.text and "gives up to 8 actions at once" in found.text


def test_a_run_without_its_header_still_has_a_page():
    assert "100 %" in page(replace(run_of([record(f"{PICK}#0")]), info={})).text


def test_views_of_failures_are_put_into_the_page_as_far_as_there_is_room(tmp_path, monkeypatch):
    kept = {"schema": 1, "policy": "p", "still": "data:,", "visuals": [], "data": "x" * 1000, "meshes": {"m": "y" * 5000}, "textures": {}}
    played = [record(f"{PICK}#{k}", k == 0) for k in range(3)]
    for one in played:
        write_view(view_file(tmp_path, *one.key), {**kept, "episode": one.episode, "outcome": one.outcome})
    found = page(run_of(played, tmp_path), views=2)
    assert [view["data-view"] for view in found.all("div") if view.get("class") == "view"] == ["0", "1"]
    data = json.loads(re.search(r'id="views">(.*?)</script>', report([run_of(played, tmp_path)], views=9), re.DOTALL)[1])
    assert [view["episode"] for view in data["views"]] == [f"{PICK}#1", f"{PICK}#2", f"{PICK}#0"] and data["meshes"] == kept["meshes"]
    monkeypatch.setattr("etude.report.failures.ROOM", 8000)  # geometry once, and two episodes
    assert report([run_of(played, tmp_path)], views=9).count('class="view"') == 2


def test_a_page_without_views_carries_nothing_of_them():
    assert "sceneOf" not in report([run_of([record(f"{PICK}#0", False)])])


def test_sub_goals_that_only_one_policy_tells_of_are_counted_too():
    def failed(path, words):
        return record(f"{PICK}#0", False, subgoals=(Subgoal(path, "Leaf", words, False, 0.0, False, None),), first_failure=path)

    found = page(run_of([failed("goal.0", "lift it")], policy="a"), run_of([failed("goal.1", "let it go")], policy="b"))
    assert "lift it" in found.text and "let it go" in found.text and found.text.count("1 fail here") == 2


def test_failures_are_counted_by_kind():
    played = [record(f"{PICK}#0", False), record(f"{PICK}#1", "error"), record(f"{PICK}#1+dark", False), record(f"{PICK}#2", True)]
    assert "3 episodes did not succeed: 2 failures, 1 error, 1 of them perturbed" in page(run_of(played)).text
