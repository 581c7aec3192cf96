"""The URL of a policy server, and what is agreed with the server that is found there.

A server of openpi does not say what it expects; its URL does:
:data:`EXAMPLE` is one. Any field of :class:`~etude.policies.contract.Contract` may stand there, and all conventions must: nothing is taken
for granted of a model that does not know etude. A server started with ``etude serve-policy`` declares its contract itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import norm
from etude.names import EtudeError, pick, unknown
from etude.policies.contract import Contract, owned, undeclared
from etude.policies.policy import Observation
from etude.pose import Array

ROUNDING = 1e-6  # the last digits of a quaternion in single precision


def libero(observation: Observation, cameras: Sequence[str]) -> dict[str, Any]:
    """The observation under the keys of openpi's LIBERO policies."""
    sent: dict[str, Any] = dict(zip(("observation/image", "observation/wrist_image"), (observation[c] for c in cameras), strict=False))
    sent["observation/state"] = libero_state(observation)
    sent["prompt"] = observation["instruction"]
    return sent


def libero_state(observation: Observation) -> NDArray[np.float32]:
    """Float32 (8,): tip position (m, world), tip rotation as axis times angle (rad), places of the two fingers (m, of opposite sign)."""
    felt = np.asarray(observation["proprioception"], float)
    position, rotation, opening = felt[-10:-7], felt[-7:-3], felt[-1]
    return np.concatenate([position, axis_angle(rotation), (opening / 2, -opening / 2)]).astype(np.float32)


def axis_angle(quaternion: Array) -> Array:
    """The axis times the angle in [0, π], (3,), of a quaternion wxyz.

    A quaternion and its negative are one rotation, so both give the same: the one with w ≥ 0 is taken, and of half turns (w = 0) the one
    whose axis begins with a positive number. A hand that points straight down is half turned, so what is 0 but for rounding counts as 0.
    """
    q = np.asarray(quaternion, float)
    leading = q[np.flatnonzero(np.abs(q) > ROUNDING)[:1]]
    if (leading < 0).any():
        q = -q
    sine = norm(q[1:])
    angle = 2.0 * math.atan2(sine, float(q[0]))
    return q[1:] / sine * angle if sine > 0 else np.zeros(3)


def _own(observation: Observation, cameras: Sequence[str]) -> dict[str, Any]:
    return {**observation, "prompt": observation["instruction"]}


LAYOUTS: dict[str, Callable[[Observation, Sequence[str]], dict[str, Any]]] = {"etude": _own, "libero": libero}


EXAMPLE = (
    "layout=libero&action=ee_delta&frame=tip&rotation=axis_angle&scale=0.1&closes=1&rate=20&cameras=base,hand_view&size=224x224"
    "&orientation=upright&chunk=10&execute=5"
)


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _size(text: str) -> list[int]:
    width, height = (int(n) for n in text.split("x"))
    if width < 1 or height < 1:
        raise ValueError
    return [width, height]


def _pair(text: str) -> list[float]:
    opened, closed = (float(n) for n in text.split(","))
    return [opened, closed]


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def _some_seconds(text: str) -> float:
    if not (seconds := _seconds(text)):
        raise ValueError
    return seconds


_READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "scale": (float, "a number of metres"),
    "closes": (int, "1 or -1"),
    "rate": (float, "a number of actions for each second"),
    "cameras": (_words, "names with commas, like base,hand_view"),
    "size": (_size, "width and height, like 224x224"),
    "modalities": (_words, "names with commas, like rgb,depth"),
    "called": (_words, "names with commas, one for each camera"),
    "hand": (_pair, "the numbers for open and closed, like 0,1"),
    "chunk": (int, "a whole number"),
    "execute": (int, "a whole number"),
    "joints": (int, "the number of joints of the arm"),
    "timeout": (_some_seconds, "a number of seconds above 0"),
    "connect": (_seconds, "a number of seconds"),
}
_FIELDS = tuple(f.name for f in fields(Contract) if f.name not in ("privileged", "own"))


def stated(query: str, where: str, more: Sequence[str], among: Sequence[str] = _FIELDS) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands after the ? of an address, read: fields of the contract, ``among`` those that may stand there, as plain data, and
    ``more`` options that there may be.

    ``where`` says in errors what kind of address it is."""
    options: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name in options:
            raise EtudeError(f"option {name!r} is given twice in the {where}")
        if name not in (*among, *more):
            raise unknown(f"option of a {where}:", name, (*among, *more))
        read, wanted = _READERS.get(name, (str, ""))
        try:
            options[name] = read(text)
        except ValueError:
            raise EtudeError(f"{name}={text} in the {where}: expected {wanted}") from None
    return {name: options.pop(name) for name in among if name in options}, options


@dataclass(frozen=True)
class Agreement:
    """What was settled with a server: the contract, whether the server ``declared`` it, and whether it is told of ``resets``."""

    contract: Contract
    declared: bool
    resets: bool


@dataclass(frozen=True)
class Address:
    """A policy URL in its parts: where the server is, and what the URL says about it.

    ``stated`` are fields of the contract as plain data; ``layout`` names the keys the server wants; ``timeout`` is the longest wait for an
    answer and ``connect`` the longest wait for a server that is not up yet, in seconds.
    """

    uri: str
    shown: str
    stated: dict[str, Any] = field(default_factory=dict)
    layout: str | None = None
    timeout: float = 60.0
    connect: float = 20.0

    @classmethod
    def parse(cls, url: str) -> Address:
        """The address written as ``url``; raises :class:`EtudeError` that says which part is wrong."""
        form = "the form is ws://host:port?option=value&…"
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise EtudeError(f"{url!r} is not the URL of a policy server: {error}; {form}") from None
        if parts.scheme not in ("ws", "wss") or not host or parts.fragment:
            raise EtudeError(f"{url!r} is not the URL of a policy server; {form}")
        said, options = stated(parts.query, "policy URL", ("layout", "timeout", "connect"))
        pick("layout", options.get("layout", "etude"), LAYOUTS)
        place = f"[{host}]" if ":" in host else host
        shown = f"{parts.scheme}://{place}{f':{port}' if port is not None else ''}{parts.path.rstrip('/')}"
        return cls(parts._replace(query="").geturl(), shown, said, **options)

    def agreed(self, metadata: dict[str, Any]) -> Agreement:
        """The agreement with a server that introduced itself with this metadata."""
        introduction = metadata.get("etude")
        if introduction is not None:
            found = Agreement(self._declared(introduction), declared=True, resets=introduction.get("reset") is True)
            if open_fields := undeclared(found.contract):
                who = f"the policy server at {self.shown}"
                example = f"as etude has them: {self.shown}?{owned(found.contract, '&')}" if found.contract.action else EXAMPLE
                raise EtudeError(f"{who} declares a contract without {', '.join(open_fields)}: say them there, or in the URL; {example}")
        elif self.stated or self.layout:
            found = Agreement(Contract.from_data(self.stated), declared=False, resets=False)
            if open_fields := undeclared(found.contract):
                raise EtudeError(
                    f"the policy server at {self.shown} does not say its {', '.join(open_fields)}, and neither does the URL; of a model"
                    f" that speaks as etude does: {EXAMPLE}"
                )
        else:
            raise EtudeError(f"the policy server at {self.shown} does not say what it expects; say it: {self.shown}?{EXAMPLE}")
        if self.layout == "libero" and ("rgb" not in found.contract.modalities or len(found.contract.cameras) not in (1, 2)):
            raise EtudeError("layout=libero wants one or two cameras with rgb, for example cameras=base,hand_view")
        return found

    def _declared(self, introduction: Any) -> Contract:
        try:
            data = introduction["contract"]
            json.dumps(data, allow_nan=False)  # an array where a number belongs must not get as far as being compared
            contract = Contract.from_data(data)
        except EtudeError as error:
            raise EtudeError(f"the policy server at {self.shown} declares a contract that cannot be read: {error}") from None
        except (TypeError, ValueError, LookupError, RecursionError):
            raise EtudeError(
                f'the policy server at {self.shown} does not introduce itself as {{"contract": {{…}}, "reset": true}}'
            ) from None
        if contract.privileged:
            raise EtudeError(f"the policy server at {self.shown} wants the true state, which is not sent over a socket")
        declared = contract.to_data()
        for name, said in self.stated.items():
            if declared[name] not in (None, said):
                raise EtudeError(f"{name}: the URL says {said!r}, the policy server at {self.shown} declares {declared[name]!r}")
        return Contract.from_data({**declared, **self.stated})
