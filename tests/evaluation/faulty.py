"""Policies that misbehave in one episode, each in its own way."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np

from etude.policies.contract import Contract

BAD = "clevrskills/touch@test#1"


class Faulty:
    """Does nothing, but for one episode in which it does something it should not."""

    contract = Contract.etude("ee_delta", chunk=4)

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._episode = ""

    def reset(self, instruction, pictures, episode):
        self._episode = episode

    def act(self, observation):
        fine = np.zeros((2, 7))
        if self._episode != BAD or self._fault == "none":
            return fine
        if self._fault == "crash":
            os.kill(os.getpid(), 11)
        if self._fault == "leave":
            os._exit(7)
        if self._fault == "hang":
            time.sleep(3600)
        if self._fault == "memory":
            self._hoard = np.ones(2**27)  # 1 GiB
            time.sleep(3600)
        if self._fault == "raise":
            raise RuntimeError("out of luck\nand of words")
        if self._fault == "surrogate":
            raise RuntimeError(os.fsdecode(b"no file \x80.npz"))
        return {"text": "left"}[self._fault]


class Moody(Faulty):
    """Ends its worker, one way or the other, in every second episode."""

    def __init__(self) -> None:
        super().__init__("none")

    def reset(self, instruction, pictures, episode):
        seed = int(episode.partition("#")[2])
        self._episode = BAD if seed % 2 else ""
        self._fault = ("crash", "leave", "hang")[seed // 2 % 3]


class Heavy:
    """Ends its process while it is being made."""

    def __init__(self) -> None:
        os._exit(3)


class WrongRate:
    """Acts seven times a second, which no number of control steps is."""

    contract = Contract.etude("ee_delta", rate=7.0)

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return np.zeros(7)


class Looking:
    """Wants pictures and a multimodal instruction, and refuses to act without them."""

    contract = Contract.etude(
        "ee_delta", cameras=("base", "hand_view"), size=(48, 32), modalities=("rgb", "depth"), told="multimodal", chunk=50, execute=5
    )

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


class Garbled(Wordless):
    """Plans, and says what no file can hold as it stands."""

    def next_subtask(self, observation, instruction, history):
        return "Dance \udc80"


class Parent(Faulty):
    """Starts a process of its own for each episode, as a data loader does, and notes its number in ``place``; hangs in one of them."""

    def __init__(self, place: str, fault: str = "hang") -> None:
        super().__init__(fault)
        self._place = place

    def reset(self, instruction, pictures, episode):
        super().reset(instruction, pictures, episode)
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3600,))
        child.start()
        (Path(self._place) / f"{child.pid}.pid").touch()


class Unsteady(Faulty):
    """Ends its process while it is being made, in the starts from ``first`` to ``last``, counted over all processes in ``place``;
    once made, it plays when there have been ``met`` starts."""

    def __init__(self, place: str, first: int, last: int, met: int = 0) -> None:
        super().__init__("none")
        self._place, self._met = Path(place), met
        (Path(place) / str(os.getpid())).touch()
        if first <= len(list(Path(place).iterdir())) <= last:
            os._exit(3)

    def reset(self, instruction, pictures, episode):
        super().reset(instruction, pictures, episode)
        while len(list(self._place.iterdir())) < self._met:
            time.sleep(0.02)


class Quitter(Faulty):
    """Asks to end the process, as a script with a mistake in its arguments does."""

    def __init__(self, at: str) -> None:
        super().__init__("none")
        self._at = at
        if at == "once":
            sys.exit(0)

    def act(self, observation):
        if self._episode == BAD:
            sys.exit(0)
        return super().act(observation)


class Told(Faulty):
    """Notes in ``place`` how many threads a library that it loads would compute on."""

    def __init__(self, place: str) -> None:
        super().__init__("none")
        (Path(place) / "threads").write_text(os.environ.get("OMP_NUM_THREADS", "all"))
