"""Videos with exact timestamps: H.264 by PyAV, constant frame rate, no B-frames, one thread and no choice by CPU, so that the same frames
give the same bytes.

Files of single episodes are joined by copying their packets: nothing is encoded twice.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError

Pixels = NDArray[np.uint8]
CODEC, PIXEL_FORMAT = "h264", "yuv420p"
CRF, GOP, PRESET = 18, 2, "veryfast"  # every other frame stands alone: windows anywhere are found fast


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise EtudeError("videos need PyAV: pip install 'etude[datasets]', or choose a format that stores images") from None
    return av


def refuse_odd(size: tuple[int, int]) -> None:
    """Refuse a size (width, height) that a video cannot have, or that there is nothing to make videos with."""
    _av()
    if size[0] % 2 or size[1] % 2:
        raise EtudeError(f"videos need an even width and height, not {size[0]}×{size[1]}; choose another --size, or a format with images")


def encoded(frames: Sequence[Pixels], fps: int) -> bytes:
    """Frames (H, W, 3) as an MP4 file; frame k is shown at k / fps seconds exactly."""
    av = _av()
    height, width = frames[0].shape[:2]
    refuse_odd((width, height))
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = width, height, PIXEL_FORMAT
        stream.time_base = Fraction(1, fps)
        context = stream.codec_context
        context.time_base, context.gop_size, context.max_b_frames, context.thread_count = Fraction(1, fps), GOP, 0, 1
        context.options = {"crf": str(CRF), "preset": PRESET, "x264-params": "cpu-independent=1"}
        for k, pixels in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = k, Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


class Joiner:
    """Joins videos of the same kind into one file, one after the other."""

    def __init__(self, path: Path, fps: int) -> None:
        self._container = _av().open(str(path), "w", format="mp4")
        self._stream: Any = None
        self._step = Fraction(1, fps)
        self.frames = 0

    def add(self, video: bytes) -> None:
        """Append a video that :func:`encoded` made."""
        with _av().open(io.BytesIO(video)) as source:
            given = source.streams.video[0]
            if self._stream is None:
                self._stream = self._container.add_stream_from_template(given)
                self._stream.time_base = given.time_base
            ticks = self._step / given.time_base
            count = 0
            for packet in source.demux(given):
                if packet.dts is None:
                    continue
                packet.pts += int(self.frames * ticks)
                packet.dts += int(self.frames * ticks)
                packet.stream = self._stream
                self._container.mux(packet)
                count += 1
            self.frames += count

    def close(self) -> None:
        """Finish the file."""
        self._container.close()


class Decoder:
    """A video that stays open. Frames are asked for by number; those that follow the last ones come without seeking."""

    def __init__(self, source: Path | bytes, fps: int | None = None) -> None:
        try:
            self._container = _av().open(io.BytesIO(source) if isinstance(source, bytes) else str(source))
            self._stream = self._container.streams.video[0]
        except (OSError, IndexError) as error:
            raise EtudeError(f"{source if isinstance(source, Path) else 'the video'} cannot be read: {error}") from None
        self._stream.codec_context.thread_count = 1
        rate = Fraction(fps) if fps else self._stream.average_rate
        self._ticks = 1 / (rate * self._stream.time_base)  # of one frame
        self._start = self._stream.start_time or 0
        self._next = 0
        self._frames = self._container.decode(self._stream)

    def frames(self, first: int = 0, count: int | None = None) -> Iterator[Pixels]:
        """Frames (H, W, 3) from number ``first`` on, ``count`` of them or all that follow."""
        if count == 0:
            return
        if not self._next <= first < self._next + GOP:
            self._container.seek(self._start + int(first * self._ticks), stream=self._stream, backward=True)
            self._frames = self._container.decode(self._stream)
        given = 0
        for frame in self._frames:
            number = round((frame.pts - self._start) / self._ticks)
            self._next = number + 1
            if number < first:
                continue
            yield frame.to_ndarray(format="rgb24")
            given += 1
            if given == count:
                return
        self._next = -GOP  # at the end: whatever comes next has to be looked for

    def close(self) -> None:
        """Let go of the file."""
        self._container.close()


def frames_of(source: Path | bytes, first: int = 0, count: int | None = None, fps: int | None = None) -> Iterator[Pixels]:
    """Frames (H, W, 3) of a video from number ``first`` on, ``count`` of them or all that follow."""
    decoder = Decoder(source, fps)
    try:
        yield from decoder.frames(first, count)
    finally:
        decoder.close()


def timestamps(path: Path) -> list[Fraction]:
    """When each frame is shown, seconds: from the packets, without decoding."""
    with _av().open(str(path)) as container:
        stream = container.streams.video[0]
        return sorted(p.pts * stream.time_base for p in container.demux(stream) if p.pts is not None)


def png(pixels: Pixels) -> bytes:
    """A PNG file of pixels (H, W, 3), made fast rather than small."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def pixels_of(data: bytes) -> Pixels:
    """The pixels (H, W, 3) of a PNG or JPEG file."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def histogram(frames: Iterable[Pixels]) -> NDArray[np.int64]:
    """How often each value occurs, (3, 256)."""
    found = np.zeros((3, 256), np.int64)
    for pixels in frames:
        for channel in range(3):
            found[channel] += np.bincount(pixels[:, :, channel].ravel(), minlength=256)
    return found
