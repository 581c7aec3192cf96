"""Who is told to end ends in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopped_by_term() -> Iterator[None]:
    """Whoever is told to end (``timeout`` does) ends as after an interrupt: not before those have stopped that were started."""
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
