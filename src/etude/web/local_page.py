"""What local pages share: a handler that serves this machine, or whom it is opened to, and takes answers from its own page alone."""

from __future__ import annotations

import ipaddress
from abc import ABC, abstractmethod
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

LONGEST = 10_000  # bytes of an answer
PATIENCE = 30  # seconds for a request to arrive
RULES = (  # what a browser may do with the page: talk to the server it came from, and nothing else
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class LocalPageHandler(BaseHTTPRequestHandler, ABC):
    """Of a server at ``host``. No other page may reach it through somebody's browser: hosts and origins are looked at."""

    host = "127.0.0.1"
    timeout = PATIENCE

    @abstractmethod
    def get(self) -> None:
        """Answer a request by a name of ours."""

    @abstractmethod
    def post(self) -> None:
        """Take what the page of this server has sent."""

    def do_GET(self) -> None:
        if is_our_host(self.headers.get("Host", ""), self.host):
            self.get()
        else:
            self.send_error(HTTPStatus.FORBIDDEN, explain="open this page by the number of its machine, not by a name")

    def do_POST(self) -> None:
        at, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if is_our_host(at, self.host) and origin in (f"http://{at}", f"https://{at}"):
            self.post()
        else:
            self.send_error(HTTPStatus.FORBIDDEN, explain="answers are taken from the page of this server only")

    def body(self) -> bytes | None:
        """What was sent, if it is JSON and not too long; otherwise that is said."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        elif not (length.isascii() and length.isdigit() and 0 < int(length) <= LONGEST):
            self.send_error(HTTPStatus.BAD_REQUEST)
        else:
            return self.rfile.read(int(length))
        return None

    def send_whole(self, body: bytes, kind: str) -> None:
        """Answer with a body of this kind."""
        self.send_response(HTTPStatus.OK)
        for header, value in (
            ("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
            ("Content-Security-Policy", RULES), ("X-Content-Type-Options", "nosniff"),
        ):  # fmt: skip
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def is_our_host(at: str, host: str) -> bool:
    """Is a Host header one of ours? A number is, and so are the names we know. Any other name may be one that somebody else's page
    was given to reach us by."""
    try:
        name = urlsplit(f"//{at}").hostname or ""
        return name in ("localhost", host.lower()) or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
