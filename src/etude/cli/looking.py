"""Commands that look: at scenes, tasks, the machine and its speed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from etude.cli.app import app, console, escape, given, notes, print_json, read_size, refuse_place
from etude.names import EpisodeName, EtudeError, from_json, pick, read_text, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from etude.bench.result import Result
    from etude.suites.suite import InventoryTable, Task


@app.command()
def show(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="'catalog', 'gallery', an example scene, a scene's JSON file, or an episode name")],
    out: Annotated[
        Path,
        typer.Option(
            help="a .png or .html file; for a scene or an episode also .glb (glTF) or .xml (MJCF, textures in a folder next to it)",
        ),
    ] = Path("out/show.html"),
    camera: Annotated[str | None, typer.Option(help="only this camera: its name, or NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV")] = None,
    size: Annotated[str | None, typer.Option(help="image size in pixels: 256 or 320x240")] = None,
    seed: Annotated[int, typer.Option(help="seed of an example scene", min=0)] = 0,
    renderer: Annotated[str, typer.Option(help="raster, or gl (needs OpenGL)")] = "raster",
    graph: Annotated[bool, typer.Option("--graph", help="draw the operators of a decision as a graph; --out may then be .svg")] = False,
) -> None:
    """Render a scene, an episode, the gallery or the catalogue as an image (PNG), a page (HTML) or a 3D model (glTF, MJCF)."""
    kind = out.suffix.lower()
    if kind in (".glb", ".xml") and not graph and what not in ("gallery", "catalog", "catalogue"):
        _refuse_idle(given(context, "camera", "size", "renderer", *(["seed"] if "@" in what else [])), f"a model ({kind})")
        _model(what, out, seed)
        return
    if kind not in (".png", ".html") and not (graph and kind == ".svg"):
        raise EtudeError(
            f"--out {str(out)!r} must end in .png or .html{', or .svg' if graph else ', or of scenes and episodes in .glb or .xml'}"
        )
    if graph and "@" not in what:
        raise EtudeError(f"--graph shows a decision by its name, SUITE/TASK@SPLIT#SEED, not {what!r}")
    if what == "gallery" and kind != ".html":
        raise EtudeError("the gallery is a page: --out must end in .html")
    if what in ("gallery", "catalog", "catalogue"):
        _refuse_idle(given(context, "camera", "size", "seed", "renderer"), f"the {what}")
    elif "@" in what or what.endswith(".json"):
        _refuse_idle(given(context, "seed"), f"{what!r}, which says everything itself")
    pixels = None if size is None else read_size(size)
    refuse_place("--out", out)
    from etude.report import gallery
    from etude.report.page import Page
    from etude.report.pictures import save, sheet, stacked

    def progress(step: str) -> None:
        notes.print(f"  {step}", style="dim", highlight=False)

    if "@" in what:
        _named(context, what, out, pixels, camera, renderer, graph)
    elif what == "gallery":
        gallery.gallery(progress).write(out)
    elif what in ("catalog", "catalogue"):
        sheets = gallery.catalogue_sheets(progress)
        if kind == ".png":
            save(stacked([picture for _, picture in sheets]), out)
        else:
            page = Page("etude: the catalogue")
            for title, picture in sheets:
                page.heading(title)
                page.figures([("", picture)])
            page.write(out)
    else:
        pictures = gallery.scene_pictures(_scene(what, seed, camera), pixels, renderer)
        if kind == ".html":
            page = Page(f"etude: {what}")
            page.figures(pictures)
            page.write(out)
        elif camera is not None:
            save(pictures[0][1], out)
        else:
            save(sheet(pictures, columns=min(4, len(pictures)), tile=max(p.shape[0] for _, p in pictures)), out)
    console.print(f"wrote {out}", highlight=False, soft_wrap=True)


def _model(what: str, out: Path, seed: int) -> None:
    """Write a scene, or that of an episode, as it stands at the start."""
    from etude.envs.simulation import Simulation
    from etude.episodes import Episode
    from etude.library import find
    from etude.render.dressed_mjcf import write_mjcf
    from etude.render.gltf import glb
    from etude.scene.capture import Capture
    from etude.scene.world import World

    refuse_place("--out", out)
    if "@" in what:
        found = find(what)
        if not isinstance(found, Episode):
            raise EtudeError(f"{what} is a decision without a scene: --out must end in .png or .html")
        world = Simulation(found).world
    else:
        world = World(_scene(what, seed, None))
        world.settle()
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix.lower() == ".xml":
        write_mjcf(world, out)
    else:
        capture = Capture(world)
        capture.take()
        out.write_bytes(glb(capture, 0.0, what))
    console.print(f"wrote {out}", highlight=False, soft_wrap=True)


def _refuse_idle(options: list[str], what: str) -> None:
    """Refuse options that would change nothing: whoever gave them expects that they do."""
    for option in options:
        raise EtudeError(f"{option} has no meaning for {what}: leave it out")


def _named(
    context: typer.Context, name: str, out: Path, pixels: tuple[int, int] | None, camera: str | None, renderer: str, graph: bool
) -> None:
    from etude.decisions.trial import Trial
    from etude.library import find
    from etude.report.showing import show_graph, show_named

    found = find(name)
    if isinstance(found, Trial):
        _refuse_idle(given(context, "camera", "renderer"), f"{name}, which is a decision without a scene")
    if graph:
        _refuse_idle(given(context, "size"), "a graph of operators")
        show_graph(found, out)
    else:
        show_named(found, out, pixels, camera or "", renderer)


def _scene(what: str, seed: int, camera: str | None) -> Any:
    from dataclasses import replace

    from etude.scene import Scene
    from etude.scene.bounds import refuse_extremes
    from etude.scene.examples import EXAMPLES, example
    from etude.scene.viewpoints import camera_names, with_cameras

    path = Path(what)
    if path.suffix == ".json":
        scene = refuse_extremes(from_json(Scene, read_text(path)))
    elif what in EXAMPLES:
        scene = example(what, seed)
    else:
        if "/" in what:
            EpisodeName.parse(what)  # says which part is missing
        raise unknown("scene", what, [*EXAMPLES, "catalog", "gallery"])
    return scene if camera is None else replace(scene, cameras=(with_cameras(scene, [camera]).camera(*camera_names([camera])),))


def _listed(tasks: Mapping[str, Task], counted: Sequence[InventoryTable]) -> dict[str, Any]:
    """A suite's tasks, and what is counted in its lists."""
    from etude.perturb.perturbation import known_perturbations

    rows = [
        {
            "task": t.name, "splits": list(t.splits), "levels": [t.level] if t.level else list(t.splits),
            "perturbations": list(known_perturbations()), "horizon": t.horizon,
        }
        for t in tasks.values()
    ]  # fmt: skip
    inventory = [{"title": one.title, "rows": one.rows} for one in counted]
    return {"tasks": rows, **({"inventory": inventory} if inventory else {})}


@app.command("list")
def list_tasks(
    suite: Annotated[str | None, typer.Argument(help="only this suite")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """List suites and their tasks: level, splits, horizon."""
    from etude.evaluation.result_table import ResultTable
    from etude.library import tasks
    from etude.suites.suite import SUITES

    found = {name: tasks(name) for name in ([suite] if suite else SUITES)}
    if as_json:
        print_json({"suites": {name: _listed(table, SUITES[name].inventory()) for name, table in found.items()}})
        return
    from rich.table import Table

    for name, table in found.items():
        rows = Table(box=None, padding=(0, 2, 0, 0))
        for column in (name, "level", "splits", "steps", ""):
            rows.add_column(column)
        for t in table.values():
            rows.add_row(t.name, t.level, " ".join(t.splits), str(t.horizon), t.summary)
        console.print(rows)
        for one in SUITES[name].inventory() if suite else ():
            columns = tuple(one.rows[0])
            cells = tuple(tuple(str(row[column]) for column in columns) for row in one.rows)
            console.print(f"\n{one.title}\n{ResultTable((), columns, cells)}", highlight=False, soft_wrap=True)


@app.command()
def doctor(
    digests: Annotated[
        bool,
        typer.Option("--digests", help="play episodes and check that states and pixels are the same, to the byte, as on every machine"),
    ] = False,
    case: Annotated[list[str] | None, typer.Option(help="only this scene or episode of the digests; repeat for several")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Check this machine: what works, how fast, what each extra lacks; with --digests, whether results are the same to the byte."""
    if digests or case:
        _digests(case, as_json)
        return
    from etude.doctor import examine

    report: Any = examine()
    if as_json:
        print_json(report)
        return
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key in ("system", "processor", "cores", "memory_gib", "python", "etude", "renderer", "seconds_to_first_frame", "frame_256_ms"):
        table.add_row(key.replace("_", " "), str(report[key]))
    table.add_row("one core", _core(report["yardstick"]))
    table.add_row("packages", ", ".join(f"{k} {v}" for k, v in report["packages"].items()))
    gl = report["opengl"]
    table.add_row("OpenGL", "usable (--renderer gl)" if gl["usable"] else f"not usable, not needed: {gl['reason']}")
    for name, extra in report["extras"].items():
        state = "installed" if extra["installed"] else f"missing ({', '.join(extra['missing'])}): pip install 'etude[{name}]'"
        table.add_row(f"extra {name}", escape("; ".join(filter(None, (state, extra["for"])))))
    console.print(table)


def _core(rates: dict[str, float]) -> str:
    return f"{rates['compiled_mops']:,.0f} million operations of compiled code a CPU second, {rates['python_mops']:.0f} of Python's"


def _digests(only: list[str] | None, as_json: bool) -> None:
    from etude import machine
    from etude.digests import cases as all_cases
    from etude.digests import compute, expected, promised, to_the_byte

    for name in only or ():
        if name not in all_cases():
            raise unknown("case", name, all_cases())
    cases = only or all_cases()
    wanted = {key: text for key, text in expected().items() if key.rpartition(": ")[0] in cases}
    found = compute(cases, progress=lambda case: notes.print(f"  {case}", style="dim", highlight=False))
    differing = [key for key in wanted if found.get(key) != wanted[key]]
    broken = [key for key in differing if promised(key)]
    if as_json:
        print_json({"machine": machine.describe(), "digests": found, "expected": wanted, "equal": not differing, "broken": broken})
    elif not differing:
        console.print(f"{len(wanted)} digests of {len(cases)} scenes and episodes are equal: this machine computes the same bytes")
    else:
        for key in differing:
            console.print(f"{key}  {found.get(key, 'missing')}, expected {wanted[key]}" + ("" if key in broken else " (not promised here)"))
        kind = (
            ""
            if to_the_byte()
            else "; this is not x86-64 with FMA, where ids, layouts, instructions and first frames are equal, and no more"
        )
        console.print(f"{len(differing)} of {len(wanted)} digests differ{kind}")
    if broken:
        raise typer.Exit(1)


@app.command()
def bench(
    context: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(help="start, render, physics, build, scale, evaluate, … (a wrong name lists all; default: the usual ones)"),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(help="only cases whose names contain this text; repeat for several")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="a short version of every case: less precise, takes seconds")] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="COMMIT", help="also measure this commit, alternating, and show the speed-up of the present source"),
    ] = None,
    rounds: Annotated[int, typer.Option(help="with --against: how many times both are measured", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Measure speed, next to a reference implementation where one is installed, or to another commit."""
    from etude import machine
    from etude.bench.core import benches, measured, usual
    from etude.bench.extent import restrict
    from etude.yardstick import yardstick

    for name in what or ():
        pick("benchmark", name, benches())
    restrict(quick, case or ())
    facts = {**machine.describe(), "yardstick": yardstick()}
    if against is not None:
        _against(against, what or usual(), rounds, facts, as_json)
        return
    for idle in given(context, "rounds"):
        raise EtudeError(f"{idle} is for --against COMMIT")
    results = measured(what or usual())
    if not results:
        raise EtudeError(f"no case of {', '.join(what or ['all benchmarks'])} is called so: {', '.join(map(repr, case or ()))}")
    if as_json:
        print_json({"machine": facts, "results": [asdict(r) for r in results]})
        return
    _print_results(results, {}, facts)


def _against(commit: str, names: list[str], rounds: int, facts: dict[str, Any], as_json: bool) -> None:
    from etude.bench.against import compare_with

    found = compare_with(commit, names, rounds, lambda step: notes.print(f"  {step}", style="dim", highlight=False))
    if as_json:
        told = {"commit": found.commit, "rounds": found.rounds, "spreads": found.spreads, "untold": found.untold}
        print_json({"machine": facts, "results": [asdict(r) for r in found.results], "against": told})
        return
    _print_results(found.results, found.spreads, facts)
    for name, reason in found.untold.items():
        console.print(f"not compared: {name}: {reason}", highlight=False, soft_wrap=True, markup=False)


def _print_results(results: list[Result], spreads: dict[str, tuple[float, float]], facts: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("case", "value", "reference", "ratio"):
        table.add_column(column)
    for r in results:
        reference = "" if r.reference is None else f"{r.reference_value} {r.unit}  {r.reference}"
        spread = f" ({spreads[r.case][0]}–{spreads[r.case][1]})" if r.case in spreads else ""
        table.add_row(r.case, f"{r.value} {r.unit}", reference, "" if r.ratio is None else f"{r.ratio}×{spread}")
    console.print(table)
    console.print(f"one core of this machine: {_core(facts['yardstick'])}", highlight=False, soft_wrap=True)


@app.command("new")
def new_package(
    kind: Annotated[str, typer.Argument(help="task, suite, perturbation or policy")],
    name: Annotated[str, typer.Argument(help="its name, e.g. cup_on_plate")],
    out: Annotated[Path | None, typer.Option(help="a new folder (default: the name)")] = None,
) -> None:
    """Create a small plug-in package of your own, with a test that passes."""
    from etude.templates import write_package

    folder = write_package(kind, name, out or Path(name))
    for line in (f"{folder} is a package with one {kind}; look at it, then:", f"  pip install -e {folder}", f"  pytest {folder}"):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
