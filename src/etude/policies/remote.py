"""A policy that runs somewhere else and is reached over a WebSocket. The wire is openpi's, so its servers can be evaluated as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from etude.envs.simulation import SIZES
from etude.names import EtudeError
from etude.policies.address import LAYOUTS, Address
from etude.policies.contract import ROTATION_NUMBERS, Contract
from etude.policies.policy import Observation, Picture
from etude.policies.wire import pack
from etude.policies.wire_client import WireClient
from etude.pose import Array


class PolicyError(EtudeError):
    """A policy server was not there, did not answer in time, or answered something that is no action."""


class RemotePolicy:
    """The policy behind ``ws://host:port[/path][?options]``; see :class:`~etude.policies.address.Address` for the options.

    The first connection is made at once, because the contract comes from the server. Whatever goes wrong later is a :class:`PolicyError`
    that ends the episode; the next :meth:`reset` connects again.
    """

    def __init__(self, url: str) -> None:
        self._address = address = Address.parse(url)
        hint = "start one with `etude serve-policy`"
        self._client = WireClient(address.uri, address.shown, address.timeout, address.connect, "policy server", hint, PolicyError)
        with self._client.dropped_on_error():
            self._agreement = self._address.agreed(self._client.connect())
        self.contract = self._agreement.contract

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """A new episode begins; the server is told if it wants to be, and connected again if it was lost."""
        with self._client.dropped_on_error():
            if not self._client.opened:
                self.close()
                if self._address.agreed(self._client.connect()) != self._agreement:
                    raise PolicyError(f"{self._client.where} came back with another contract")
            if self._agreement.resets:
                told = {"__ctrl__": "reset", "instruction": instruction, "pictures": list(pictures), "episode": episode}
                if self._client.ask(pack(told)).get("ok") is not True:
                    raise PolicyError(f"{self._client.where} did not accept the new episode")

    def act(self, observation: Observation) -> Array:
        """The server's next actions (H, D) or (D,), in the space of the contract."""
        message = pack(LAYOUTS[self._address.layout or "etude"](observation, self.contract.picture_names))
        with self._client.dropped_on_error():
            return self._actions(self._client.ask(message), observation)

    def close(self) -> None:
        """End the connection, if there is one."""
        self._client.close()

    def _actions(self, answer: dict[str, Any], observation: Observation) -> Array:
        where = self._client.where
        if "actions" not in answer:
            raise PolicyError(f"{where} answered without 'actions'; it sent {', '.join(map(repr, answer)) or 'nothing'}"[:300])
        found = answer["actions"]
        if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
            what = f"an array of {found.dtype}" if isinstance(found, np.ndarray) else type(found).__name__
            raise PolicyError(f"{where} sent {what} as actions; expected an array of numbers")
        width = _width(self.contract, observation)
        if found.ndim not in (1, 2) or (width is not None and found.shape[-1] != width) or not found.size:
            expected = f"{self.contract.action!r} is ({width},) or (H, {width})" if width else "expected (D,) or (H, D)"
            raise PolicyError(f"{where} sent actions of shape {found.shape}; {expected}")
        with np.errstate(over="ignore"):  # what does not fit into a float becomes infinite, and is refused as such
            actions = found.astype(np.float64)
        if not np.isfinite(actions).all():
            raise PolicyError(f"{where} sent actions that are not finite")
        chunk = self.contract.chunk
        if actions.ndim == 2 and len(actions) > chunk and (self._agreement.declared or "chunk" not in self._address.stated):
            hint = "" if self._agreement.declared else f"; say chunk={len(actions)} in the URL, or how many of them to use"
            raise PolicyError(f"{where} sent {len(actions)} actions at once, its contract says chunk={chunk}{hint}")
        return actions[:chunk] if actions.ndim == 2 else actions


def _width(contract: Contract, observation: Observation) -> int | None:
    """Numbers in an action; None where the task decides. Proprioception is the values and velocities of the joints and ten numbers more."""
    if contract.action == "joint":
        return (len(observation["proprioception"]) - 10) // 2 + 1
    if contract.rotation is not None and contract.action in ("ee_delta", "ee_pose", "keypose"):
        return 4 + ROTATION_NUMBERS.get(contract.rotation, 0)
    return SIZES.get(contract.action, 1) if contract.action is not None else None
