"""Policies that misbehave in one episode, each in its own way."""

from __future__ import annotations

import os
import time

import numpy as np

from etude.policies.contract import Contract

BAD = "clevrskills/touch@train#1"


class Faulty:
    """Does nothing, but for one episode in which it does something it should not."""

    contract = Contract(chunk=4)

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._episode = ""

    def reset(self, instruction, pictures, episode):
        self._episode = episode

    def act(self, observation):
        fine = np.zeros((2, 7))
        if self._episode != BAD:
            return fine
        if self._fault == "crash":
            os.kill(os.getpid(), 11)
        if self._fault == "leave":
            os._exit(7)
        if self._fault == "hang":
            time.sleep(3600)
        if self._fault == "memory":
            self._hoard = [np.ones(2**27) for _ in range(3)]  # 3 GiB
            time.sleep(3600)
        if self._fault == "raise":
            raise RuntimeError("out of luck\nand of words")
        return {"text": "left"}[self._fault]


class Heavy:
    """Ends its process while it is being made."""

    def __init__(self) -> None:
        os._exit(3)


class WrongSign:
    """Closes the hand at −1."""

    contract = Contract(closes=-1)

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return np.zeros(7)


class Looking:
    """Wants pictures and a multimodal instruction, and refuses to act without them."""

    contract = Contract(cameras=("base", "hand_view"), size=(48, 32), modalities=("rgb", "depth"), told="multimodal", chunk=50, execute=5)

    def reset(self, instruction, pictures, episode):
        assert instruction.count("{image:") == len(pictures) > 0
        assert all(p.shape == (48, 48, 3) for p in pictures)

    def act(self, observation):
        assert observation["base"].shape == (32, 48, 3) and observation["hand_view_depth"].shape == (32, 48)
        assert "simulation" not in observation
        return np.zeros((50, 7))


class Wordless:
    """Plans, and says something nobody understands."""

    contract = Contract()

    def reset(self, instruction, pictures, episode):
        pass

    def next_subtask(self, observation, instruction, history):
        return "Dance!"
