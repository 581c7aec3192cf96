"""Scenes as data, and worlds made of them. Importing this loads neither MuJoCo nor numba; ``World`` does, when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etude.scene.scene import (
    Area,
    Body,
    Camera,
    Entity,
    Fixture,
    Floor,
    Joint,
    Latch,
    Light,
    Lighting,
    Marker,
    Part,
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
    from etude.scene.world import State, World

__all__ = [
    "Area", "Body", "Camera", "Entity", "Fixture", "Floor", "Joint", "Latch", "Light", "Lighting", "Marker", "Part", "Particles",
    "Robot", "Scene", "Solid", "Specks", "State", "Table", "Walls", "World", "look_at",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("World", "State"):
        from etude.scene import world

        return getattr(world, name)
    raise AttributeError(f"module 'etude.scene' has no attribute {name!r}")
