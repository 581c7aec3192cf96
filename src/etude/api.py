"""Daily work in a few functions; the command line is a skin over them.

Nothing heavy is loaded before it is needed: this module is imported with the package.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from etude.names import EtudeError, pick, unknown
from etude.plugins import load_all, named, require

if TYPE_CHECKING:
    from etude.datasets.demos import Made
    from etude.datasets.taking import RecordingSpec
    from etude.evaluation.choosing import Choice
    from etude.evaluation.judge import Judge
    from etude.evaluation.pairs import Comparison
    from etude.evaluation.play import Rollout
    from etude.evaluation.run import Progress, RunSettings
    from etude.evaluation.store import Run
    from etude.policies.policy import Planner, Policy
    from etude.vector.env import EpisodeVectorEnv

What = str | Path | Sequence[str | Path]


def rollout(
    policy: Policy | str, name: str, *, planner: Planner | str | None = None, mode: str = "vanilla", renderer: str = "raster"
) -> Rollout:
    """Play one episode step by step.

    >>> for step in etude.rollout("oracle", "kitchen/cup_on_plate@test#3"):
    ...     print(step.number, step.action, step.reward, step.info["progress"])
    >>> etude.rollout(MyPolicy(), "kitchen/cup_on_plate@test#3").record.success
    """
    from etude.evaluation.plan import Plan, checked, refuse_foreign_modes
    from etude.evaluation.play import Players, Rollout
    from etude.policies.loading import address_of

    plan = Plan(address_of(policy), checked([name]), address_of(planner), (mode,), renderer)
    refuse_foreign_modes(plan)
    return Rollout(Players(policy, planner, renderer), plan.names[0], mode)


def evaluate(
    policy: Policy | str | None = None,
    what: What = (),
    *,
    planner: Planner | str | None = None,
    mode: str | Sequence[str] = (),
    patience: int | None = None,
    renderer: str | None = None,
    out: Path | str | None = None,
    more: int = 0,
    shard: str | None = None,
    workers: int = 0,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
    robot: str | None = None,
    judge: Judge | str | None = None,
    advance: str | None = None,
    **choice: Unpack[Choice],
) -> Run:
    """Evaluate a policy on episodes. Repeat the call to resume an interrupted run.

    ``what``: a suite (``"kitchen"``, ``"kitchen@test"``, ``"kitchen/cup@test"``), episode names, an episode list (a file, or the name of
    one that a suite brings), or several of these. ``choice`` selects and varies episodes: ``episodes``, ``first_seed``, ``task``,
    ``split``, ``level``, ``difficulty``, ``perturb``, ``options``, ``control`` (:func:`etude.evaluation.choosing.choose`). Without
    ``what``, the run in ``out`` is resumed, and extended by ``more`` seeds of everything.

    A policy given as text is loaded by ``workers`` processes (0: one per core); a live object is evaluated in this process. ``settings``
    replaces ``workers``, and has the other settings that cannot change a result.

    ``robot``: the address of a real robot (``"ws://host:port"``) to use instead of simulation, from this process. A person judges:
    ``judge`` is ``"terminal"`` (the default), ``"page"``, a class as text, or a live :class:`~etude.evaluation.judge.Judge`; ``advance``
    says what ends a sub-task besides the person: ``"hand"`` (the default), ``"idle"`` or ``"person"``.

    >>> run = etude.evaluate(MyPolicy(), "kitchen@test", episodes=50, perturb=["light_color"], out="runs/mine")
    >>> print(run.table())
    >>> run.report("page.html")
    """
    from etude.evaluation.choosing import choose, words
    from etude.evaluation.plan import PATIENCE, RENDERERS, Plan, checked, read_object, read_plan, read_shard
    from etude.evaluation.play import Players
    from etude.evaluation.run import Quiet, RunSettings
    from etude.evaluation.run import evaluate as work_off
    from etude.policies.loading import address_of

    if more < 0:
        raise EtudeError(f"--more must not be negative, got {more}")
    if renderer is not None and renderer not in RENDERERS:
        raise unknown("renderer", renderer, RENDERERS)
    settings = settings or RunSettings(workers)
    modes = words(mode) or ("vanilla",)
    live = next((player for player in (policy, planner) if player is not None and not isinstance(player, str)), None)
    if live is not None and (settings.workers > 1 or settings.executor != "local"):
        raise EtudeError(f"a live object is played in this process alone; for workers of its own, give it as text: {address_of(live)!r}")
    if out is not None and (Path(out) / "run.json").exists():
        require(read_object(Path(out) / "run.json").get("plugins") or ())
        settings = replace(settings, plugins=tuple(dict.fromkeys((*settings.plugins, *named()))))
    if what:
        far: list[str] = []
        names = choose(what, left_out=far, **choice)
        if policy is None and not set(modes) <= {"planner", "offline"}:  # in which the oracle acts
            raise EtudeError("say who plays: --policy oracle, random, noop, module:attribute, ws://host:port, …")
        part = (0, 1) if shard is None else read_shard(shard)
        plan = Plan(
            address_of("oracle" if policy is None else policy),
            names,
            address_of(planner),
            modes,
            renderer or "raster",
            PATIENCE if patience is None else patience,
            part,
            tuple(far),
            robot or "",
            (advance or "hand") if robot else advance or "",
        )
        folder = Path(out) if out is not None else Path("runs") / _folder_name(plan)
        if shard is not None:
            folder = folder / f"shard-{part[0]}-of-{part[1]}"
    elif out is not None and (Path(out) / "plan.json").exists():
        folder = Path(out)
        plan = read_plan(folder / "plan.json")
        checked(plan.names)
        for which, wanted in (("policy", policy), ("planner", planner)):
            if wanted is not None and address_of(wanted) != getattr(plan, which):
                raise EtudeError(
                    f"{str(out)!r} holds a run with {which} {getattr(plan, which)!r}, not {address_of(wanted)!r}: choose another --out"
                )
        settled = {**choice, "control": None, "no_control": not choice.get("control", True), "mode": mode, "renderer": renderer}
        settled |= {"patience": patience, "shard": shard, "advance": advance}
        if robot is not None and robot != plan.robot:
            raise EtudeError(f"{str(out)!r} holds a run with robot {plan.robot!r}, not {robot!r}: choose another --out")
        for idle in (key.replace("_", "-") for key, value in settled.items() if value or type(value) is int):
            raise EtudeError(f"--{idle} is settled by the plan of {str(out)!r}, which is being resumed: leave it out, or start a new run")
    else:
        raise EtudeError("say what to play: --suite NAME, --plan FILE, or --out FOLDER of a run to resume")
    who = plan.policy if policy is None else policy, plan.planner if planner is None else planner
    if judge is not None and not plan.robot:
        raise EtudeError("--judge says who judges a robot: name one with --robot ws://host:port")
    if plan.robot:
        from etude.evaluation.robot_play import RobotExecutor

        simulated = {"--record": settings.keep != "none", "--workers": settings.workers > 1, "--executor": settings.executor != "local"}
        for option, wish in simulated.items():
            if wish:
                raise EtudeError(
                    f"{option} is for simulations; with --robot one episode is played after the other, and no video is recorded"
                )
        load_all(settings.plugins)
        watching = find_judge(judge or "terminal")
        on = RobotExecutor(plan.robot, watching, lambda: Players(*who, plan.renderer, plan.patience), folder, plan.advance)
        return work_off(plan, folder, settings, progress or Quiet(), more, on=on)
    players = Players(*who, plan.renderer, plan.patience) if live is not None else None
    return work_off(plan, folder, settings, progress or Quiet(), more, players=players)


def find_judge(judge: Judge | str) -> Judge:
    """The judge of a robot: ``terminal``, ``page``, ``page:PORT``, or your own class as ``module:attribute``; a live one is returned as is.

    >>> etude.evaluate(MyPolicy(), "kitchen@test", robot="ws://127.0.0.1:8100", judge="page", out="runs/robot")
    """
    from etude.evaluation.judge import Judge as JudgeProtocol
    from etude.evaluation.judge import TerminalJudge
    from etude.policies.loading import load_object

    if not isinstance(judge, str):
        found: object = judge
    elif judge == "terminal":
        return TerminalJudge()
    elif judge.partition(":")[0] == "page":
        from etude.web.judging import PageJudge, page_port

        return PageJudge(page_port(judge))
    else:
        found = load_object("judge", judge, ("terminal", "page"))
    if not isinstance(found, JudgeProtocol):
        raise EtudeError(f"{judge!r:.80} is not a judge: it needs the methods ready, heard, subtask and episode")
    return found


def compare(a: Run | Path | str, b: Run | Path | str) -> Comparison:
    """Compare two runs on the episodes that both have played.

    >>> found = etude.compare("runs/mine", "runs/theirs")
    >>> print(found.table(), found.verdict)
    >>> found.report("page.html")
    """
    from etude.evaluation.pairs import comparison

    return comparison(read(a), read(b))


def read(run: Run | Path | str) -> Run:
    """Read the run in a folder; a run is returned as it is."""
    from etude.evaluation.store import read_run

    return read_run(Path(run)) if isinstance(run, (str, Path)) else run


def demos(
    what: What,
    *,
    out: Path | str,
    policy: str = "oracle",
    takeover: float | None = None,
    recovery: float | None = None,
    action: str = "ee_delta",
    spec: RecordingSpec | None = None,
    form: str | Sequence[str] = "lerobot",
    allow_test: bool = False,
    workers: int = 0,
    settings: RunSettings | None = None,
    command: str = "",
    progress: Progress | None = None,
    **choice: Unpack[Choice],
) -> Made:
    """Record demonstrations as a dataset. Repeat the call to resume an interrupted recording.

    For suites, the training splits are used; test splits are refused, unless ``allow_test``. ``episodes`` successes of each task are
    recorded, and failed seeds are replaced by others; of episode names and lists, those that succeed. ``takeover``: the probability,
    before every action, that the oracle takes over; ``recovery``: the share of episodes in which it recovers from a mistake. ``spec``
    says what is recorded, ``form`` in which formats; ``command`` is noted in the dataset as the command that made it.

    >>> etude.demos("kitchen/cup_on_plate", episodes=100, out="data/cups")
    """
    from etude.datasets.demos import DemosRequest, acting, refuse_tests
    from etude.datasets.demos import demos as make_demos
    from etude.datasets.taking import RecordingSpec
    from etude.evaluation.choosing import SEEDS, choose, is_listed, places, words
    from etude.evaluation.run import Quiet, RunSettings

    choice.setdefault("control", not choice.get("perturb"))
    told = {**choice, "policy": policy, "takeover": takeover, "recovery": recovery, "action": action, "spec": spec, "form": form}
    said = command or f"etude.demos({what!r}, {', '.join(f'{key}={value!r}' for key, value in told.items())})"
    wanted = 0 if all(map(is_listed, places(what))) else choice.get("episodes") or SEEDS
    names = choose(what, purpose="training", **choice)
    if not allow_test:
        refuse_tests(names)
    order = DemosRequest(names, acting(policy, takeover, action, recovery), spec or RecordingSpec(), words(form), wanted, said)
    return make_demos(order, Path(out), settings or RunSettings(workers), progress or Quiet())


def _folder_name(plan: Any) -> str:
    """The same plan gets the same folder, so that repeating the command resumes it."""
    suites = "-".join(dict.fromkeys(name.partition("/")[0] for name in plan.names))
    return f"{suites}-{re.sub(r'[^A-Za-z0-9]+', '-', plan.policy).strip('-')}-{plan.digest[:8]}"


def make(suite: str, task: str, **settings: Any) -> Any:
    """The Gymnasium environment of a task: ``gymnasium.make`` with suite and task as separate arguments.

    >>> env = etude.make("kitchen", "cup_on_plate", cameras=("base",), size=(128, 128))
    >>> observation, info = env.reset(seed=0)
    """
    import gymnasium

    from etude.index import env_id
    from etude.suites.suite import SUITES

    pick(f"task of {suite}", task, SUITES[suite].tasks)
    return gymnasium.make(env_id(suite, task), **settings)


def make_vec(what: What, num_envs: int, **settings: Any) -> EpisodeVectorEnv:
    """The vector environment: ``num_envs`` worlds that are stepped in parallel, on all cores.

    ``what``: a task (``"kitchen/cup_on_plate"``, or its Gymnasium id), or a suite or several tasks with equal spaces, which take turns;
    a split may be named (``"kitchen@val"``), the default is the training split. Or episode names, or an episode list. ``settings`` are
    those of the single environment (:func:`make`), and ``workers``, ``autoreset_mode``, ``copy`` of
    :class:`~etude.vector.env.EpisodeVectorEnv`.

    >>> envs = etude.make_vec("kitchen/cup_on_plate", num_envs=16, reward="gain", autoreset_mode="SameStep")
    >>> observations, infos = envs.reset(seed=0)
    """
    from etude.vector.env import make_vec as make_batch

    return make_batch(what, num_envs, **settings)
