"""A Hub of one's own for tests: as much of Hugging Face's protocol as its client speaks when a folder is pushed. It keeps all in memory."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_of_somebody"
LARGE = (".parquet", ".mp4", ".safetensors", ".hdf5")  # what the real one wants by LFS


class FakeHub:
    """Repositories by kind and name: files with their bytes, tags with the files as they were, and what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.made: dict[str, dict[str, Any]] = {}
        self.tags: dict[str, dict[str, dict[str, bytes]]] = {}
        self.blobs: dict[str, bytes] = {}
        self.address = ""

    def answer(self, method: str, path: str, body: bytes, token: str) -> tuple[int, Any]:
        """Status and JSON for a request."""
        if path.startswith("/blob/"):
            self.blobs[path.removeprefix("/blob/")] = body
            return 200, {}
        if token != f"Bearer {TOKEN}":
            return 401, {"error": "Invalid credentials"}
        if path == "/api/whoami-v2":
            return 200, {"type": "user", "name": "somebody", "orgs": [], "auth": {"type": "access_token"}}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if path.endswith(".git/info/lfs/objects/batch"):
            return 200, {"transfer": "basic", "objects": [self._large(one) for one in json.loads(body)["objects"]]}
        _, _, kinds, owner, name, *rest = path.split("/")
        place = f"{kinds}/{owner}/{name}"
        if place not in self.files:
            return 404, {"error": "Repository not found"}
        return self._within(method, place, rest, body)

    def _create(self, asked: dict[str, Any]) -> tuple[int, Any]:
        place = f"{asked.get('type', 'model')}s/{asked['organization']}/{asked['name']}"
        if asked["organization"] == "forbidden":
            return 403, {"error": "You don't have the rights to create a repository under the namespace forbidden"}
        url = f"{self.address}/{place.removeprefix('models/')}"
        if place in self.files:
            return 409, {"error": "You already created this repo", "url": url}
        self.files[place], self.made[place], self.tags[place] = {}, asked, {}
        return 200, {"url": url, "name": f"{asked['organization']}/{asked['name']}", "id": "0"}

    def _large(self, one: dict[str, Any]) -> dict[str, Any]:
        return {"oid": one["oid"], "size": one["size"], "actions": {"upload": {"href": f"{self.address}/blob/{one['oid']}"}}}

    def _within(self, method: str, place: str, rest: list[str], body: bytes) -> tuple[int, Any]:
        files, tags = self.files[place], self.tags[place]
        match method, rest:
            case "POST", ["preupload", "main"]:
                modes = {one["path"]: "lfs" if one["path"].endswith(LARGE) else "regular" for one in json.loads(body)["files"]}
                return 200, {"files": [{"path": path, "uploadMode": mode, "shouldIgnore": False} for path, mode in modes.items()]}
            case "POST", ["commit", "main"]:
                for line in map(json.loads, body.splitlines()):
                    self._apply(files, line["key"], line["value"])
                return 200, {"success": True, "commitUrl": f"{self.address}/{place}/commit/0", "commitOid": "0" * 40}
            case "GET", ["tree", "main"]:
                return 200, [{"type": "file", "path": path, "size": len(data), "oid": "0" * 40} for path, data in files.items()]
            case "DELETE", ["tag", tag]:
                return (200, {}) if tags.pop(tag, None) is not None else (404, {"error": f"Revision not found: {tag}"})
            case "POST", ["tag", "main"]:
                tags[json.loads(body)["tag"]] = dict(files)
                return 200, {}
        return 404, {"error": f"{method} {rest} is not known here"}

    def _apply(self, files: dict[str, bytes], key: str, value: dict[str, Any]) -> None:
        if key == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif key == "lfsFile":
            data = self.blobs[value["oid"]]
            assert hashlib.sha256(data).hexdigest() == value["oid"] and len(data) == value["size"]
            files[value["path"]] = data
        elif key == "deletedFile":
            del files[value["path"]]
        else:
            assert key == "header", key


@contextmanager
def hub_server() -> Iterator[FakeHub]:
    """A Hub that answers at its ``address``."""
    hub = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = hub.answer(self.command, self.path.partition("?")[0], body, self.headers.get("Authorization", ""))
            data = json.dumps(answer).encode()
            self.send_response(status)
            if status == 404 and "Revision" in answer["error"]:
                self.send_header("X-Error-Code", "RevisionNotFound")
            if status >= 400:
                self.send_header("X-Error-Message", answer["error"])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
