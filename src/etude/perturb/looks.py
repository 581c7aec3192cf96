"""Factors that change how something looks: the things of a task, the light, the table, what is behind it (The Colosseum's)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from etude.catalog.colours import SEEN
from etude.catalog.textures import NUMBERED
from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.telling import refuse_told_look, role, spoken, textures_of, words_of
from etude.scene.scene import Entity, Fixture, FixturePart, Light, Scene

DARKEST = 0.25  # of each colour of a table: The Colosseum's range is from here to 1
DIMMEST = 0.5  # of each colour of the lights that is left
COLOURS, TEXTURES, ROOM, BEHIND = -5, -4, -3, -2  # ranks: a texture hides the colour before it
Draw = Callable[[Stream, Entity | FixturePart, frozenset[str]], str]


def _colour(stream: Stream, thing: Entity | FixturePart, said: frozenset[str]) -> str:
    """One of the twenty colours: not one it has, nor one that the instruction calls something else by."""
    worn = {spoken(t) for t in (_worn(thing) if isinstance(thing, FixturePart) else textures_of(thing))}
    return stream.choice([c for c in SEEN if c not in worn and c not in said])


def _texture(stream: Stream, thing: Entity | FixturePart, said: frozenset[str]) -> str:
    return f"numbered {stream.integer(0, NUMBERED - 1)}"


def _worn(part: FixturePart) -> tuple[str, ...]:
    return tuple(s.texture for s in part.solids)


def _painted(episode: Episode, whose: str, factor: str, draw: Draw, stream: Stream) -> Episode:
    """Every thing of a role in a look of its own; a mechanism part by part. "fixture/part" is that part alone."""
    scene, said = episode.scene, words_of(episode.instruction.text)
    for name in role(episode, whose, factor):
        root, _, part = name.partition("/")
        entity = scene.entity(root)
        refuse_told_look(episode, entity, factor)
        scene = scene.changed(_worn_anew(entity, part, said, draw, stream))
    return replace(episode, scene=scene)


def _worn_anew(entity: Entity, only: str, said: frozenset[str], draw: Draw, stream: Stream) -> Entity:
    if not isinstance(entity, Fixture):
        return replace(entity, texture=draw(stream, entity, said))  # type: ignore[type-var]
    parts = []
    for part in entity.parts:
        if only and part.name != only:
            parts.append(part)
            continue
        texture = draw(stream, part, said)
        parts.append(replace(part, solids=tuple(replace(s, texture=texture) for s in part.solids)))
    return replace(entity, parts=tuple(parts))


@perturbation("mo_color", "scene", plausible=True, varies="the colour of what is moved", rank=COLOURS, factor=True)
def mo_color(episode: Episode, stream: Stream) -> Episode:
    """Give the manipulated things other colours. Refused where the instruction says how they look."""
    return _painted(episode, "manipulated", "mo_color", _colour, stream)


@perturbation("ro_color", "scene", plausible=True, varies="the colour of what receives", rank=COLOURS, factor=True)
def ro_color(episode: Episode, stream: Stream) -> Episode:
    """Give the receiving things other colours. Refused where the instruction says how they look."""
    return _painted(episode, "receiving", "ro_color", _colour, stream)


@perturbation("mo_texture", "scene", plausible=True, varies="the pattern of what is moved", rank=TEXTURES, factor=True)
def mo_texture(episode: Episode, stream: Stream) -> Episode:
    """Give the manipulated things patterns that no task knows. Refused where the instruction says how they look."""
    return _painted(episode, "manipulated", "mo_texture", _texture, stream)


@perturbation("ro_texture", "scene", plausible=True, varies="the pattern of what receives", rank=TEXTURES, factor=True)
def ro_texture(episode: Episode, stream: Stream) -> Episode:
    """Give the receiving things patterns that no task knows. Refused where the instruction says how they look."""
    return _painted(episode, "receiving", "ro_texture", _texture, stream)


# ------------------------------------------------------------------------------------------------ the room


@perturbation("light_color", "scene", plausible=True, varies="the colour of the light", rank=ROOM, factor=True)
def light_color(episode: Episode, stream: Stream) -> Episode:
    """Tint the light."""
    tint = [stream.uniform(DIMMEST, 1.0) for _ in range(3)]

    def tinted(light: Light) -> Light:
        r, g, b = (c * t for c, t in zip(light.colour, tint, strict=True))
        return replace(light, colour=(r, g, b))

    lighting = episode.scene.lighting
    changed = replace(lighting, key=tinted(lighting.key), fills=tuple(tinted(f) for f in lighting.fills))
    return replace(episode, scene=replace(episode.scene, lighting=changed))


@perturbation("table_color", "scene", plausible=True, varies="the colour of the table", rank=ROOM, factor=True)
def table_color(episode: Episode, stream: Stream) -> Episode:
    """Give the table another colour."""
    r, g, b = (round(255 * stream.uniform(DARKEST, 1.0)) for _ in range(3))
    return _laid(episode, "table_color", f"#{r:02x}{g:02x}{b:02x}")


@perturbation("table_texture", "scene", plausible=True, varies="the pattern of the table", rank=ROOM, factor=True)
def table_texture(episode: Episode, stream: Stream) -> Episode:
    """Give the table a pattern that no task knows."""
    return _laid(episode, "table_texture", f"numbered {stream.integer(0, NUMBERED - 1)}")


def _laid(episode: Episode, factor: str, texture: str) -> Episode:
    table = episode.scene.table
    if table is None:
        raise EtudeError(f"{factor}: there is no table in {episode.parsed.suite}/{episode.parsed.task}")
    return replace(episode, scene=replace(episode.scene, table=replace(table, texture=texture)))


@perturbation("background_texture", "scene", plausible=True, varies="what is behind the table", rank=BEHIND, factor=True)
def background_texture(episode: Episode, stream: Stream) -> Episode:
    """Give what is behind the table another look: the walls, without walls the floor, without either the empty background a colour."""
    scene = episode.scene
    texture = f"numbered {stream.integer(0, NUMBERED - 1)}"
    tint = (stream.uniform(DARKEST, 1.0), stream.uniform(DARKEST, 1.0), stream.uniform(DARKEST, 1.0))
    return replace(episode, scene=_behind(scene, texture, tint))


def _behind(scene: Scene, texture: str, tint: tuple[float, float, float]) -> Scene:
    if scene.walls is not None:
        return replace(scene, walls=replace(scene.walls, texture=texture))
    if scene.floor is not None:
        return replace(scene, floor=replace(scene.floor, texture=texture))
    return replace(scene, lighting=replace(scene.lighting, background=tint))
