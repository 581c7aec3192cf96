"""Videos of episodes: what the cameras see, beside what was told, what is done, and how it is judged."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.repeating import Noting, main_camera
from etude.goals.branching import branch_told
from etude.library import told_in
from etude.names import EtudeError, unknown
from etude.prompts.instruction import Instruction, Words, one_scale
from etude.prompts.pictures import Picture, part_picture
from etude.render.studio import Studio
from etude.scene.viewpoints import camera_names, own_camera
from etude.skills.subtasks import plain

SIDE, PANEL, LINE = 384, 400, 18
TOLD = (PANEL - 24, 190)  # pixels that an instruction has
INK, SOFT, PAPER, ACCENT = (35, 39, 45), (110, 116, 124), (250, 250, 248), (181, 84, 43)
FRAMES_PER_SECOND = 20
SMALL = 14  # pixels from one small line to the next


class Film:
    """Collects frames of a running simulation."""

    def __init__(self, simulation: Simulation, policy_name: str, camera: str = "") -> None:
        self._simulation, self._policy, self._camera = simulation, policy_name, camera
        self._studio = Studio(simulation.world)
        self._prompt = self._told()
        self._rewards: list[float] = []
        self.frames: list[Picture] = []

    def _told(self) -> Image.Image:
        """The instruction, its pictures in line; words alone in lines as close as usual, and small enough for all of them."""
        instruction = one_scale(self._simulation.episode.instruction)
        if all(isinstance(part, Words) for part in instruction.parts):
            return _text_alone(instruction.text)
        return self._with_pictures(instruction)

    def _with_pictures(self, instruction: Instruction) -> Image.Image:
        canvas = Image.new("RGB", TOLD, PAPER)
        pen, font = ImageDraw.Draw(canvas), ImageFont.load_default(15)
        x, y = 0, 22
        for part in instruction.parts:
            if isinstance(part, Words):
                for word in part.words.split():
                    width = int(pen.textlength(word + " ", font))
                    if x + width > canvas.width:
                        x, y = 0, y + (66 if y > 60 else 62)
                    pen.text((x, y), word, INK, font)
                    x += width
            else:
                picture = part_picture(part, told_in(self._simulation.episode), 112)
                width = round(54 * picture.shape[1] / picture.shape[0])
                if x + width + 6 > canvas.width:
                    x, y = 0, y + 62
                canvas.paste(Image.fromarray(picture).resize((width, 54), Image.Resampling.LANCZOS), (x, y - 20))
                x += width + 6
        return canvas

    def take(self, words: tuple[str, str] = ("", "")) -> None:
        """Add the present moment."""
        simulation = self._simulation
        status = simulation.status
        self._rewards.append(status.reward)
        view = self._studio.shoot(self._camera or main_camera(simulation), (SIDE, SIDE), supersample=True).rgb
        panel = Image.new("RGB", (PANEL, SIDE), PAPER)
        pen = ImageDraw.Draw(panel)
        small, normal = ImageFont.load_default(12), ImageFont.load_default(14)
        pen.text((12, 8), simulation.episode.name, SOFT, small)
        panel.paste(self._prompt, (12, 26))
        y = 222
        for title, text in (("sub-task", words[0]), ("step", words[1])):
            pen.text((12, y), title, SOFT, small)
            for line in textwrap.wrap(plain(text, simulation.episode.scene), 46)[:2] or [""]:
                pen.text((72, y - 1), line, INK, normal)
                y += LINE
            y += 2
        for line in self._branches()[: (SIDE - 86 - y) // SMALL]:
            pen.text((12, y), line, SOFT, ImageFont.load_default(11))
            y += SMALL
        verdict = "success" if status.satisfied else ("violated" if status.violated else f"progress {status.progress:.2f}")
        text = f"{self._policy}   step {simulation.steps}   reward {status.reward:.2f}   {verdict}"
        pen.text((12, SIDE - 84), text, ACCENT if status.satisfied else INK, small)
        self._curve(pen)
        self.frames.append(np.hstack([view, np.asarray(panel)]))

    def _branches(self) -> list[str]:
        """How every condition that was looked at came out, and which branch was taken."""
        noted = [node.goal.noted(node) for node in self._simulation.monitor.nodes()]
        return [branch_told(one["held"], one["taken"]) for one in noted if "held" in one]

    def _curve(self, pen: ImageDraw.ImageDraw) -> None:
        left, top, width, height = 12, SIDE - 64, PANEL - 24, 52
        pen.rectangle((left, top, left + width, top + height), outline=(217, 220, 223))
        peak = max(6.0, *self._rewards)
        count = max(60, len(self._rewards))
        points = [(left + width * i / count, top + height - height * r / peak) for i, r in enumerate(self._rewards)]
        if len(points) > 1:
            pen.line(points, fill=ACCENT, width=2)


def camera_called(text: str) -> str:
    """The name of a camera that may be one's own; empty where none is wished for."""
    return "".join(camera_names([text]))


def refuse_camera(camera: str, episodes: Sequence[Episode]) -> None:
    """Refuse to record a video with a camera that these episodes do not have, or have another of."""
    name, own = camera_called(camera), own_camera(camera) is not None
    if not episodes:
        raise EtudeError("--camera chooses the camera of videos, and decisions are not recorded on video: leave it out")
    for episode in episodes:
        there, suite = [c.name for c in episode.scene.cameras], episode.parsed.suite
        if own and name in there:
            raise EtudeError(f"--camera {camera}: {suite} has a {name!r} already; give it another name")
        if not own and name not in there:
            raise unknown(f"camera of {suite}", name, there)


def _text_alone(text: str) -> Image.Image:
    """Words in the largest of our sizes in which all of them find room."""
    canvas = Image.new("RGB", TOLD, PAPER)
    pen = ImageDraw.Draw(canvas)
    for size in (15, 13, 11, 9, 8):
        font, height = ImageFont.load_default(size), round(1.3 * size)
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".lstrip()
            lines[-1:] = [longer] if pen.textlength(longer, font) <= canvas.width else [lines[-1], word]
        if len(lines) * height <= canvas.height:
            break
    for k, line in enumerate(lines):
        pen.text((0, k * height), line, INK, font)
    return canvas


def film_kind() -> tuple[str, int]:
    """The kind of video that runs keep here, and how many control steps a frame lasts: .mp4 with the extra ``video``; without, .webp, whose
    frames take more room."""
    return (".mp4", 2) if importlib.util.find_spec("av") is not None else (".webp", 4)


class Filming:
    """An onlooker with a camera: the one of this name, or what shows most."""

    def __init__(self, policy_name: str, every: int = 2, camera: str = "") -> None:
        self._policy, self._every, self._camera = policy_name, every, camera
        self._count, self._said = 0, ("", "")

    def begin(self, simulation: Simulation) -> Noting:
        """Take the first frame."""
        self._film = Film(simulation, self._policy, self._camera)
        self._film.take()
        return self._note

    def _note(self, words: tuple[str, str]) -> None:
        self._count, self._said = self._count + 1, words
        if self._count % self._every == 0:
            self._film.take(words)

    def write(self, path: Path) -> None:
        """Take the last frame, and write the video."""
        self._film.take(self._said)
        frames = self._film.frames
        write_film(frames + frames[-1:] * (10 // self._every), path, FRAMES_PER_SECOND // self._every)


def write_film(frames: Sequence[Picture], path: Path, rate: int = FRAMES_PER_SECOND) -> None:
    """Write frames, ``rate`` of them for each second, as .mp4 (needs the extra ``video``), .webp or .gif."""
    kind = path.suffix.lower()
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == ".mp4":
        _mp4(frames, path, rate)
    elif kind in (".webp", ".gif"):
        images = [Image.fromarray(f) for f in frames]
        duration = 1000 // rate
        form: dict[str, Any] = {"quality": 40, "method": 2} if kind == ".webp" else {}  # half the size of what is usual, in the same time
        images[0].save(path, save_all=True, append_images=images[1:], duration=duration, loop=0, **form)
    else:
        raise EtudeError(f"--video {str(path)!r} must end in .mp4, .webp or .gif")


def _mp4(frames: Sequence[Picture], path: Path, rate: int) -> None:
    if importlib.util.find_spec("av") is None:
        raise EtudeError("MP4 needs the extra 'video': pip install 'etude[video]' (or write .webp)")
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "28", "threads": "1", "movflags": "faststart"})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for picture in frames:
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
