"""PNG files read back, and a picture packed by our own code, for tests."""

from __future__ import annotations

import io
import zlib

import numpy as np
from PIL import Image

from etude.render.packed import laid, packed


def decoded(data: bytes) -> np.ndarray:
    begin = data.index(b"IDAT") + 4
    zlib.decompress(data[begin : begin + int.from_bytes(data[begin - 8 : begin - 4], "big")])  # Pillow forgives a wrong checksum
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "RGB"
        return np.asarray(image)


def alone(picture: np.ndarray) -> bytes:
    file = laid(*picture.shape[:2], [(packed(picture), 0, 0)])
    assert file is not None
    return file
