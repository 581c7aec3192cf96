"""Windows of demonstrations for training: what was seen up to a frame, what was told, and what was done from there on. Without torch."""

from __future__ import annotations

import functools
import struct
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.columns import ACTION, STATE
from etude.datasets.extra import prompts
from etude.datasets.reader import DatasetReader
from etude.datasets.video import Decoder, Pixels, pixels_of
from etude.names import EtudeError

OPEN = 32  # videos that are kept open
PROMPTS = 512  # episodes whose pictures stay decoded


@dataclass(frozen=True)
class WindowShape:
    """Of a window: ``seen`` frames up to the present one, ``done`` actions from it on, at most ``pictures`` of the prompt."""

    seen: int = 1
    done: int = 8
    pictures: int = 8

    def __post_init__(self) -> None:
        for name in ("seen", "done"):
            if getattr(self, name) < 1:
                raise EtudeError(f"a window needs at least one {name}, got {getattr(self, name)}")


class Windows:
    """Every frame of a dataset as the present of a window.

    A window is a dictionary: ``images`` uint8 (C, seen, H, W, 3), ``state`` float32 (seen, P), ``action`` float32 (done, A),
    ``action_is_pad`` bool (done,), ``text``, and with ``prompt`` also ``prompt_images`` uint8 (pictures, H', W', 3), ``prompt_mask`` bool
    (pictures,) and ``prompt_text`` with ``{image:k}`` in it. Before the first frame of an episode stands its first one; after its last
    action the last one is repeated and marked as padding.
    """

    def __init__(
        self, folder: Path, shape: WindowShape = WindowShape(), cameras: tuple[str, ...] = (), action: str = ACTION, prompt: bool = True
    ) -> None:
        self.reader, self.shape, self._action = DatasetReader(folder), shape, action
        for camera in cameras:
            if camera not in self.reader.cameras:
                raise EtudeError(f"there is no camera {camera!r}; there are {', '.join(self.reader.cameras)}")
        self.cameras = cameras or self.reader.cameras
        lengths = [span.length for span in self.reader.spans]
        self._ends = np.cumsum(lengths)
        self._decoders: OrderedDict[Path, Decoder] = OrderedDict()
        told = prompts(folder) if prompt and shape.pictures else ()
        self._prompts = {number: (template, pictures[: shape.pictures]) for number, template, pictures in told}
        self._decoded: OrderedDict[int, list[Pixels]] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        """For another process: it opens its own files."""
        return {**self.__dict__, "_decoders": OrderedDict(), "_decoded": OrderedDict()}

    def __len__(self) -> int:
        """Number of frames."""
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The window around frame ``index`` of the dataset."""
        if not 0 <= index < len(self):
            raise IndexError(f"there is no frame {index}; there are {len(self)}")
        episode = int(np.searchsorted(self._ends, index, side="right"))
        span = self.reader.spans[episode]
        frame = index - (int(self._ends[episode]) - span.length)
        first = max(0, frame + 1 - self.shape.seen)
        before = self.shape.seen - (frame + 1 - first)  # looks that are missing at the beginning
        seen = [self._frames(episode, camera, first, frame + 1 - first) for camera in self.cameras]
        state = self.reader.column(STATE, episode)[first : frame + 1]
        actions = self.reader.column(self._action, episode)[frame : frame + self.shape.done]
        short = self.shape.done - len(actions)
        window: dict[str, Any] = {
            "images": np.stack([np.stack([pictures[0]] * before + pictures) for pictures in seen]),
            "state": np.concatenate([np.repeat(state[:1], before, 0), state]).astype(np.float32),
            "action": np.concatenate([actions, np.repeat(actions[-1:], short, 0)]).astype(np.float32),
            "action_is_pad": np.arange(self.shape.done) >= len(actions),
            "text": span.task,
        }
        return {**window, **self._told(episode)} if self._prompts else window

    def _frames(self, episode: int, camera: str, first: int, count: int) -> list[NDArray[np.uint8]]:
        if not self.reader.videos:
            return list(self.reader.frames(episode, camera, first, count))
        path, begin = self.reader.spans[episode].videos[camera]
        decoder = self._decoders.pop(path, None) or Decoder(path, self.reader.fps)
        self._decoders[path] = decoder
        if len(self._decoders) > OPEN:
            self._decoders.popitem(last=False)[1].close()
        return list(decoder.frames(begin + first, count))

    def _told(self, episode: int) -> dict[str, Any]:
        template, files = self._prompts[episode]
        given = self._decoded.pop(episode, None)
        if given is None:
            given = [pixels_of(file) for file in files]
        self._decoded[episode] = given
        if len(self._decoded) > PROMPTS:
            self._decoded.popitem(last=False)
        height, width = self._picture_size
        images = np.zeros((self.shape.pictures, height, width, 3), np.uint8)
        for k, picture in enumerate(given):
            images[k, : picture.shape[0], : picture.shape[1]] = picture
        return {"prompt_text": template, "prompt_images": images, "prompt_mask": np.arange(self.shape.pictures) < len(given)}

    @functools.cached_property
    def _picture_size(self) -> tuple[int, int]:
        sizes = [struct.unpack(">II", file[16:24]) for _, files in self._prompts.values() for file in files] or [(1, 1)]
        return max(h for _, h in sizes), max(w for w, _ in sizes)  # as the header of a PNG file says
