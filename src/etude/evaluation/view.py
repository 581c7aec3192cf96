"""An episode to walk around in: what a page needs to show it in three dimensions, moment by moment, as plain data in few bytes.

``view.js`` in :mod:`etude.report` draws it. Geometry and textures stand apart under their own names, so that several views share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.plan import read_object
from etude.evaluation.repeating import Noting, main_camera, repeated
from etude.evaluation.saying import spoken_subgoals
from etude.library import told_in
from etude.names import EtudeError, json_text
from etude.policies.replay import file_stem
from etude.pose import Array, Pose
from etude.prompts.instruction import Words, one_scale
from etude.prompts.pictures import data_url, part_picture
from etude.render.compact import mesh_data, mesh_key, motion_data, text_of, texture_url, webp_url
from etude.render.studio import Studio
from etude.scene.capture import Capture
from etude.scene.materials import SUBSTEPS, TIMESTEP
from etude.scene.scene import Camera, Lighting
from etude.scene.visual import HAND, ROBOT, Visual
from etude.skills.subtasks import describe, plain, standing

SCHEMA = 1
PERIOD = SUBSTEPS * TIMESTEP  # s between two moments
PICTURE = 112  # pixels of the instruction's pictures
STILL = (400, 300)  # pixels of the picture of the last moment
SATISFIED, VIOLATED, NEXT = 1, 2, 4  # flags of a sub-goal at a moment
NEWTON, METRE = 20, 1000  # forces are told to 0.05 N, where they act to a millimetre
LARGEST = 32767


class Viewing:
    """An onlooker who notes what a view needs. ``sees_robot``: is the robot in the pictures of the scene's cameras?"""

    def __init__(self, sees_robot: bool = True) -> None:
        self._sees_robot = sees_robot
        self._progress: list[list[int]] = []
        self._flags: list[list[int]] = []
        self._steps: list[int] = []
        self._words: list[tuple[int, str, str]] = []

    def begin(self, simulation: Simulation) -> Noting:
        """Note the first moment."""
        self._simulation = simulation
        self._capture = Capture(simulation.world)
        self._note(("", ""))
        return self._note

    def _note(self, words: tuple[str, str]) -> None:
        monitor, scene = self._simulation.monitor, self._simulation.episode.scene
        following = {node.path for node in monitor.choices()}
        nodes = list(monitor.nodes())
        self._progress.append([round(255 * min(1.0, max(0.0, node.status.progress))) for node in nodes])
        self._flags.append([
            SATISFIED * node.status.satisfied + VIOLATED * node.status.violated + NEXT * (node.path in following) for node in nodes
        ])  # fmt: skip
        self._steps.append(self._simulation.steps + bool(self._steps))  # the action that is being carried out; none at the first moment
        said = plain(words[0], scene), plain(words[1], scene)
        if not self._words or self._words[-1][1:] != said:
            self._words.append((len(self._capture), *said))
        self._capture.take()

    def data(self, policy: str, outcome: str) -> dict[str, Any]:
        """The view as plain data."""
        episode, capture = self._simulation.episode, self._capture
        box, motion = motion_data(capture.tracks())
        pairs, touches = _touches(capture)
        parts = {
            "motion": motion, "progress": _columns(self._progress, np.uint8), "flags": _columns(self._flags, np.uint8),
            "steps": np.array(self._steps, "<u2").tobytes(), **touches,
        }  # fmt: skip
        nodes = [(node.path, node.goal.json_kind, describe(node.goal, episode.scene)) for node in self._simulation.monitor.nodes()]
        spoken = spoken_subgoals(nodes, standing(episode.scene))
        ids = self._simulation.world.segmentation_ids()
        return {
            "schema": SCHEMA, "episode": episode.name, "policy": policy, "outcome": outcome, "moments": len(capture), "period": PERIOD,
            "tracks": len(capture.bodies) + sum(c.mount == "hand" for c in episode.scene.cameras), "box": box,
            "text": episode.instruction.text, "told": _told(episode), "still": self._still(),
            "goal": [{"path": path, "words": spoken[path]} for path, _, _ in nodes], "words": self._words,
            "things": {str(number): name for name, number in ids.items()}, "pairs": pairs,
            "robot": [] if self._sees_robot else [ROBOT, HAND],
            "cameras": [_camera(camera, capture, ids) for camera in episode.scene.cameras],
            "covered": [(moment, sorted(names)) for moment, names in capture.covered],
            "looks": capture.looks, "lights": [(moment, _lighting(light)) for moment, light in capture.lights],
            "visuals": [_visual(visual, capture) for visual in capture.visuals],
            "parts": {name: len(data) for name, data in parts.items()}, "data": text_of(b"".join(parts.values())), **self.models(),
        }  # fmt: skip

    def latest(self) -> dict[str, Any]:
        """The latest moment by itself: poses of the tracks, and how every sub-goal stands, as in all moments."""
        return {"poses": np.round(self._capture.latest(), 5).tolist(), "progress": self._progress[-1], "flags": self._flags[-1]}

    def changes(self) -> int:
        """How often what is to be seen has changed, places aside."""
        capture = self._capture
        return len(capture.looks) + len(capture.lights) + len(capture.covered)

    def surroundings(self) -> dict[str, Any]:
        """What is to be seen at the latest moment, wherever it is: for who looks on while it happens."""
        capture = self._capture
        return {
            "visuals": [_visual(visual, capture) for visual in capture.visuals], "looks": capture.looks[-1][1],
            "light": _lighting(capture.lights[-1][1]), "covered": sorted(capture.world.covered),
        }  # fmt: skip

    def models(self) -> dict[str, Any]:
        """Geometry and surfaces of all that was seen, by their names."""
        visuals = self._capture.visuals
        return {
            "meshes": {mesh_key(v.mesh): mesh_data(v.mesh) for v in visuals},
            "textures": {v.texture: texture_url(v.texture) for v in visuals},
        }

    def _still(self) -> str:
        """The last moment as a small picture inside a URL: what is seen before the view is opened, and on paper."""
        picture = Studio(self._simulation.world).shoot(main_camera(self._simulation), STILL, supersample=True).rgb
        return webp_url(picture, 80)


def _columns(rows: Sequence[Sequence[int]], kind: Any) -> bytes:
    """One column after the other: what changes seldom takes little room."""
    return np.array(rows, kind).T.tobytes()


def _touches(capture: Capture) -> tuple[list[tuple[str, str]], dict[str, bytes]]:
    """Who touches whom: every pair once, and by moment how many, which, where and how hard (N)."""
    pairs = list(dict.fromkeys((c.first, c.second) for moment in capture.contacts for c in moment))
    numbers = {pair: k for k, pair in enumerate(pairs)}
    every = [c for moment in capture.contacts for c in moment]
    forces = np.array([c.impulse for c in every]).reshape(-1, 3) * (NEWTON / PERIOD)
    places = np.array([c.position for c in every]).reshape(-1, 3) * METRE
    numeric = {name: np.rint(np.clip(v, -LARGEST, LARGEST)).astype("<i2") for name, v in (("forces", forces), ("places", places))}
    return pairs, {
        "touching": np.array([len(moment) for moment in capture.contacts], "<u2").tobytes(),
        "touched": np.array([numbers[c.first, c.second] for c in every], "<u2").tobytes(),
        **{name: values.T.tobytes() for name, values in numeric.items()},
    }


def _told(episode: Episode) -> list[dict[str, str]]:
    """The instruction part by part: words, or a picture with what it shows."""
    scene = told_in(episode)
    return [
        {"words": part.words} if isinstance(part, Words) else {"picture": data_url(part_picture(part, scene, PICTURE)), "words": part.words}
        for part in one_scale(episode.instruction).parts
    ]


def _numbers(pose: Pose) -> list[float]:
    return [round(v, 6) for v in (*pose.position, *pose.rotation)]


def _camera(camera: Camera, capture: Capture, ids: Mapping[str, int]) -> dict[str, Any]:
    kind = {"fov": camera.fov} if camera.fov is not None else {"extent": camera.extent}
    place = {"track": capture.track_of(camera), "pose": _numbers(capture.place_of(camera)), "hides": [ids[name] for name in camera.hides]}
    return {
        "name": camera.name,
        **kind,
        **place,
        "aspect": round(camera.size[0] / camera.size[1], 4),
        "near": camera.near,
        "far": camera.far,
    }


def _lighting(light: Lighting) -> dict[str, Any]:
    lamps = [(lamp.direction, lamp.colour) for lamp in (light.key, *light.fills)]
    return {"ambient": light.ambient, "lamps": lamps, "shadows": light.shadows, "background": light.background}


def _visual(visual: Visual, capture: Capture) -> dict[str, Any]:
    return {
        "mesh": mesh_key(visual.mesh), "track": capture.track_of(visual), "pose": _numbers(visual.pose), "texture": visual.texture,
        "span": visual.span, "thing": visual.entity, "alpha": visual.alpha, "shadow": visual.shadow, "gloss": visual.gloss,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ several, and in files


def viewed(
    episode: Episode,
    actions: Iterable[Array],
    words: Sequence[tuple[str, str]],
    policy: str,
    outcome: str,
    before: Callable[[Simulation], None] | None = None,
) -> dict[str, Any]:
    """The view of an episode whose actions are carried out once more, after what came ``before`` the first of them."""
    viewing = Viewing(sees_robot(episode))
    repeated(episode, actions, words, [viewing.begin], before)
    return viewing.data(policy, outcome)


def sees_robot(episode: Episode) -> bool:
    """Do the cameras of the episode see the robot?"""
    return episode.scene.robot is not None and episode.scene.robot.visible


def view_file(folder: Path, episode: str, mode: str) -> Path:
    """Where a run keeps the view of an episode."""
    return folder / "views" / f"{file_stem(episode, mode)}.json"


def write_view(path: Path, view: Mapping[str, Any]) -> None:
    """Write a view as one file of JSON; folders are made as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text(view, separators=(",", ":")) + "\n", encoding="utf-8")


def read_view(path: Path) -> dict[str, Any]:
    """The view in a file."""
    found = read_object(path)
    if found.get("schema") != SCHEMA or not {"meshes", "textures", "visuals", "data"} <= set(found):
        raise EtudeError(f"{path} is not a view that this etude can show; record the episode again, or see it with 'etude view EPISODE'")
    return found


def joined(views: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several views as one: geometry and textures that they share stand once."""
    shared: dict[str, dict[str, Any]] = {kind: {k: v for view in views for k, v in view[kind].items()} for kind in ("meshes", "textures")}
    return {**shared, "views": [{k: v for k, v in view.items() if k not in shared} for view in views]}
