"""What an instruction says of a thing. A factor that would make it false, or tell the answer, does not apply to the episode."""

from __future__ import annotations

import re
from collections.abc import Sequence

from etude.episodes import Episode
from etude.names import EtudeError
from etude.prompts.instruction import ObjectPicture, ScenePicture, TexturePicture, Words
from etude.scene.scene import Area, Entity, Fixture

LOOKS = frozenset(("texture", "textured", "textures", "color", "colour", "colored", "coloured", "than"))
"""Words of instructions that go by looks. "than": what examples compare may be looks or sizes, and a new word does not say which."""

SIZES = frozenset(("size", "small", "smaller", "large", "larger", "medium", "short", "shorter", "tall", "taller", "than"))
_ANYTHING = frozenset(("object", "thing", "texture"))  # what can be said of everything


def role(episode: Episode, name: str, factor: str) -> tuple[str, ...]:
    """The things that are "manipulated" or "receiving", once each; what is both counts as manipulated. Refused where there are none."""
    manipulated = {thing for said, thing in episode.roles if said == "manipulated"}
    found = dict.fromkeys(t for said, t in episode.roles if said == name and (name == "manipulated" or t not in manipulated))
    if not found:
        raise EtudeError(f"{factor}: nothing is {name} in {episode.parsed.suite}/{episode.parsed.task}")
    return tuple(found)


def textures_of(entity: Entity) -> tuple[str, ...]:
    """What it wears: one texture, or those of the parts of a mechanism."""
    if isinstance(entity, Fixture):
        return tuple(dict.fromkeys(s.texture for part in entity.parts for s in part.solids))
    return (getattr(entity, "texture", ""),)


def spoken(texture: str) -> str:
    """How a texture is called: its name without the palette; empty for "#rrggbb", which has none."""
    plain = texture.rpartition("/")[2]
    return "" if plain.startswith("#") else plain


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters; plurals as one thing too."""
    found = re.findall(r"[a-z]+", text.lower())
    return frozenset([*found, *(w[:-1] for w in found if w.endswith("s"))])


def plain_words(episode: Episode) -> frozenset[str]:
    """Those of the instruction without what stands for pictures."""
    return words_of(" ".join(part.words for part in episode.instruction.parts if isinstance(part, Words)))


def refuse_told_look(episode: Episode, entity: Entity, factor: str) -> None:
    """Refuse to change how a thing looks where the instruction tells or shows it."""
    if LOOKS & plain_words(episode):
        raise EtudeError(f"{factor}: the instruction of {episode.name} goes by looks, and must stay true")
    if any(_said(episode.instruction.text, entity, texture) for texture in textures_of(entity)) or _pictured(episode, entity):
        raise EtudeError(f"{factor}: the instruction of {episode.name} says how {entity.name!r} looks, and must stay true")


def _said(text: str, entity: Entity, texture: str) -> bool:
    """Does the text speak of the thing by its texture ("the red object", "the red container")?"""
    look = spoken(texture)
    if not look:
        return False
    own = _ANYTHING | words_of(f"{entity.name} {getattr(entity, 'shape', '')}") | ({"area"} if isinstance(entity, Area) else set())
    return any(words_of(match[1]) & own for match in re.finditer(rf"\b{re.escape(look)} +([a-z]+)", text.lower()))


def _pictured(episode: Episode, entity: Entity) -> bool:
    shape, worn = getattr(entity, "shape", ""), textures_of(entity)
    for part in episode.instruction.parts:
        if isinstance(part, ObjectPicture) and part.texture in worn and part.shape == shape:
            return True
        if isinstance(part, TexturePicture) and part.texture in worn:
            return True
        if isinstance(part, ScenePicture) and any(t.name == entity.name or _alike(t, entity) for t in part.things):
            return True
    return False


def _alike(one: Entity, other: Entity) -> bool:
    return textures_of(one) == textures_of(other) and getattr(one, "shape", "") == getattr(other, "shape", "")


def refuse_told_size(episode: Episode, names: Sequence[str], factor: str) -> None:
    """Refuse to change the size of things where the instruction goes by sizes, or a picture of it shows where they go."""
    if SIZES & plain_words(episode) or any(isinstance(p, ObjectPicture) and p.frame is not None for p in episode.instruction.parts):
        raise EtudeError(f"{factor}: the instruction of {episode.name} goes by sizes, and must stay true")
    for part in episode.instruction.parts:
        if isinstance(part, ScenePicture) and ({n for n, _ in part.poses} | {t.name for t in part.things}) & set(names):
            raise EtudeError(f"{factor}: a picture in the instruction of {episode.name} shows its things in their size, and must stay true")
