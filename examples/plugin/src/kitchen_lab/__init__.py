"""A suite with one task, a perturbation and a policy: whatever is registered here works in every command of etude."""

from dataclasses import replace

import numpy as np

from etude import Contract, Draft, Draw, Episode, Suite, instruction, perturbation
from etude.goals import OnTop
from etude.policies.register import register_policy
from etude.scene.rooms import xarm_room

kitchen = Suite(
    "kitchen",
    "Kitchen tasks",
    splits={"train": "training", "val": "validation", "test": "test"},
    room=xarm_room,
    workspace=((-0.4, -0.3), (0.05, 0.3)),
)


@kitchen.task(level="L1", horizon=300)
def cube_on_plate(draw: Draw) -> Draft:
    """Put the cube on the plate. Randomised: places, colours. Succeeds when the cube rests on the plate, let go."""
    scene = draw.scene()
    plate = scene.add("plate", fixed=True)
    cube = scene.add("cube", size=(0.05, 0.05, 0.05))
    told = instruction("Put ", cube.picture(), " on ", plate.picture(), ".")
    return scene.episode(OnTop(cube, plate), told, moved=[cube], receiving=[plate])


@perturbation("dusk", "scene", plausible=True)
def dusk(episode: Episode, stream: object) -> Episode:
    """Turn the lights down by half."""
    lighting = episode.scene.lighting
    dark = replace(lighting, ambient=tuple(0.5 * v for v in lighting.ambient))
    return replace(episode, scene=replace(episode.scene, lighting=dark))


@register_policy("hover")
class Hover:
    """Opens its hand and stays where it is."""

    contract = Contract.etude("ee_delta", cameras=("base",))

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return np.array([0, 0, 0, 0, 0, 0, -1.0])
