"""A server of OpenAI's API as a terminal chat needs it: its models, and one answer after the other as it comes."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from chaosgate.errors import UsageError, one_line
from chaosgate.sse import DONE, EventSplitter, event_data

SILENCE_SECONDS = 60.0
"""How long a server may say nothing."""

Message = dict[str, str]


@dataclass(frozen=True)
class Figures:
    """What one answer took. Times in seconds; token counts as the server tells them, None where it tells none.

    `cut` says that the answer was longer than it might be.
    """

    first_token: float
    total: float
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cut: bool


class ChatError(UsageError):
    """The server cannot be reached, or refused what it was asked; its own words are made safe to print."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class ChatServer:
    """The server at `url`, which may end in /v1."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self._split = _split(self.url, url)

    def models(self) -> list[str]:
        """The names it serves, safe to print; ChatError where it cannot be asked or lists none."""
        with closing(_connection(self._split)) as connection:
            listing = _object(self._whole(self._ask(connection, "GET", "/v1/models", None)))
        data = listing.get("data")
        entries = data if isinstance(data, list) else []
        names = [one_line(str(entry["id"])) for entry in entries if isinstance(entry, dict) and "id" in entry]
        if not names:
            raise ChatError(f"{self.url}/v1/models lists no model; is it a server of OpenAI's API?")
        return names

    def answer(self, model: str, messages: Sequence[Message], **options: Any) -> Generator[str | Figures]:
        """The pieces of the answer as they come, then its figures; leaving the iteration early cancels it."""
        body = {"model": model, "messages": list(messages), "stream": True, **options}
        body["stream_options"] = {"include_usage": True}
        started = time.monotonic()
        first: float | None = None
        usage: dict[str, Any] = {}
        finish: str | None = None
        with closing(_connection(self._split)) as connection:
            for event in self._events(self._ask(connection, "POST", "/v1/chat/completions", json.dumps(body))):
                usage = _mapping(event.get("usage")) or usage
                piece, finish = _content(event), _finish(event) or finish
                if piece:
                    first = first or time.monotonic()
                    yield piece
        ended = time.monotonic()
        yield _figures((first or ended) - started, ended - started, usage, cut=finish == "length")

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: str | None
    ) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json"} if body else {}
        try:
            connection.request(method, self._split.path + path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
            raise ChatError(
                f"{self.url} does not answer: {reason}; start a server with `chaosgate engine`, or leave --url out"
            ) from error
        if response.status != 200:
            raise ChatError(f"{self.url} answered {response.status}: {_refusal(response)}")
        return response

    def _whole(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ChatError(f"{self.url} broke off: {error}") from error

    def _events(self, response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
        splitter = EventSplitter()
        try:
            while chunk := response.read1():
                for raw in splitter.feed(chunk):
                    data = event_data(raw)
                    if data == DONE:
                        return
                    if data is not None:
                        yield _checked(_object(data.encode()))
        except (OSError, http.client.HTTPException) as error:
            raise ChatError(f"{self.url} broke off: {error}") from error
        raise ChatError(f"{self.url} broke off before the end of its answer")


def _split(url: str, given: str) -> SplitResult:
    with suppress(ValueError):
        split = urlsplit(url)
        # Reading the port is what checks it.
        if split.scheme in ("http", "https") and split.hostname and split.port != 0:
            return split
    raise UsageError(f"--url: read {given!r}; write one such as http://127.0.0.1:8000")


def _connection(url: SplitResult) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname or "", url.port, timeout=SILENCE_SECONDS)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ChatError(f"the server sent what is no JSON: {raw[:80].decode(errors='replace')}") from error
    return _mapping(found)


def _checked(event: dict[str, Any]) -> dict[str, Any]:
    """An event that is no error of the server."""
    error = event.get("error")
    if error is not None:
        raise ChatError(str(error.get("message", error) if isinstance(error, dict) else error))
    return event


def _refusal(response: http.client.HTTPResponse) -> str:
    """What a server says that refuses: OpenAI's message, or the beginning of its body."""
    raw = response.read(4096)
    try:
        return str(json.loads(raw)["error"]["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return raw[:200].decode(errors="replace") or response.reason


def _content(event: dict[str, Any]) -> str:
    try:
        return str(event["choices"][0]["delta"]["content"] or "")
    except (LookupError, TypeError):
        # An event without text: the role at the beginning, the usage at the end.
        return ""


def _finish(event: dict[str, Any]) -> str | None:
    try:
        finish = event["choices"][0]["finish_reason"]
    except (LookupError, TypeError):
        return None
    return finish if isinstance(finish, str) else None


def _figures(first: float, total: float, usage: dict[str, Any], cut: bool) -> Figures:
    details = _mapping(usage.get("prompt_tokens_details"))
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return Figures(first, total, prompt, completion, _count(details.get("cached_tokens")), cut)


def _count(value: object) -> int | None:
    # True is an int to Python.
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
