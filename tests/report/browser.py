"""A headless Chromium driven by its own protocol: enough to open a page, ask it things and see what it does."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PATIENCE = 60  # seconds for anything: the machine may be busy
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--mute-audio",
    "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0", "--enable-unsafe-swiftshader",
)  # fmt: skip


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Tab:
    """One page of the browser. ``events`` are those that came while answers were waited for."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def size(self, width: int, height: int) -> None:
        """The size of the window in CSS pixels; a narrow one is a phone."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def dark(self, dark: bool) -> None:
        """Ask for dark colours, or for light ones."""
        self.ask("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def paper(self, width: int) -> None:
        """Lay the page out as on paper of this width in CSS pixels; dark colours stay asked for, as on a dark desk."""
        self.size(width, 1100)
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        self.ask("Emulation.setEmulatedMedia", media="print", features=features)

    def open(self, path: Path) -> None:
        """Open a file and wait until it has loaded."""
        self.visit(path.resolve().as_uri())

    def visit(self, url: str) -> None:
        """Open an address and wait until it has loaded."""
        self._loading("Page.navigate", url=url)

    def reload(self) -> None:
        """Load the page again and wait until it has."""
        self._loading("Page.reload")

    def _loading(self, method: str, **parameters: Any) -> None:
        self.events.clear()
        self.ask(method, **parameters)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(json.loads(self._socket.recv(timeout=PATIENCE)))

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait, frame by frame inside the page, until the condition holds."""
        self.run(
            f"new Promise((done, late) => {{ const end = performance.now() + {1000 * PATIENCE};"
            f" const look = () => ({condition}) ? done() : performance.now() > end ? late(new Error('waited in vain'))"
            " : requestAnimationFrame(look); look(); })"
        )

    def press(self, key: str) -> None:
        """Press a key on whatever has the focus."""
        text = {"Enter": "\r"}.get(key, "")
        code = {"Enter": 13, "Tab": 9}[key]
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text, windowsVirtualKeyCode=code)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, whole: bool = False) -> bytes:
        """A screenshot as PNG."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._whole()} if whole else {}))
        return base64.b64decode(answer["data"])

    def _whole(self) -> dict[str, float]:
        box = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": box["width"], "height": box["height"], "scale": 1}

    def complaints(self) -> list[str]:
        """What the page wrote as errors or warnings, and exceptions nobody caught."""
        found = []
        for event in self.events:
            method, data = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(data["exceptionDetails"]))
            elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
                found.append(data["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(data["args"]))
        return found

    def requests(self) -> list[str]:
        """Every address the page asked for, data inside the page aside."""
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]


@contextlib.contextmanager
def browser() -> Iterator[Tab]:
    """A browser with one empty page and a profile of its own."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_address(process, Path(profile) / "DevToolsActivePort"), max_size=None, compression=None) as socket:
                yield Tab(socket)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], port_file: Path) -> str:
    """Where the browser listens: it writes the port and a path once it does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        lines = port_file.read_text().split() if port_file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        try:  # wait for an early death rather than sleep
            code = process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the browser ended at once with status {code}")
    raise AssertionError("the browser did not open its port")
