"""What a scene looks like: its visuals, on the frames of its compiled model."""

from __future__ import annotations

import functools

import numpy as np

from etude.arithmetic import norm
from etude.catalog.mesh import Mesh, box, merge
from etude.catalog.registry import shape as find_shape
from etude.catalog.textures import known_texture
from etude.pose import Vec2, Vec3
from etude.scene.prototype import Prototype
from etude.scene.robots.anatomy import Look
from etude.scene.scene import Area, Body, Entity, Fixture, Floor, Marker, Particles, Scene, Specks, Table, Walls
from etude.scene.visual import FIRST_ENTITY, FLOOR, HAND, ROBOT, TABLE, WALLS, Visual

LIFT = 0.0004  # m: flat areas float this far above the table, so that they are seen


def visuals(scene: Scene, proto: Prototype, before: tuple[Visual, ...] = ()) -> tuple[Visual, ...]:
    """Everything there is to draw, in a fixed order; the tuple ``before`` itself where nothing of it has changed."""
    found = [*_room(scene.floor, scene.walls, scene.table), *_robot(scene, proto)]
    for i, entity in enumerate(scene.entities):
        found += _entity(entity, FIRST_ENTITY + i, proto)
    for visual in found:
        known_texture(visual.texture)
    same = len(found) == len(before) and all(a.looks_like(b) for a, b in zip(found, before, strict=True))
    return before if same else tuple(found)


def segmentation_ids(scene: Scene) -> dict[str, int]:
    """The id of every name in segmentation images (0 is the background)."""
    fixed = {"floor": FLOOR, "walls": WALLS, "table": TABLE, "robot": ROBOT, "hand": HAND}
    return fixed | {e.name: FIRST_ENTITY + i for i, e in enumerate(scene.entities)}


def _quad(corners: list[tuple[float, float, float]], uv: list[tuple[float, float]]) -> Mesh:
    """Four corners, counter-clockwise seen from the front."""
    v = np.array(corners)
    normal = np.cross(v[1] - v[0], v[2] - v[0])
    normals = np.tile(normal / norm(normal), (4, 1))
    return Mesh(v, normals, np.array(uv, float), np.array([(0, 1, 2), (0, 2, 3)], np.int32))


@functools.lru_cache(maxsize=64)
def _room(floor: Floor | None, walls: Walls | None, table: Table | None) -> tuple[Visual, ...]:
    found: list[Visual] = []
    centre = table.centre if table else (0.0, 0.0)
    low = floor.height if floor else (table.height - 0.7 if table else 0.0)
    if floor is not None:
        (cx, cy), h, z = centre, floor.size / 2, floor.height
        corners = [(cx - h, cy - h, z), (cx + h, cy - h, z), (cx + h, cy + h, z), (cx - h, cy + h, z)]
        mesh = _quad(corners, [(x, y) for x, y, _ in corners])
        found.append(Visual(0, mesh, floor.texture, span=floor.texture_span, entity=FLOOR, shadow=False, gloss=0.0))
    if walls is not None:
        mesh = _panels(walls, centre, low)
        found.append(Visual(0, mesh, walls.texture, span=walls.texture_span, entity=WALLS, shadow=False, gloss=0.0))
    if table is not None:
        found += _table(table, low)
    return tuple(found)


def _panels(walls: Walls, centre: Vec2, low: float) -> Mesh:
    (cx, cy), d, top = centre, walls.distance, walls.height
    ring = [(cx + d, cy - d), (cx + d, cy + d), (cx - d, cy + d), (cx - d, cy - d)]
    panels = []
    for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], ring[0]], strict=True):  # seen from inside: right to left
        corners = [(x1, y1, low), (x0, y0, low), (x0, y0, top), (x1, y1, top)]
        panels.append(_quad(corners, [(0, low), (2 * d, low), (2 * d, top), (0, top)]))
    return merge(panels)


def _table(table: Table, floor: float) -> list[Visual]:
    (x, y), (w, d) = table.centre, table.size
    slab = box((w, d, table.thickness), (x, y, table.height - table.thickness / 2))
    found = [Visual(0, slab, table.texture, span=table.texture_span, entity=TABLE)]
    under = table.height - table.thickness
    if table.legs and under - floor > 0.05:
        leg, inset = 0.05, 0.05
        corners = [(sx * (w / 2 - inset), sy * (d / 2 - inset)) for sx in (-1, 1) for sy in (-1, 1)]
        legs = merge(box((leg, leg, under - floor), (x + a, y + b, (under + floor) / 2)) for a, b in corners)
        found.append(Visual(0, legs, "#6b6f74", entity=TABLE))
    return found


def _robot(scene: Scene, proto: Prototype) -> list[Visual]:
    if scene.robot is None or not scene.robot.visible or proto.robot is None:
        return []
    model, arm, hand = proto.model, proto.robot.arm, proto.robot.hand

    def worn(looks: tuple[Look, ...], body: str, entity: int) -> list[Visual]:
        return [Visual(model.body(body).id, look.mesh, look.texture, entity=entity, gloss=0.3) for look in looks]

    found = worn(arm.base_looks, "robot", ROBOT)
    for i, link in enumerate(arm.links):
        found += worn(link.looks, f"link{i + 1}", ROBOT)
    found += worn(hand.looks, "hand", HAND)
    if hand.kind == "fingers":
        for side in ("left", "right"):
            found += worn(hand.finger_looks, f"{side} finger", HAND)
    return found


def _entity(entity: Entity, number: int, proto: Prototype) -> list[Visual]:
    if isinstance(entity, Body):
        mesh = find_shape(entity.shape, entity.size).mesh
        return [Visual(proto.bodies[entity.name], mesh, entity.texture, span=entity.texture_span, entity=number)]
    if isinstance(entity, Area):
        mesh = find_shape(entity.shape, entity.size).mesh
        pose = entity.pose.moved(z=LIFT)
        return [Visual(0, mesh, entity.texture, pose, entity.texture_span, number, shadow=False, gloss=0.0)]
    if isinstance(entity, Marker):
        mesh = find_shape(entity.shape, entity.size).mesh
        return [Visual(0, mesh, entity.texture, entity.pose, 0.1, number, alpha=entity.alpha, shadow=False)]
    if isinstance(entity, Specks):
        if not entity.positions:
            return []
        return [Visual(0, _cells(entity.size, entity.positions), entity.texture, entity=number, shadow=False, gloss=0.0)]
    if isinstance(entity, Fixture):
        return _fixture(entity, number, proto)
    assert isinstance(entity, Particles)
    grain = find_shape("sphere" if entity.kind_of == "sphere" else "cube", (entity.diameter,) * 3)
    return [Visual(int(b), grain.mesh, entity.texture, entity=number) for b in proto.particle_bodies[entity.name]]


@functools.lru_cache(maxsize=256)
def _cells(size: Vec3, positions: tuple[Vec3, ...]) -> Mesh:
    return merge(box(size, (x, y, z + size[2] / 2)) for x, y, z in positions)


def _fixture(entity: Fixture, number: int, proto: Prototype) -> list[Visual]:
    found = []
    for part in entity.parts:
        name = f"{entity.name}/{part.name}"
        for solid in part.solids:
            mesh = find_shape(solid.shape, solid.size).mesh
            pose = proto.frames[name] * solid.pose
            found.append(Visual(proto.bodies[name], mesh, solid.texture, pose, solid.texture_span, number))
    return found
