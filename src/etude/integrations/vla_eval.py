"""Episodes of etude in the harness vla-eval: ``benchmark: etude.integrations.vla_eval:Benchmark`` in its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vla_eval import specs
from vla_eval.benchmarks.base import StepBenchmark, StepResult
from vla_eval.specs import DimSpec

from etude.envs.actions import numbers
from etude.envs.observer import Observation
from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES
from etude.evaluation.choosing import choose
from etude.library import episode as find_episode
from etude.names import EpisodeName, EtudeError
from etude.plugins import load
from etude.policies.address import libero_state
from etude.policies.contract import ROTATION_NUMBERS, SPACES, Contract, refuse_mismatches, undeclared
from etude.policies.conventions import ContractObserver, action_conversion
from etude.suites.suite import SUITES

ROTATIONS = {"axis_angle": specs.ROTATION_AA, "euler_xyz": specs.ROTATION_EULER, "quaternion_xyzw": specs.ROTATION_QUAT}

HANDS = {(-1.0, 1.0): specs.GRIPPER_CLOSE_POS, (1.0, -1.0): specs.GRIPPER_CLOSE_NEG, (0.0, 1.0): specs.GRIPPER_CLOSE_01}
PLAIN = "{action: ee_delta, frame: tip, rotation: axis_angle, scale: 0.1, closes: 1, rate: 20, orientation: upright}"


class Benchmark(StepBenchmark):
    """Plays what ``etude evaluate`` would: a suite, a task, a split, episodes by name or a list of them, with perturbations and options.

    ``what``, ``episodes``, ``first_seed``, ``perturb``, ``options`` as there; ``episodes_per_task`` of the harness are the first of each
    task's. A task of the harness is everything that differs in its seed alone. ``contract`` says what the model
    expects and gives, in the fields of :class:`~etude.policies.contract.Contract`; conventions that differ are converted, those that are
    not said refused. Without ``cameras`` it sees those of the suite. ``plugins`` are modules to load first.

    Sent: ``images`` by camera, ``task_description``, and ``state``: tip position (m), tip rotation as axis times angle, both fingers.
    Results: ``success``, ``progress``, and the ``episode`` by its id, under which records of etude have it too.
    """

    render_backends = frozenset({"gpu", "cpu"})  # drawn on the CPU on every machine
    _ALL_RECORD_FIELDS = frozenset({"reward", "done", "success", "progress"})

    def __init__(
        self,
        what: str | Sequence[str],
        episodes: int | None = None,
        first_seed: int | None = None,
        perturb: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
        contract: Mapping[str, Any] | None = None,
        plugins: Sequence[str] = (),
    ) -> None:
        super().__init__()
        for module in plugins:
            load(module)
        texts = {key: str(value) for key, value in (options or {}).items()}
        names = choose(what, perturb=tuple(perturb), options=texts or None, episodes=episodes, first_seed=first_seed, control=not perturb)
        self._groups: dict[str, list[str]] = {}
        for name in names:
            self._groups.setdefault(_group(name), []).append(name)
        self.contract = Contract.from_data(contract or {})
        seen = replace(self.contract, cameras=self.contract.cameras or ("base",), called=())
        if missing := undeclared(seen):  # pictures are sent in any case
            raise EtudeError(f"params.contract must also say {', '.join(missing)}; of a model that speaks as etude does: {PLAIN}")
        firsts = [find_episode(members[0]) for members in self._groups.values()]
        refuse_mismatches(self.contract, firsts)
        self._horizon = max(first.under(self.contract.action).horizon for first in firsts)
        self._simulation: Simulation | None = None

    @classmethod
    def configure_render(cls, mode: str) -> dict[str, str]:
        """Nothing has to be set for either mode."""
        return {}

    def get_tasks(self) -> list[dict[str, Any]]:
        """One for all episodes that differ in their seed alone."""
        return [{"name": group, "suite": EpisodeName.parse(names[0]).suite} for group, names in self._groups.items()]

    def get_metadata(self) -> dict[str, Any]:
        """The longest horizon: every episode ends at its own."""
        return {"max_steps": self._horizon, "max_episodes_per_task": min(map(len, self._groups.values()))}

    def get_metric_keys(self) -> dict[str, str]:
        """Means over episodes."""
        return {"success": "mean", "progress": "mean"}

    def get_action_spec(self) -> dict[str, DimSpec]:
        """What the contract says of actions."""
        action = self.contract.action or "ee_delta"
        if action in PRIMITIVES or action == "joint":
            return {"action": DimSpec(action, 0, action)}
        rotation = self.contract.rotation or SPACES[action][1]
        return {
            "position": specs.POSITION_DELTA if action == "ee_delta" else specs.POSITION_ABSOLUTE,
            "rotation": ROTATIONS.get(rotation) or DimSpec("rotation", ROTATION_NUMBERS[rotation], rotation),
            "gripper": HANDS.get(self.contract.hand_numbers) or DimSpec("gripper", 1, "raw"),
        }

    def get_observation_spec(self) -> dict[str, DimSpec]:
        """Pictures, state and words."""
        return {"image": specs.IMAGE_RGB, "state": specs.STATE_EEF_POS_AA_GRIP, "language": specs.LANGUAGE}

    def get_hold_action(self, last_action: Mapping[str, Any] | None) -> dict[str, Any]:
        """To stay where it is, the hand as it was last told: for steps of the tip, which alone can wait for a slow model."""
        if self.contract.action != "ee_delta":
            raise NotImplementedError(f"live modes are for ee_delta: nothing is known that holds still under {self.contract.action!r}")
        if self.contract.rotation not in ("axis_angle", "euler_xyz"):
            raise NotImplementedError(f"live modes are for rotations whose zeros are no rotation, not for {self.contract.rotation}")
        held = np.zeros(7, np.float32)
        held[-1] = self.contract.hand_numbers[0] if last_action is None else np.asarray(last_action["actions"]).ravel()[-1]
        return {"actions": held}

    # ------------------------------------------------------------------------------------------- playing

    def reset(self, task: Mapping[str, Any]) -> Observation:
        """The first observation of an episode of the task."""
        names, number = self._groups[task["name"]], int(task["episode_idx"])
        if number >= len(names):
            raise EtudeError(f"{task['name']} has {len(names)} episodes here, and episodes_per_task is more; say params.episodes")
        found = find_episode(names[number])
        refuse_mismatches(self.contract, [found])
        self._simulation = Simulation(found.under(self.contract.action).seen_by(self.contract.cameras))
        self._id = found.id
        wanted = self.contract
        suite = SUITES[found.parsed.suite]
        usual = suite.cameras or tuple(camera.name for camera in found.scene.cameras if camera.name != "render")
        self._cameras = wanted.cameras or usual
        contract = replace(wanted, cameras=self._cameras)
        self._pictures = contract.picture_names
        self._observer = ContractObserver(self._simulation, contract)
        self._conversion = action_conversion(wanted, self._simulation)
        return self._look()

    def _look(self) -> Observation:
        seen = self._observer.look()
        if self._pictures:
            self._recorder.record_video(seen[self._pictures[0]])
        return seen

    def step(self, action: Mapping[str, Any]) -> StepResult:
        """One action of the model."""
        assert self._simulation is not None
        if "actions" not in action:
            raise EtudeError(f"the model server answered without 'actions'; it sent {', '.join(map(repr, action)) or 'nothing'}")
        given = numbers(action["actions"], "what the model server sent", "an action, as numbers")
        if self._conversion is None:
            status = self._simulation.step(given)
        else:
            if given.shape != (self._conversion.width,):
                raise EtudeError(f"the contract's actions have {self._conversion.width} numbers, got shape {given.shape}")
            for part in self._conversion.parts(given):
                status = self._simulation.step(self._conversion.action(part))
                if self._simulation.over:
                    break
        done = self._simulation.over
        told = {"success": bool(status.satisfied), "progress": float(status.progress)}
        self._recorder.record_step(reward=float(status.reward), done=done, **told)
        return StepResult(self._look(), float(status.reward), done, told)

    def make_obs(self, raw_obs: Observation, task: Mapping[str, Any]) -> dict[str, Any]:
        """The observation in the form of the harness."""
        images = {name: raw_obs[name] for name in self._pictures}
        return {"images": images, "task_description": raw_obs["instruction"], "state": libero_state(raw_obs)}

    def get_step_result(self, step_result: StepResult) -> dict[str, Any]:
        """How it ended."""
        return {**step_result.info, "episode": self._id}

    def render(self) -> NDArray[np.uint8] | None:
        """A picture for people."""
        if self._simulation is None:
            return None
        names = [camera.name for camera in self._simulation.episode.scene.cameras]
        return self._observer.studio.shoot("render" if "render" in names else names[0], supersample=True).rgb


def _group(name: str) -> str:
    """A name without its seed: what is one task for the harness."""
    whole = EpisodeName.parse(name)
    return str(whole).replace(f"#{whole.seed}", "", 1)
