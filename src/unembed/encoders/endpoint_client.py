"""Requests to an embeddings endpoint: keys, limits, retries; the only place that opens a connection."""

from __future__ import annotations

import logging
import os
import random
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from unembed.encoders.endpoint_answers import Answer, error_code, read_answer, retry_after
from unembed.errors import CannotMeasureError, DataError, MissingExtraError, UsageError

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 0.5
_log = logging.getLogger(__name__)


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
        reason = ""
        for attempt in range(self.retries + 1):
            reason, wait, body = self._once(payload)
            if not reason:
                return read_answer(body, len(texts), expected)
            if attempt < self.retries:
                delay = wait if wait is not None else self._back_off(attempt)
                _log.info("%s: %s; trying again in %.1f s", self._host, reason, delay)
                if self.stopped.wait(delay):
                    break
        raise EndpointFailedError(f"the endpoint at {self._host} failed {self.retries + 1} times: {reason}")

    def _once(self, payload: dict[str, Any]) -> tuple[str, float | None, Any]:
        """One attempt: (why it failed or '', seconds the server asks to wait, decoded body)."""
        http = self._http
        import httpx

        self._count()
        try:
            response = http.post(self.url, json=payload)
        except httpx.TimeoutException:
            return f"no answer within {self.timeout:g} s", None, None
        except httpx.TransportError as error:
            return f"the connection failed ({type(error).__name__})", None, None
        except httpx.DecodingError:
            return "the answer can't be decompressed", None, None
        try:
            body = response.json()
        except ValueError:
            body = None
        if response.status_code == 200:
            return ("" if body is not None else "the answer is no JSON"), None, body
        code = error_code(body)
        shown = f"HTTP {response.status_code}" + (f" ({code})" if code else "")
        if response.status_code in _PASSING and code != "insufficient_quota":
            return shown, retry_after(response.headers.get("retry-after"), self.max_wait), None
        raise self._refused(response, shown)

    def _refused(self, response: Any, shown: str) -> Exception:
        status = response.status_code
        if status in (400, 413, 422):
            return TooLargeError(shown)
        if status in (401, 403):
            held = "is set but was refused" if os.environ.get(self.key_variable) else "is not set"
            return UsageError(
                f"{self._host} wants a key ({shown}): the environment variable {self.key_variable} {held}"
            )
        if 300 <= status < 400:
            target = urlsplit(response.headers.get("location", "")).hostname or "another address"
            return UsageError(f"{self._host} redirects to {target}, which is not followed: give the final base_url")
        if status == 404:
            return UsageError(f"{self._host} knows no such address or model ({shown}): check base_url and model")
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
        return urlsplit(self.url).netloc

    @cached_property
    def _http(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("an embeddings endpoint", "endpoints") from error
        # A proxy from the environment would carry loopback traffic off this machine.
        return httpx.Client(
            timeout=self.timeout,
            follow_redirects=False,
            trust_env=not self.loopback,
            headers=self._key_header(),
        )

    def _key_header(self) -> dict[str, str]:
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            return {}
        if not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError(f"the environment variable {self.key_variable} holds no usable key")
        if not self.loopback and self.url.startswith("http:"):
            raise UsageError(f"the key in {self.key_variable} would travel unencrypted: use https in base_url")
        return {"Authorization": f"Bearer {key}"}
