"""Commands that play: one episode, a plan of them, and a policy for others to play with."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from etude.cli.app import app, console, escape, given, notes, print_json, refuse_place, say
from etude.names import PROTOCOL, EtudeError, pick

if TYPE_CHECKING:
    from etude.evaluation.record import Record
    from etude.evaluation.store import Run, Store

CHAT = "chat:MODEL@http://host:port/v1"
DECIDER = f"{CHAT} or answers:FILE (decisions)"
POLICY = (
    "oracle, oracle:noise=0.02, oracle:colour_blind, random, noop, blind:POLICY, replay:RUN, learned:PATH, zoo:NAME, lerobot:PATH, "
    f"module:attribute, ws://host:port, {DECIDER}"
)
PLANNER = f"rule, oracle, oracle:wrong=0.2, {CHAT}, answers:FILE, or module:attribute"
EVERY = 30.0  # seconds between lines of progress where there is no terminal
MODE = (
    "vanilla: policy alone; rule: rule planner + policy; coupled: planner + policy; planner: planner + oracle skills; offline: planner "
    "alone; rule:privileged and coupled:privileged: switch sub-tasks at their true end, not when the hand changes"
)


FilmCamera = Annotated[
    str, typer.Option(help="camera of the video: a name, or NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV", show_default="chosen automatically")
]


@app.command()
def rollout(
    name: Annotated[str, typer.Argument(metavar="EPISODE", help="SUITE/TASK@SPLIT#SEED")],
    policy: Annotated[str, typer.Option(help=POLICY)],
    planner: Annotated[str, typer.Option(help=PLANNER)] = "",
    mode: Annotated[str, typer.Option(help=MODE)] = "vanilla",
    video: Annotated[Path | None, typer.Option(help="write a video: .mp4 (extra 'video'), .webp or .gif")] = None,
    camera: FilmCamera = "",
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Play one episode, and optionally write a video of it."""
    from etude import api
    from etude.decisions.showing import told
    from etude.episodes import Episode
    from etude.evaluation.film import Filming, camera_called, refuse_camera
    from etude.evaluation.play import beginning
    from etude.evaluation.repeating import repeated
    from etude.evaluation.subgoals import failure_words
    from etude.evaluation.tables import plural
    from etude.library import find

    found = find(name)
    if video is not None:
        if video.suffix.lower() not in (".mp4", ".webp", ".gif"):
            raise EtudeError(f"--video {str(video)!r} must end in .mp4, .webp or .gif")
        if not isinstance(found, Episode):
            raise EtudeError(f"{name} is a decision, of which there is no video: leave --video out")
        refuse_place("--video", video)
        if camera:
            refuse_camera(camera, [found])
    elif camera:
        raise EtudeError("--camera chooses the camera of the video: add --video FILE")
    played = api.rollout(policy, name, planner=planner, mode=mode)
    record, trajectory = played.record, played.trajectory
    if video is not None and trajectory.episode is not None:
        filming = Filming(policy, 1, camera_called(camera))
        repeated(trajectory.episode.seen_by([camera]), trajectory.actions, trajectory.words, [filming.begin], beginning(mode))
        filming.write(video)
    if as_json:
        print_json({
            "episode": record.episode, "id": record.id, "policy": policy, "mode": mode, "success": record.success, "steps": record.steps,
            "return": record.reward, "progress": record.progress, "first_failure": record.first_failure, "fault": record.fault,
        })  # fmt: skip
        return
    say(found.instruction.text if isinstance(found, Episode) else told(found))
    for stage in record.stages:
        mark = "[green]✓[/]" if stage.right and stage.done else "[red]✗[/]"
        note = "" if stage.right else "  (wrong)" if stage.expected else "  (nothing was left to do)"
        console.print(f"  {mark} step {stage.begun}: {escape(stage.subtask)}{note}", highlight=False, soft_wrap=True)
    verdict = "[green]success[/]" if record.success else f"[red]no success[/], {escape(failure_words(record))}"
    blame = f", {record.fault} failed first" if record.fault else ""
    where = f", video in {video}" if video else ""
    taken = f"{plural(record.steps, 'step')}, return {record.reward:.1f}"
    console.print(f"{verdict}{blame} after {taken}{where}", highlight=False, soft_wrap=True)


Suites = Annotated[list[str] | None, typer.Option(help="SUITE, or SUITE/TASK@SPLIT; repeat for several")]
Tasks = Annotated[list[str] | None, typer.Option(help="only this task; repeat for several")]
Splits = Annotated[
    list[str] | None, typer.Option(help="repeat for several (default: the suite's test splits to evaluate, training splits to record)")
]
Levels = Annotated[list[str] | None, typer.Option(help="only tasks of this level; repeat for several")]
Difficulties = Annotated[list[str] | None, typer.Option(help="a difficulty of the suite; repeat for several")]
Perturbations = Annotated[list[str] | None, typer.Option(help="a perturbation, or several combined: a+b; repeat for more conditions")]
Options = Annotated[list[str] | None, typer.Option(help="an option of the episodes, key=value; repeat for several")]
Graph = Annotated[Path | None, typer.Option(help="a task of your own: a graph as JSON, or the text of an instruction")]
FirstSeed = Annotated[int | None, typer.Option(help="the first seed; of an episode list, lower seeds are left out", show_default="0")]
Workers = Annotated[int, typer.Option(help="worker processes; 0: one per core, or as many as fit on the cluster")]
ExecutorName = Annotated[str, typer.Option(help="local, or ray (extra 'ray')")]
RayAddress = Annotated[str, typer.Option(help="address of the Ray cluster (default: found automatically)")]
Timeout = Annotated[float, typer.Option(help="seconds per episode; a longer one is recorded as an error")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON object on standard output")]


@app.command()
def evaluate(
    suite: Suites = None,
    task: Tasks = None,
    split: Splits = None,
    level: Levels = None,
    difficulty: Difficulties = None,
    perturb: Perturbations = None,
    no_control: Annotated[bool, typer.Option("--no-control", help="do not play the matched unperturbed episodes")] = False,
    option: Options = None,
    graph: Graph = None,
    episodes: Annotated[int | None, typer.Option(help="seeds of each task; of an episode list, the first N", show_default="20")] = None,
    first_seed: FirstSeed = None,
    plan_file: Annotated[Path | None, typer.Option("--plan", help="an episode list: plan.json, a file of names, or SUITE-LIST")] = None,
    policy: Annotated[str | None, typer.Option(help=POLICY)] = None,
    planner: Annotated[str | None, typer.Option(help=PLANNER)] = None,
    mode: Annotated[list[str] | None, typer.Option(help=f"{MODE}; repeat for several")] = None,
    patience: Annotated[int | None, typer.Option(help="control steps before the planner is queried again", show_default="150")] = None,
    renderer: Annotated[str | None, typer.Option(help="raster, or gl (needs OpenGL)", show_default="raster")] = None,
    out: Annotated[Path | None, typer.Option(help="the run's folder; repeat the command to resume")] = None,
    more: Annotated[int, typer.Option(help="extend a finished run by this many seeds of everything in it")] = 0,
    shard: Annotated[str | None, typer.Option(help="i/n: every n-th episode from the i-th on; auto: as the job scheduler says")] = None,
    workers: Workers = 0,
    timeout: Timeout = 600.0,
    memory: Annotated[float | None, typer.Option(help="memory limit per worker, in GiB (default: an even share)")] = None,
    record: Annotated[str, typer.Option(help="keep videos and actions of which episodes: none, failures, all")] = "none",
    camera: FilmCamera = "",
    executor: ExecutorName = "local",
    ray_address: RayAddress = "",
    gpus: Annotated[float, typer.Option(help="GPUs per worker on a Ray cluster; 0.25: four workers share one")] = 0.0,
    retry_errors: Annotated[bool, typer.Option("--retry-errors", help="play the episodes again that ended in errors")] = False,
    allow_mixed: Annotated[bool, typer.Option("--allow-mixed", help="resume even if the policy's code has changed; marks the run")] = False,
    robot: Annotated[str | None, typer.Option(help="ws://host:port of a robot, instead of simulation; a person judges")] = None,
    judge: Annotated[str | None, typer.Option(help="with --robot: terminal, page, or module:attribute", show_default="terminal")] = None,
    advance: Annotated[
        str | None, typer.Option(help="with --robot, what ends a sub-task besides the person: hand, idle, person", show_default="hand")
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Evaluate a policy on a list of episodes. Repeat the command to resume."""
    from etude import api
    from etude.evaluation.run import RunSettings
    from etude.evaluation.worker import KEEP

    keep = pick("value of --record", record, {k: k for k in KEEP})
    settings = RunSettings(workers, timeout, memory, keep, executor, ray_address, retry_errors, allow_mixed, gpus, camera=camera)
    tasks, options = with_graph(suite, task, option, graph)
    with ProgressBar(out) as shown:
        run = api.evaluate(
            policy, wanted(suite, plan_file), episodes=episodes, task=tasks, split=split or (), level=level or (),
            difficulty=difficulty or (), perturb=perturb or (), control=not no_control, options=options, first_seed=first_seed,
            planner=planner, mode=mode or (), patience=patience, renderer=renderer, out=out, more=more, shard=shard, settings=settings,
            progress=shown, robot=robot, judge=judge, advance=advance,
        )  # fmt: skip
    _tell(run, as_json)


def wanted(suite: list[str] | None, plan_file: Path | None) -> list[str | Path]:
    """What the options --suite and --plan name; one of them chooses."""
    if suite and plan_file is not None:
        raise EtudeError("give either --suite or --plan, not both")
    return [plan_file] if plan_file is not None else [*(suite or ())]


def refuse_choices(context: typer.Context) -> None:
    """Refuse what chooses among the episodes of a suite where none is named: it would have no effect."""
    for idle in given(context, "task", "split", "difficulty", "perturb", "no_control", "option", "episodes", "first_seed"):
        raise EtudeError(f"{idle} chooses among the episodes of a suite, but no --suite is named")


def with_graph(
    suites: Sequence[str] | None, task: Sequence[str] | None, option: Sequence[str] | None, graph: Path | None
) -> tuple[Sequence[str], dict[str, str]]:
    """The tasks and options that are asked for; with a file that holds a graph, the task that takes it."""
    from etude.library import tasks

    if graph is None:
        return task or (), pairs(option)
    taking = [t.name for suite in suites or () for t in tasks(suite.partition("/")[0]).values() if "graph" in t.options]
    if not taking:
        raise EtudeError("--graph is a task of your own: name a suite that takes graphs with --suite")
    for one in task or ():
        if one not in taking:
            raise EtudeError(f"--graph is a task by itself ({' or '.join(taking)}): leave --task {one} out")
    return taking, pairs([*(option or ()), f"graph={graph}"])


def pairs(texts: Sequence[str] | None) -> dict[str, str]:
    """Options given as ``key=value``."""
    found: dict[str, str] = {}
    for text in texts or ():
        key, sign, value = text.partition("=")
        if not sign or not key or not value or "=" in value:
            raise EtudeError(f"--option {text!r} is not of the form key=value")
        if key in found:
            raise EtudeError(f"--option {key} is given twice: {found[key]} and {value}")
        found[key] = quote(value, safe=" ,:")  # a path has what a name cannot have
    return found


class ProgressBar:
    """Progress on standard error: rate, remaining time, running success. Where nobody watches a terminal, a line every so often."""

    def __init__(self, folder: Path | None = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        )  # fmt: skip
        self._bar = Bar(*columns, console=notes.rich, transient=True, disable=not notes.rich.is_terminal)
        self._counts = {"success": 0, "failure": 0, "error": 0}
        self._folder, self._total, self._told, self._since = folder, 0, time.monotonic(), 0
        self._begun: set[Path] = set()

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.stop()
        if kind is KeyboardInterrupt:
            notes.print(f"stopped; repeat the command to resume ({self._folder})", highlight=False, soft_wrap=True)
            raise typer.Exit(130) from None

    def began(self, store: Store) -> None:
        """Show what was done before."""
        self._folder = store.folder
        if store.plan.robot:
            self._bar.stop()  # a person is asked in the same terminal
        if store.repaired:
            notes.print(store.repaired, highlight=False, soft_wrap=True)
        for line in self._bar.task_ids:  # of a run that is extended
            self._bar.remove_task(line)
        self._counts = dict.fromkeys(self._counts, 0)
        for old in store.records.values():
            self._counts[old.outcome] += 1
        done, self._total = len(store.records), len(store.plan.episodes)
        if done and store.folder not in self._begun:  # else it is extended by the command that has just played them
            whole = f"{done} of {self._total}" if done < self._total else f"all {self._total}"
            state = f"{whole} episodes are there already"
            notes.print(f"{state} ({store.folder}); delete the folder to play them again", highlight=False, soft_wrap=True)
        self._begun.add(store.folder)
        self._line = self._bar.add_task(self._words(), total=self._total, completed=done, speed="")

    def ended(self, record: Record) -> None:
        """Count one more."""
        self._counts[record.outcome] += 1
        self._since += 1
        speed = self._bar.tasks[0].speed
        self._bar.update(self._line, advance=1, description=self._words(), speed=f"{speed:.1f}/s" if speed else "")
        passed = time.monotonic() - self._told
        if not notes.rich.is_terminal and passed >= EVERY:
            done = f"{sum(self._counts.values())} of {self._total} episodes"
            notes.print(f"{done}, {self._words()}, {self._since / max(passed, 1e-9):.1f}/s", highlight=False, soft_wrap=True)
            self._told, self._since = time.monotonic(), 0

    def _words(self) -> str:
        wins, losses, errors = self._counts.values()
        played = wins + losses
        rate = f"{100 * wins / played:.0f} % success" if played else "playing"
        return rate + (f", {errors} errors" if errors else "")


def _tell(run: Run, as_json: bool) -> None:
    from etude.evaluation.subgoals import failure_words
    from etude.evaluation.tables import odd_returns

    table = run.table()
    failed = [r for r in run.records if not r.success]
    if as_json:
        failures = [{"id": r.id, "mode": r.mode, "outcome": r.outcome, "failed": r.first_failure, "error": r.error} for r in failed]
        print_json({
            "run": str(run.folder), "protocol": PROTOCOL, "policy": run.plan.policy, "planner": run.plan.planner,
            "groups": list(table.rows), "failures": failures, "mixed": run.mixed, "judged": run.judged,
        })  # fmt: skip
        return
    say(table)
    if note := odd_returns(run.records):
        say(note)
    for r in failed[:20]:
        words = f"  {r.outcome}: {r.id}  {failure_words(r)}" + (f"  ({r.mode})" if len(run.plan.modes) > 1 else "")
        console.print(words, style="dim", highlight=False, soft_wrap=True, markup=False)
    if len(failed) > 20:
        console.print(f"  … and {len(failed) - 20} more", style="dim", highlight=False)
    if run.judged:
        console.print(f"[bold]judged:[/] {escape(run.judged)}", highlight=False, soft_wrap=True)
    if run.mixed:
        console.print(f"[bold red]mixed:[/] {escape(run.mixed)}", highlight=False, soft_wrap=True)
    console.print(f"the run is in {run.folder}; look at it with: etude report {run.folder}", highlight=False, soft_wrap=True)


@app.command()
def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="folders of shards, or of runs of the same policy")],
    out: Annotated[Path, typer.Option(help="folder for the merged run")],
    allow_mixed: Annotated[bool, typer.Option("--allow-mixed", help="merge even if the policy's code differs; marks the run")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
) -> None:
    """Merge shards into one run."""
    from etude.evaluation.run import merge as joined

    run = joined(runs, out, allow_mixed)
    if run.missing:
        notes.print(f"{len(run.missing)} of {len(run.plan.episodes)} episodes are missing; play them with: etude evaluate --out {out}")
    _tell(run, as_json)


@app.command("serve-policy")
def serve_policy(
    policy: Annotated[str, typer.Argument(help="module:attribute, with arguments as ?key=value&…")],
    host: Annotated[str, typer.Option(help="interface to bind; 127.0.0.1: this machine only")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port; 0: any free one")] = 8000,
    batch: Annotated[int, typer.Option(help="largest batch of observations, for a policy with act_batch")] = 1,
    wait: Annotated[float, typer.Option(help="milliseconds to wait for a batch to fill")] = 5.0,
    max_frame: Annotated[float, typer.Option(help="largest message, in MiB")] = 64.0,
    connections: Annotated[int, typer.Option(help="most simultaneous connections")] = 256,
    key: Annotated[
        str, typer.Option(envvar="ETUDE_POLICY_KEY", help="key that clients must send; visible in process lists, so prefer the variable")
    ] = "",
) -> None:
    """Serve a policy to evaluations on this or other machines, in openpi's WebSocket protocol."""
    from etude.policies.loading import load_policy
    from etude.policies.server import serve

    def ready(at: int) -> None:
        notes.print(f"serving {policy} at ws://{host}:{at}", highlight=False, soft_wrap=True, markup=False)
        if not key and host not in ("127.0.0.1", "::1", "localhost"):
            notes.print("anybody can use this address; set ETUDE_POLICY_KEY here and on clients to require a key", soft_wrap=True)

    if not 0 < max_frame < math.inf:
        raise EtudeError(f"--max-frame must be more than 0 MiB, got {max_frame:g}")
    serve(lambda: load_policy(policy), host, port, batch, wait, ready, int(max_frame * 2**20) or 1, connections, key)
