"""Puts a request to a server that speaks the OpenAI chat protocol: tries again where that can help, and remembers answers.

The key is read from the environment at the moment of sending and kept nowhere: not on the object, not in the cache, not in errors.
"""

from __future__ import annotations

import datetime
import email.utils
import hashlib
import http.client
import json
import os
import re
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from etude.names import EtudeError, canonical_json, rng

KEY = "OPENAI_API_KEY"
FIRST_WAIT, LONGEST_BACKOFF, LONGEST_WAIT = 0.5, 30.0, 300.0  # s; the last bounds what a server may ask for
PASSING = frozenset({408, 425, 429})  # and 5xx: the same request may succeed later


class ChatAnswer(NamedTuple):
    """What the model said, what it cost in tokens, and whether it was remembered."""

    text: str
    tokens_in: int
    tokens_out: int
    cached: bool


class _Passing(Exception):
    """A failure that may pass; ``after`` is how many seconds the server wants to be left alone."""

    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to a server that nobody named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class ChatClient:
    """Asks ``{base}/chat/completions``. ``retries`` tries follow the first; ``cache`` is a folder; ``sleep`` waits some seconds."""

    def __init__(self, base: str, timeout: float, retries: int, cache: Path | None, sleep: Callable[[float], None] = time.sleep) -> None:
        self.retried = 0
        self._url = base.rstrip("/") + "/chat/completions"
        self._timeout, self._retries, self._cache, self._sleep = timeout, retries, cache, sleep
        if cache is not None:
            try:
                cache.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise EtudeError(f"the cache {cache} cannot be made: {error.strerror}; expected a folder that can be written") from None

    def ask(self, body: dict[str, Any]) -> ChatAnswer:
        """The answer to the request ``body``, from the cache where it is known."""
        # Host and port are left out: the same model on another machine gives the same answers.
        request = canonical_json({"path": urllib.parse.urlsplit(self._url).path, "body": body})
        digest = hashlib.sha256(request.encode()).hexdigest()
        place = None if self._cache is None else self._cache / f"{digest}.json"
        if place is not None and place.exists():
            return _remembered(place)
        key = _key()
        answer = self._answer(self._fetch(json.dumps(body).encode(), key, digest), key)
        if place is not None:
            _remember(place, str(body["model"]), answer)
        return answer

    def _fetch(self, payload: bytes, key: str, digest: str) -> bytes:
        for attempt in range(self._retries + 1):
            try:
                return self._post(payload, key)
            except _Passing as trouble:
                if attempt == self._retries:
                    tries = "1 try" if attempt == 0 else f"{attempt + 1} tries"
                    raise EtudeError(f"no answer from {self._url} after {tries}: {trouble}") from None
                self.retried += 1
                self._sleep(min(max(trouble.after, _backoff(digest, attempt)), LONGEST_WAIT))
        raise AssertionError("the loop returns or raises")

    def _post(self, payload: bytes, key: str) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "etude"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._url, payload, headers, method="POST")
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=self._timeout) as reply:
                return bytes(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                said = f"{error.code} {_complaint(_body(error), key) or error.reason}"
            if error.code in PASSING or error.code >= 500:
                raise _Passing(said, _wanted_wait(error.headers.get("Retry-After", ""))) from None
            raise EtudeError(f"{self._url} refused the request: {said}") from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, TimeoutError):
                raise _Passing(f"nothing came within {self._timeout:g} s") from None
            raise _Passing(_line(str(reason), key) or type(reason).__name__) from None

    def _answer(self, reply: bytes, key: str) -> ChatAnswer:
        try:
            data = json.loads(reply)
        except (ValueError, RecursionError):
            shown = _line(reply.decode("utf-8", "replace"), key, 80)
            raise EtudeError(f"{self._url} did not answer in JSON but: {shown or 'nothing'}") from None
        choices = data.get("choices") if isinstance(data, dict) else None
        message = choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if not isinstance(message, dict):
            raise EtudeError(f"the reply of {self._url} has no choices[0].message: {_complaint(reply, key)}")
        usage = data.get("usage")
        tokens_in, tokens_out = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        text = _content(message).encode("utf-8", "replace").decode()  # half of a surrogate pair could not be written anywhere
        return ChatAnswer(_without(text, key), tokens_in, tokens_out, False)


def _key() -> str:
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EtudeError(f"{KEY} holds a character that cannot be sent in a header; expected printable ASCII")
    return key


def _content(message: dict[str, Any]) -> str:
    """The text of a message, whose content is a string, a list of parts, or nothing when the model refused."""
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    said = content if content is not None else message.get("refusal")
    return said if isinstance(said, str) else ""


def _count(usage: Any, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) else 0


# ------------------------------------------------------------------------------------------------ waiting


def _backoff(digest: str, attempt: int) -> float:
    """Seconds before the next try: twice as long each time; requests of many workers are spread, each always in the same way."""
    longest = min(FIRST_WAIT * 2.0 ** min(attempt, 16), LONGEST_BACKOFF)
    return rng(digest, f"chat/wait/{attempt}").uniform(longest / 2, longest)


def _wanted_wait(header: str) -> float:
    """Seconds of a ``Retry-After``, which is a number or a date; 0 where it is neither."""
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", header.strip()):
        return float(header)
    try:
        then = email.utils.parsedate_to_datetime(header)
        return max(0.0, (then - datetime.datetime.now(datetime.UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):  # no date, or one without a time zone
        return 0.0


# ------------------------------------------------------------------------------------------------ what went wrong, in one line


def _body(error: urllib.error.HTTPError) -> bytes:
    try:
        return bytes(error.read())
    except (OSError, http.client.HTTPException):
        return b""


def _complaint(reply: bytes, key: str) -> str:
    """What a server says about an error: its message where there is one, else the beginning of the reply."""
    text = reply.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for name in ("error", "message", "detail"):  # {"error": {"message": …}}, {"error": …}, {"message": …}, {"detail": …}
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return _line(found if isinstance(found, str) else text, key)


def _line(text: str, key: str, longest: int = 300) -> str:
    line = " ".join(_without(text, key).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _without(text: str, key: str) -> str:
    return text.replace(key, "[key]") if key else text


# ------------------------------------------------------------------------------------------------ the cache


def _remember(place: Path, model: str, answer: ChatAnswer) -> None:
    """Write a new file and move it into place, so that nobody reads half of one."""
    data = {"model": model, "answer": answer.text, "tokens_in": answer.tokens_in, "tokens_out": answer.tokens_out}
    try:
        handle, name = tempfile.mkstemp(".tmp", place.stem[:16], place.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(data, file, ensure_ascii=False)
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise EtudeError(f"the answer cannot be kept as {place}: {error.strerror}") from None


def _remembered(place: Path) -> ChatAnswer:
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise EtudeError(f"the kept answer {place} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        data = None
    kinds = {"answer": str, "tokens_in": int, "tokens_out": int}
    if not isinstance(data, dict) or not all(isinstance(data.get(name), kind) for name, kind in kinds.items()):
        raise EtudeError(f"{place} is not an answer as the cache keeps it; delete it to ask again")
    return ChatAnswer(data["answer"], data["tokens_in"], data["tokens_out"], True)
