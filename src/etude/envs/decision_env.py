"""The Gymnasium environment of decisions: frames are shown one after the other, and the subject answers or keeps silent."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from etude.arithmetic import total
from etude.decisions.prompts import expected
from etude.decisions.showing import PIXELS, pictures, told
from etude.decisions.space import CATEGORIES, QUARTERS
from etude.decisions.stimuli.models import PALETTES
from etude.decisions.trial import SILENT, Trial
from etude.envs.actions import numbers
from etude.envs.arguments import asked_episode, choice, seed_or_none, text
from etude.envs.env import CHARSET
from etude.envs.observer import LONGEST_TEXT, Observation
from etude.envs.task_env import TaskEnv, shown
from etude.episodes import picture_size
from etude.library import tasks
from etude.library import trial as find_trial
from etude.names import EtudeError, unknown

# What every action means, in all tasks alike: silence, truth, places, categories, numbers, colours. New answers come at the end.
ANSWERS: tuple[str, ...] = (SILENT, "true", "false", *QUARTERS, *CATEGORIES, *(str(n) for n in range(10)), *PALETTES)
_NUMBERS = {answer: number for number, answer in enumerate(ANSWERS)}


class DecisionEnv(TaskEnv[np.int64]):
    """Shows the trials of one list, one frame a step.

    ``reset(seed=k)`` shows ``suite/task@split#k``; ``reset(options={"episode": name})`` any trial of the list by name. Without a seed the
    next one is drawn from the environment's own generator. Frames are ``size`` pixels wide and high.

    Observations: the ``frame``, the ``instruction`` as text, and ``cue``: 1 on the frames on which an answer is to be given. An action is
    the number of an answer in :data:`ANSWERS`, 0 for silence. A right answer gives a reward of 1, everything else 0. A trial ends with its
    last frame, which is then seen once more, without a cue.

    ``info``: ``answer`` is the right action for the frame that is seen, ``choices`` are the answers a subject may choose from, by their
    numbers. ``progress`` is the share of the questions that were answered rightly; ``success`` (also ``is_success``) means that all of
    them were, and that silence was kept otherwise.
    """

    metadata = shown(1)

    def __init__(self, suite: str, task: str, split: str = "val", size: int = PIXELS, render_mode: str | None = None) -> None:
        known = tasks(text(suite, "the suite"))
        choice(task, f"task of {suite}", known)
        choice(split, f"split of {suite}/{task}", known[task].splits)
        size, _ = picture_size((size, size), "the size of a frame")
        super().__init__(suite, task, split, render_mode)
        self._size = size
        self.observation_space = spaces.Dict({
            "frame": spaces.Box(0, 255, (size, size, 3), np.uint8),
            "instruction": spaces.Text(LONGEST_TEXT, min_length=0, charset=CHARSET),
            "cue": spaces.Discrete(2),
        })  # fmt: skip
        self.action_space = spaces.Discrete(len(ANSWERS))
        self._trial: Trial | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Show the first frame of a trial; see the class."""
        seed, name = seed_or_none(seed), asked_episode(options)
        super().reset(seed=seed)
        if name is not None:
            trial = find_trial(name)
            if (trial.parsed.suite, trial.parsed.task) != (self._suite, self._task):
                raise EtudeError(f"{trial.name} is not a trial of {self._suite}/{self._task}")
        else:
            trial = find_trial(self._name(self._seed(seed)))
        for answer in (*trial.choices, *trial.answers):
            if answer not in _NUMBERS:
                raise unknown("answer", answer, ANSWERS[1:])
        self._trial, self._frames, self._text = trial, pictures(trial, self._size), told(trial)
        self._given: list[str] = []
        self._show()
        return self._observe(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Answer, or keep silent, and see the next frame."""
        trial, at = self.trial, len(self._given)
        if at == len(trial.frames):
            raise EtudeError("the trial is over; call reset()")
        form = f"a whole number from 0 to {len(ANSWERS) - 1}"
        number = numbers(action, "the action", form)
        if number.size != 1 or number.item() not in range(len(ANSWERS)):
            raise EtudeError(f"an action is {form}, got {action!r:.60}")
        self._given.append(ANSWERS[int(number.item())])
        self._show()
        reward = float(trial.answers[at] != SILENT and self._given[at] == trial.answers[at])
        return self._observe(), reward, len(self._given) == len(trial.frames), False, self._info()

    @property
    def trial(self) -> Trial:
        """The trial that is shown."""
        if self._trial is None:
            raise EtudeError("call reset() first")
        return self._trial

    @property
    def task_description(self) -> str:
        """The instruction as text, of the latest trial."""
        return told(self._latest)

    @property
    def _max_episode_steps(self) -> int:
        return len(self._latest.frames)

    @property
    def _latest(self) -> Trial:
        return self._trial or find_trial(self._name(0))

    def _picture(self) -> NDArray[np.uint8] | None:
        return None if self._trial is None else self._frames[self._seen]

    @property
    def _seen(self) -> int:
        return min(len(self._given), len(self._frames) - 1)

    @property
    def _over(self) -> bool:
        return len(self._given) == len(self._frames)

    def _observe(self) -> Observation:
        cue = not self._over and self.trial.answers[self._seen] != SILENT
        return {"frame": self._frames[self._seen].copy(), "instruction": self._text, "cue": np.int64(cue)}

    def _info(self) -> dict[str, Any]:
        trial, given = self.trial, self._given
        right = [g == a for g, a in zip(given, trial.answers, strict=False) if a != SILENT]
        done = self._over and tuple(given) == trial.answers
        return {
            "success": done,
            "is_success": done,
            "progress": total(right) / sum(a != SILENT for a in trial.answers),
            "episode_name": trial.name,
            "answer": 0 if self._over else _NUMBERS[trial.answers[self._seen]],
            "choices": {_NUMBERS[c]: c for c in trial.choices},
        }


def whole_trial(name: str, size: int = PIXELS) -> dict[str, Any]:
    """All of a trial at once: ``frames`` (N, size, size, 3), the ``instruction``, the ``choices``, the right ``answers`` on every frame
    ("" where none is asked for) and the last of them as ``answer``."""
    trial = find_trial(name)
    return {
        "frames": np.stack(pictures(trial, size)),
        "instruction": told(trial),
        "choices": trial.choices,
        "answers": trial.answers,
        "answer": expected(trial),
    }
