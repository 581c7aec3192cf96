"""The ``etude`` command."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from etude.names import EtudeError, unknown

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compositional robot manipulation, judged ability by ability.",
)
console = Console()
notes = Console(stderr=True)


def main() -> None:
    """Run the command; a user's mistake ends in one line, not in a traceback."""
    try:
        app()
    except EtudeError as error:
        notes.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(2)


def _print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    width, sign, height = text.lower().partition("x")
    if not (width.isdigit() and (height.isdigit() or not sign)) or int(width) < 1 or (sign and int(height) < 1):
        raise EtudeError(f"--size {text!r} is not a size; write 256 or 320x240 (width x height)")
    return int(width), int(height or width)


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="'catalog', 'gallery', the name of an example scene, or a scene's JSON file")],
    out: Annotated[Path, typer.Option(help="a .png or .html file")] = Path("out/show.html"),
    camera: Annotated[str | None, typer.Option(help="one camera instead of all")] = None,
    size: Annotated[str | None, typer.Option(help="pixels: 256 or 320x240")] = None,
    seed: Annotated[int, typer.Option(help="of an example scene")] = 0,
    renderer: Annotated[str, typer.Option(help="raster, or gl where OpenGL works")] = "raster",
) -> None:
    """Show a scene, the gallery or the catalogue as a picture (PNG) or a page (HTML)."""
    kind = out.suffix.lower()
    if kind not in (".png", ".html"):
        raise EtudeError(f"--out {str(out)!r} must end in .png or .html")
    if what == "gallery" and kind != ".html":
        raise EtudeError("the gallery is a page: --out must end in .html")
    pixels = _size(size)
    from etude.report import gallery
    from etude.report.page import Page
    from etude.report.pictures import save, sheet, stacked

    def progress(step: str) -> None:
        notes.print(f"  {step}", style="dim", highlight=False)

    if what == "gallery":
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


def _scene(what: str, seed: int, camera: str | None) -> Any:
    from dataclasses import replace

    from etude.names import from_json
    from etude.scene import Scene
    from etude.scene.examples import EXAMPLES, example

    path = Path(what)
    if path.suffix == ".json":
        if not path.is_file():
            raise EtudeError(f"there is no file {what!r}")
        scene = from_json(Scene, path.read_text(encoding="utf-8"))
    elif what in EXAMPLES:
        scene = example(what, seed)
    else:
        raise unknown("scene", what, [*EXAMPLES, "catalog", "gallery"])
    return scene if camera is None else replace(scene, cameras=(scene.camera(camera),))


@app.command("list")
def list_tasks(
    suite: Annotated[str | None, typer.Argument(help="one suite; all when none is given")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """List suites, their tasks, splits and options."""
    from etude.library import SUITES, tasks

    found = {name: tasks(name) for name in ([suite] if suite else SUITES)}
    if as_json:
        _print_json({
            "suites": {
                name: {"tasks": [
                    {"task": t.name, "splits": list(t.splits), "levels": [t.level], "perturbations": [], "horizon": t.horizon}
                    for t in table.values()
                ]}
                for name, table in found.items()
            }
        })  # fmt: skip
        return
    for name, table in found.items():
        rows = Table(box=None, padding=(0, 2, 0, 0))
        for column in (name, "level", "splits", "steps", ""):
            rows.add_column(column)
        for t in table.values():
            rows.add_row(t.name, t.level, " ".join(t.splits), str(t.horizon), t.summary)
        console.print(rows)


@app.command()
def rollout(
    name: Annotated[str, typer.Argument(metavar="EPISODE", help="e.g. clevrskills/pick@train#7")],
    policy: Annotated[str, typer.Option(help="oracle, random or noop")] = "oracle",
    video: Annotated[Path | None, typer.Option(help="a film: .mp4 (extra 'video'), .webp or .gif")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Play one episode, and film it."""
    from etude.envs.simulation import Simulation
    from etude.evaluate.run import play
    from etude.library import episode
    from etude.policies.scripted import Policy
    from etude.report.film import Film, write_film

    if video is not None and video.suffix.lower() not in (".mp4", ".webp", ".gif"):
        raise EtudeError(f"--video {str(video)!r} must end in .mp4, .webp or .gif")
    films: list[Film] = []

    def seen(simulation: Simulation, actor: Policy) -> None:
        if video is None:
            return
        if not films:
            films.append(Film(simulation, policy))
        films[0].take(actor.words)

    outcome = play(name, policy, seen)
    if video is not None:
        write_film(films[0].frames + films[0].frames[-1:] * 10, video)
    if as_json:
        _print_json({
            "episode": episode(name).name, "id": outcome.id, "policy": policy, "success": outcome.success, "steps": outcome.steps,
            "return": outcome.reward, "progress": outcome.progress, "first_failure": outcome.failed,
        })  # fmt: skip
        return
    console.print(episode(name).instruction.text, highlight=False)
    verdict = "[green]success[/]" if outcome.success else f"[red]no success[/], first open: {outcome.failed}"
    filmed = f", film in {video}" if video else ""
    console.print(f"{verdict} after {outcome.steps} steps, return {outcome.reward:.1f}{filmed}", highlight=False, soft_wrap=True)


@app.command()
def evaluate(
    suite: Annotated[str, typer.Option(help="e.g. clevrskills")],
    task: Annotated[list[str] | None, typer.Option(help="repeat for several; all when none is given")] = None,
    split: Annotated[str, typer.Option(help="of the suite")] = "train",
    policy: Annotated[str, typer.Option(help="oracle, random or noop")] = "oracle",
    episodes: Annotated[int, typer.Option(help="seeds for each task")] = 20,
    first_seed: Annotated[int, typer.Option(help="the first of them")] = 0,
    workers: Annotated[int | None, typer.Option(help="processes; all cores by default")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Run a policy over seeds of a suite and count, task by task."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from etude.evaluate.run import Outcome, plan, run
    from etude.evaluate.statistics import groups
    from etude.names import PROTOCOL
    from etude.policies.scripted import POLICIES

    if policy not in POLICIES:
        raise unknown("policy", policy, POLICIES)
    names = plan(suite, task or (), split, episodes, first_seed)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    wins = 0
    with Progress(*columns, console=notes, transient=True) as bar:
        line = bar.add_task("playing", total=len(names))

        def seen(outcome: Outcome) -> None:
            nonlocal wins
            wins += outcome.success
            bar.update(line, advance=1, description=f"{outcome.task}: {wins} successes so far")

        outcomes = run(names, policy, workers, seen)
    rows = groups(outcomes)
    failed = [o for o in outcomes if not o.success]
    if as_json:
        _print_json({"run": None, "protocol": PROTOCOL, "policy": policy, "groups": rows, "failures": [asdict(o) for o in failed]})
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("task", "level", "success", "95 %", "steps", "return", "per step", "errors"):
        table.add_column(column)
    for r in rows:
        low, high = r["interval"]
        interval = f"{100 * low:.0f}–{100 * high:.0f}"
        figures = (r["mean_steps"], r["mean_return"], r["reward_per_step"], r["errors"])
        table.add_row(r["task"], r["level"], f"{r['successes']}/{r['episodes']}", interval, *map(str, figures))
    console.print(table)
    for outcome in failed[:20]:
        console.print(f"  failed: {outcome.id}  {outcome.error or outcome.failed}", style="dim", highlight=False)


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False) -> None:
    """Tell what works on this machine, how fast, and what is missing for which extra."""
    from etude.doctor import examine

    report: Any = examine()
    if as_json:
        _print_json(report)
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key in ("system", "processor", "cores", "memory_gib", "python", "etude", "renderer", "seconds_to_first_frame", "frame_256_ms"):
        table.add_row(key.replace("_", " "), str(report[key]))
    table.add_row("packages", ", ".join(f"{k} {v}" for k, v in report["packages"].items()))
    gl = report["opengl"]
    table.add_row("OpenGL", "usable (--renderer gl)" if gl["usable"] else f"not usable, not needed: {gl['reason']}")
    for name, extra in report["extras"].items():
        state = "installed" if extra["installed"] else f"missing ({extra['needs']}): pip install 'etude[{name}]'"
        table.add_row(f"extra {name}", escape(f"{state}; {extra['for']}"))
    console.print(table)


@app.command()
def bench(
    what: Annotated[list[str] | None, typer.Argument(help="render, physics, build, suites; all when none is given")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Measure speed, side by side with a reference where one runs."""
    from etude import machine
    from etude.bench import BENCHES

    for name in what or ():
        if name not in BENCHES:
            raise unknown("benchmark", name, BENCHES)
    results = [result for name in (what or BENCHES) for result in BENCHES[name]()]
    if as_json:
        _print_json({"machine": machine.describe(), "results": [asdict(r) for r in results]})
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("case", "value", "reference", "ratio"):
        table.add_column(column)
    for r in results:
        reference = "" if r.reference is None else f"{r.reference_value} {r.unit}  {r.reference}"
        table.add_row(r.case, f"{r.value} {r.unit}", reference, "" if r.ratio is None else f"{r.ratio}×")
    console.print(table)
