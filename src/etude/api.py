"""Daily work in a few functions; the command line is a skin over them.

Nothing heavy is loaded before it is needed: this module is imported with the package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etude.names import EtudeError, pick, unknown
from etude.plugins import named, require

if TYPE_CHECKING:
    from etude.datasets.demos import Made
    from etude.evaluation.pairs import Comparison
    from etude.evaluation.play import Rollout
    from etude.evaluation.run import Progress
    from etude.evaluation.store import Run
    from etude.policies.policy import Planner, Policy

What = str | Path | Sequence[str | Path]
Words = str | Sequence[str]

ANY_SPACE = ("oracle", "random", "noop")  # policies that act in any space
ACTIONS = ("ee_delta", "ee_pose", "joint", "own")


def rollout(
    policy: Policy | str, name: str, *, planner: Planner | str | None = None, mode: str = "vanilla", renderer: str = "raster"
) -> Rollout:
    """Play one episode step by step.

    >>> for step in etude.rollout("oracle", "clevrskills/pick@train#7"):
    ...     print(step.number, step.action, step.reward, step.info["progress"])
    >>> etude.rollout(MyPolicy(), "clevrskills/pick@train#7").record.success
    """
    from etude.evaluation.plan import Plan, checked
    from etude.evaluation.play import Players, Rollout
    from etude.policies.loading import address_of

    plan = Plan(address_of(policy), checked([name]), address_of(planner or ""), (mode,), renderer)
    return Rollout(Players(policy, planner, renderer), plan.names[0], mode)


def evaluate(
    policy: Policy | str | None = None,
    what: What = (),
    *,
    episodes: int | None = None,
    task: Words = (),
    split: Words = (),
    level: Words = (),
    difficulty: Words = (),
    perturb: Words = (),
    control: bool = True,
    options: Mapping[str, str] | None = None,
    first_seed: int | None = None,
    planner: Planner | str | None = None,
    mode: Words = (),
    patience: int | None = None,
    renderer: str | None = None,
    out: Path | str | None = None,
    more: int = 0,
    shard: str | None = None,
    workers: int = 0,
    timeout: float = 600.0,
    memory: float | None = None,
    record: str = "none",
    executor: str = "local",
    ray_address: str = "",
    retry_errors: bool = False,
    allow_mixed: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run a policy over episodes, and count. The same call goes on where it was interrupted.

    ``what``: a suite (``"kitchen"``, ``"kitchen@test"``, ``"kitchen/cup@test"``), episodes by name, a list of names in a file or under a
    frozen name, or several of these; see :func:`etude.evaluation.choosing.choose` for what chooses among them. Without it, the run in
    ``out`` is gone on with.

    A policy given as text is loaded in worker processes; a live object is played in this one.

    >>> run = etude.evaluate(MyPolicy(), "clevrskills@test", episodes=50, perturb=["light_color"], out="runs/mine")
    >>> print(run.table())
    >>> run.report("page.html")
    """
    from etude.evaluation.choosing import choose
    from etude.evaluation.plan import PATIENCE, RENDERERS, Plan, checked, read_plan, read_shard
    from etude.evaluation.play import Players
    from etude.evaluation.run import EXECUTORS, Quiet, RunSettings
    from etude.evaluation.run import evaluate as work_off
    from etude.evaluation.store import read_run
    from etude.evaluation.worker import KEEP
    from etude.policies.loading import address_of

    for which, value, valid in (("executor", executor, EXECUTORS), ("value of --record", record, KEEP)):
        if value not in valid:
            raise unknown(which, value, valid)
    if renderer is not None and renderer not in RENDERERS:
        raise unknown("renderer", renderer, RENDERERS)
    if ray_address and executor != "ray":
        raise EtudeError("--ray-address is used by --executor ray, which was not asked for")
    if more < 0:
        raise EtudeError(f"--more must not be negative, got {more}")
    keep = next(k for k in KEEP if k == record)
    settings = RunSettings(workers, timeout, memory, keep, executor, ray_address, retry_errors, allow_mixed, named())
    chosen = {"task": _words(task), "split": _words(split), "level": _words(level), "difficulty": _words(difficulty),
              "perturb": _words(perturb), "options": options, "episodes": episodes, "first_seed": first_seed}  # fmt: skip
    modes = _words(mode) or ("vanilla",)
    live = next((player for player in (policy, planner) if player and not isinstance(player, str)), None)
    if live is not None and (workers > 1 or executor != "local"):
        raise EtudeError(f"a live object is played in this process alone; for workers of its own, give it as text: {address_of(live)!r}")
    if what:
        names = choose([what] if isinstance(what, (str, Path)) else list(what), control=control, **chosen)  # type: ignore[arg-type]
        if policy is None and not set(modes) <= {"planner", "offline"}:  # in which the oracle acts
            raise EtudeError("say who plays: --policy oracle, random, noop, module:attribute, ws://host:port, …")
        part = (0, 1) if shard is None else read_shard(shard)
        who = address_of("oracle" if policy is None else policy), address_of(planner or "")
        plan = Plan(who[0], names, who[1], modes, renderer or "raster", PATIENCE if patience is None else patience, part)
        folder = Path(out) if out is not None else Path("runs") / _folder_name(plan)
        if shard is not None:
            folder = folder / f"shard-{part[0]}-of-{part[1]}"
    elif out is not None and (Path(out) / "plan.json").exists():
        folder = Path(out)
        plan = read_plan(folder / "plan.json")
        require(read_run(folder).info.get("plugins") or ())
        checked(plan.names)
        for which, wanted in (("policy", policy), ("planner", planner)):
            if wanted is not None and address_of(wanted) != getattr(plan, which):
                raise EtudeError(
                    f"{str(out)!r} holds a run with {which} {getattr(plan, which)!r}, not {address_of(wanted)!r}: choose another --out"
                )
        settled = {**chosen, "mode": mode, "renderer": renderer, "patience": patience, "shard": shard}
        for idle in (key.replace("_", "-") for key, value in settled.items() if value):
            raise EtudeError(f"--{idle} is settled by the plan of {str(out)!r}, which is gone on with: leave it out, or start a new run")
    else:
        raise EtudeError("say what to play: --suite NAME, --plan FILE, or --out FOLDER of a run to go on with")
    players = None
    if live is not None:
        players = Players(policy or plan.policy, planner or plan.planner, plan.renderer, plan.patience)
    return work_off(plan, folder, settings, progress or Quiet(), more, players=players)


def compare(a: Run | Path | str, b: Run | Path | str) -> Comparison:
    """Two runs on the episodes that both have played.

    >>> found = etude.compare("runs/mine", "runs/theirs")
    >>> print(found.table(), found.verdict)
    >>> found.report("page.html")
    """
    from etude.evaluation.pairs import comparison

    return comparison(read(a), read(b))


def read(run: Run | Path | str) -> Run:
    """The run in a folder; a run is given back as it is."""
    from etude.evaluation.store import read_run

    return read_run(Path(run)) if isinstance(run, (str, Path)) else run


def demos(
    what: What,
    *,
    out: Path | str,
    episodes: int | None = None,
    task: Words = (),
    split: Words = (),
    level: Words = (),
    difficulty: Words = (),
    perturb: Words = (),
    options: Mapping[str, str] | None = None,
    first_seed: int | None = None,
    policy: str = "oracle",
    takeover: float | None = None,
    action: str = "ee_delta",
    every_space: bool = False,
    camera: Words = (),
    size: tuple[int, int] = (128, 128),
    form: Words = (),
    allow_test: bool = False,
    workers: int = 0,
    timeout: float = 600.0,
    command: str = "",
    progress: Progress | None = None,
) -> Made:
    """Record demonstrations as a data set; the same call goes on where it was interrupted.

    Of suites, splits for training are taken; those for testing are refused, unless ``allow_test``. ``episodes`` successes are recorded of
    everything, and more seeds are tried where some fail; of names and lists, those that succeed. ``takeover``: before every action the
    oracle takes over with this probability. ``command`` is noted as what made the set.

    >>> etude.demos("clevrskills/pick@train", episodes=100, out="data/pick")
    """
    from etude.datasets.demos import DemosRequest, refuse_tests
    from etude.datasets.demos import demos as make
    from etude.datasets.taking import RecordingSpec
    from etude.evaluation.choosing import SEEDS, choose, is_listed
    from etude.evaluation.run import Quiet, RunSettings

    asked = [what] if isinstance(what, (str, Path)) else list(what)
    chosen = {"task": _words(task), "split": _words(split), "level": _words(level), "difficulty": _words(difficulty),
              "perturb": _words(perturb), "options": options, "episodes": episodes, "first_seed": first_seed}  # fmt: skip
    names = choose(asked, control=not perturb, purpose="training", **chosen)  # type: ignore[arg-type]
    if not allow_test:
        refuse_tests(names)
    spec = RecordingSpec(_words(camera), size, spaces=every_space)
    told = {**chosen, "policy": policy, "takeover": takeover, "action": action, "form": _words(form), "spec": spec}
    said = command or f"etude.demos({asked!r}, {', '.join(f'{k}={v!r}' for k, v in told.items() if v not in ((), None))})"
    wanted = 0 if all(map(is_listed, asked)) else SEEDS if episodes is None else episodes
    order = DemosRequest(names, _acting(policy, takeover, action), spec, _words(form) or ("lerobot",), wanted, said)
    return make(order, Path(out), RunSettings(workers, timeout, plugins=named()), progress or Quiet())


def _words(value: Words) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _folder_name(plan: Any) -> str:
    """The same plan gets the same folder, so that the same command goes on."""
    suites = "-".join(dict.fromkeys(name.partition("/")[0] for name in plan.names))
    return f"{suites}-{re.sub(r'[^A-Za-z0-9]+', '-', plan.policy).strip('-')}-{plan.digest[:8]}"


def _acting(policy: str, takeover: float | None, action: str) -> str:
    """The policy with its action space, and the oracle after it where it shall take over."""
    if action not in ACTIONS:
        raise unknown("value of --action", action, ACTIONS)
    if takeover is not None and policy == "oracle":
        policy = "oracle:noise=0.03"  # one that leaves the oracle's own way
    if policy.partition(":")[0] in ANY_SPACE and "action=" not in policy and action != "own":
        policy = f"{policy}{',' if ':' in policy else ':'}action={action}"
    return policy if takeover is None else f"takeover:{takeover:g}:{policy}"


def make(suite: str, task: str, **settings: Any) -> Any:
    """The Gymnasium environment of a task: ``gymnasium.make`` with its parts named apart.

    >>> env = etude.make("clevrskills", "pick", cameras=("base",), size=(128, 128))
    >>> observation, info = env.reset(seed=0)
    """
    import gymnasium

    from etude.index import env_id
    from etude.suites.suite import SUITES

    pick(f"task of {suite}", task, SUITES[suite].tasks)
    return gymnasium.make(env_id(suite, task), **settings)
