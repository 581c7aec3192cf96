"""What environments are told, looked at before anything is made of it. Gymnasium hands arguments on as they are."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from etude.names import EtudeError, unknown

LAST_SEED = 10**18 - 1  # what an episode's name can hold
RENDER_MODES = ("rgb_array", "human")
RESET_OPTIONS = ("episode",)


def text(value: Any, what: str) -> str:
    """``value``, if it is text."""
    if not isinstance(value, str):
        raise EtudeError(f"{what} must be text, got {value!r:.60}")
    return value


def choice(value: Any, what: str, valid: Iterable[str]) -> str:
    """``value``, if it is one of these."""
    if value not in (known := tuple(valid)):
        raise unknown(what, text(value, f"the {what}"), known)
    return str(value)


def switch(value: Any, what: str) -> bool:
    """``value``, if it is True or False: the text "no" would count as yes."""
    if not isinstance(value, bool):
        raise EtudeError(f"{what} must be True or False, got {value!r:.60}")
    return value


def listed(values: Any, what: str) -> tuple[str, ...]:
    """Several names. One text is not a list of its letters."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(isinstance(value, str) for value in values):
        hint = f"; for one of them write ({values!r},)" if isinstance(values, str) else ""
        raise EtudeError(f"{what} must be a list of names, got {values!r:.60}{hint}")
    return tuple(values)


def episode_options(options: Any) -> dict[str, str]:
    """Options that become part of an episode's name."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(k, str) and type(v) in (str, int) for k, v in options.items()):
        raise EtudeError(f"options must be a dict of texts, like {{'robot': 'panda'}}; got {options!r:.60}")
    return {key: str(value) for key, value in options.items()}


def seed_or_none(seed: Any) -> int | None:
    """The seed as a plain int; NumPy's whole numbers are taken, True is not."""
    if seed is None:
        return None
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, bool) or not 0 <= number <= LAST_SEED:
        raise EtudeError(f"a seed is a whole number from 0 to {LAST_SEED}, got {seed!r:.60}")
    return number


def asked_episode(options: Any) -> str | None:
    """The name given to ``reset`` as ``options={"episode": name}``; None without options."""
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise EtudeError(f'options of reset must be a dict, like {{"episode": name}}; got {options!r:.60}')
    for key in options:
        choice(key, "option of reset", RESET_OPTIONS)
    return text(options["episode"], "the episode") if "episode" in options else None
