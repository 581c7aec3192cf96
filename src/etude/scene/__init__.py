"""Scenes as data, and worlds made of them. Importing this loads neither MuJoCo nor numba; ``World`` does, when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etude.scene.scene import (
    Area,
    Body,
    Camera,
    Entity,
    Fixture,
    FixturePart,
    Floor,
    Joint,
    Latch,
    Light,
    Lighting,
    Marker,
    Particles,
    Robot,
    Scene,
    Solid,
    Specks,
    Table,
    Walls,
    look_at,
)

if TYPE_CHECKING:
    from etude.scene.world import World, WorldState

__all__ = [
    "Area",
    "Body",
    "Camera",
    "Entity",
    "Fixture",
    "FixturePart",
    "Floor",
    "Joint",
    "Latch",
    "Light",
    "Lighting",
    "Marker",
    "Particles",
    "Robot",
    "Scene",
    "Solid",
    "Specks",
    "Table",
    "Walls",
    "World",
    "WorldState",
    "look_at",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("World", "WorldState"):
        from etude.scene import world

        return getattr(world, name)
    raise AttributeError(f"module 'etude.scene' has no attribute {name!r}")
