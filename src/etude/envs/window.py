"""A window with a picture that changes, for people: by Tk, which comes with Python."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.names import EtudeError

INSTEAD = 'or take render_mode="rgb_array" and keep the pictures'


class Window:
    """Opened with the first picture. Who closes it has seen enough: later pictures are not shown."""

    def __init__(self, title: str) -> None:
        try:
            import tkinter
        except ImportError:
            raise EtudeError(f'render_mode="human" needs Tk, which this Python came without: apt install python3-tk, {INSTEAD}') from None
        self._tk = tkinter
        try:
            self._root: Any = tkinter.Tk()
        except tkinter.TclError as error:
            raise EtudeError(f'render_mode="human" needs a screen ({error}): set DISPLAY where there is one, {INSTEAD}') from None
        self._root.title(title)
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tkinter.Label(self._root)
        self._label.pack()
        self._due = 0.0

    def show(self, picture: NDArray[np.uint8], seconds: float) -> None:
        """Show a picture (H, W, 3), as long after the one before as people are to see that."""
        time.sleep(max(0.0, self._due - time.monotonic()))
        if self._root is None:
            return
        height, width, _ = picture.shape
        self._shown = self._tk.PhotoImage(data=b"P6 %d %d 255\n" % (width, height) + picture.tobytes())  # kept: Tk does not hold it
        self._label.configure(image=self._shown)
        self._root.update()
        self._due = time.monotonic() + seconds

    def close(self) -> None:
        """Take it away."""
        if self._root is not None:
            self._root.destroy()
            self._root = None
