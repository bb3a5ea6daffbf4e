"""Requests to an embeddings endpoint: keys, limits, retries; the only place that opens a connection."""

from __future__ import annotations

import json
import logging
import os
import random
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from unembed.encoders.endpoint_answers import Answer, error_code, most_bytes, read_answer, read_body, retry_after
from unembed.errors import CannotMeasureError, DataError, MissingExtraError, UsageError

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 0.5
_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    import httpx
T = TypeVar("T")


class TooLargeError(DataError):
    """The server won't take this request as it is; a smaller one may do."""


class EndpointFailedError(CannotMeasureError):
    """The endpoint could not be reached or kept failing."""


@dataclass
class EndpointClient:
    """One address, one model; safe to use from several threads."""

    url: str
    model: str
    dimensions: int | None
    key_variable: str
    loopback: bool
    timeout: float
    retries: int
    max_wait: float
    max_requests: int | None
    sent: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, requests: int) -> None:
        """Refuse before anything is sent if the work can't be done within the cap."""
        if self.max_requests is not None and self.sent + requests > self.max_requests:
            raise UsageError(
                f"{requests} more requests are needed after {self.sent}, but max_requests is {self.max_requests}"
            )

    def embed(self, texts: list[str], expected: int | None) -> Answer:
        """The vectors of texts from one request, repeated after passing failures."""
        payload: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self.dimensions is not None:
            payload["dimensions"] = self.dimensions
        reason, most = "", most_bytes(len(texts), expected)
        for attempt in range(self.retries + 1):
            reason, wait, body = self._once(payload, most)
            if not reason:
                return read_answer(body, len(texts), expected)
            if attempt < self.retries:
                delay = wait if wait is not None else self._back_off(attempt)
                _log.info("%s: %s; trying again in %.1f s", self._host, reason, delay)
                if self.stopped.wait(delay):
                    break
        raise EndpointFailedError(
            f"the endpoint at {self._host} failed {self.retries + 1} times: {reason}; once it answers, run the same "
            "again: what the cache holds is not sent twice"
        )

    def _once(self, payload: dict[str, Any], most: int) -> tuple[str, float | None, Any]:
        """One attempt: (why it failed or '', seconds the server asks to wait, decoded body)."""
        httpx, http = load_httpx(), self._http
        self._count()
        try:
            response, raw = _within(self.timeout, lambda: self._exchange(http, payload, most))
        except (TimeoutError, httpx.TimeoutException):
            return f"no whole answer within {self.timeout:g} s", None, None
        except (httpx.TransportError, httpx.InvalidURL, UnicodeError) as error:  # the last two: a bad redirect
            return f"the connection failed ({type(error).__name__})", None, None
        except zlib.error:
            return "the answer can't be decompressed", None, None
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            body = None
        if response.status_code == 200:
            return ("" if body is not None else "the answer is not JSON"), None, body
        code = error_code(body)
        shown = f"HTTP {response.status_code}" + (f" ({code})" if code else "")
        if response.status_code in _PASSING and code != "insufficient_quota":
            return shown, retry_after(response.headers.get("retry-after"), self.max_wait), None
        raise self._refused(response, shown)

    def _exchange(self, http: httpx.Client, payload: dict[str, Any], most: int) -> tuple[httpx.Response, bytes]:
        deadline = time.monotonic() + self.timeout
        with http.stream("POST", self.url, json=payload) as response:
            coding = response.headers.get("content-encoding", "").lower()
            return response, read_body(response.iter_raw(), coding, most, deadline)

    def _refused(self, response: httpx.Response, shown: str) -> Exception:
        status = response.status_code
        if status in (400, 413, 422):
            return TooLargeError(shown)
        if status in (401, 403):
            held = "is set but was refused" if os.environ.get(self.key_variable) else "is not set"
            variable = f"the environment variable {self.key_variable}" if self.key_variable else "api_key_env"
            return UsageError(f"{self._host} wants a key ({shown}): {variable} {held}")
        if 300 <= status < 400:
            target = (response.next_request and response.next_request.url.host) or "another address"
            return UsageError(f"{self._host} redirects to {target}, which is not followed: give the final base_url")
        if status == 404:
            return UsageError(f"{self._host} does not know this address or model ({shown}): check base_url and model")
        return EndpointFailedError(f"{self._host} refused the request: {shown}")

    def _count(self) -> None:
        with self._lock:
            if self.max_requests is not None and self.sent >= self.max_requests:
                raise UsageError(f"max_requests={self.max_requests} is used up before all texts were encoded")
            self.sent += 1

    def _back_off(self, attempt: int) -> float:
        """Twice as long each time, with jitter, so that several clients don't return at once."""
        longest: float = min(self.max_wait, _FIRST_WAIT * 2**attempt)
        return longest * random.uniform(0.5, 1.0)

    @property
    def _host(self) -> str:
        return str(load_httpx().URL(self.url).netloc, "ascii")

    @cached_property
    def _http(self) -> Any:
        httpx, headers = load_httpx(), {"Accept-Encoding": "gzip", **self._key_header()}
        try:
            # A proxy from the environment would carry loopback traffic off this machine.
            return httpx.Client(
                timeout=self.timeout, follow_redirects=False, trust_env=not self.loopback, headers=headers
            )
        except (ValueError, ImportError, httpx.InvalidURL):
            raise UsageError("the proxy that the environment names (HTTPS_PROXY, ALL_PROXY) can't be used") from None

    def _key_header(self) -> dict[str, str]:
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            return {}
        if not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError(f"the environment variable {self.key_variable} does not hold a usable key")
        if not self.loopback and self.url.startswith("http:"):
            raise UsageError(f"the key in {self.key_variable} would travel unencrypted: use https in base_url")
        return {"Authorization": f"Bearer {key}"}


def load_httpx() -> Any:
    """The library that speaks HTTP, which is an extra."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("an embeddings endpoint", "endpoints") from error
    return httpx


def _within(seconds: float, work: Callable[[], T]) -> T:
    """What the work returns, or a TimeoutError when it takes longer, whatever it waits for.

    Time-outs of sockets start again with every byte, and looking up a name has none. Work that takes too long is left
    to a thread which does not keep the process from ending.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer.result(timeout=seconds)
