"""An OpenAI-compatible ``/v1/embeddings`` endpoint as an encoder.

Texts leave the machine only if ``allow_remote`` says so; loopback addresses need no permission. The key comes
from the environment and appears nowhere else. Neither do texts: errors name rows.

Every request with several texts holds one known sentence more, whose vector was asked for alone before. If it comes
back as another vector, the rows are in another order, depend on their batch, or come from another model.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unembed.encoders.base import DenseVectors, EncoderCard, differ
from unembed.encoders.callables import unit_norm
from unembed.encoders.endpoint_answers import Answer
from unembed.encoders.endpoint_client import EndpointClient, TooLargeError, load_httpx
from unembed.encoders.torch_encoding import without_surrogates
from unembed.errors import CannotMeasureError, DataError, RemoteNotAllowedError, UsageError
from unembed.params import Parametrised

#: The sentence whose vector tells one model behind an address from another.
FINGERPRINT_SENTENCE = "The quick brown fox jumps over the lazy dog."
_CHARACTERS_PER_TOKEN = 4
_DEFAULT_KEY = "OPENAI_API_KEY"
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """What encoding would take, before anything is sent; tokens are characters divided by four."""

    requests: int
    tokens: int
    cost: float | None


class EndpointEncoder(Parametrised):
    """Vectors from an embeddings endpoint.

    Args:
        base_url: up to and including the version, e.g. ``http://localhost:8000/v1``.
        model: the name the server knows the model by.
        api_key_env: the environment variable that holds the key; without the usual one, or if this is empty, no key
            is sent.
        dimensions: asked of models that can shorten their vectors.
        batch_size, batch_tokens: most texts and (estimated) tokens in one request, the known sentence included.
        max_concurrency: requests in flight.
        timeout: seconds for one request, from the first byte sent to the last one received.
        retries: how often a request is repeated after a passing failure.
        max_wait: most seconds between two attempts, whatever the server asks.
        max_requests: cap on requests, repeated ones included, over the life of this encoder.
        price_per_million_tokens: for ``estimate``.
        currency: of that price, such as EUR; only shown.
        allow_remote: whether texts may leave this machine.
        prompts: text put before each text, by role.
        normalise: unit L2 norm.
    """

    shorthand: ClassVar[str] = "base_url"
    #: Answers in another order than the texts are noticed here, so callers need not check for them.
    checks_order: ClassVar[bool] = True

    base_url: str = field(kw_only=False)
    model: str
    api_key_env: str = _DEFAULT_KEY
    dimensions: int | None = None
    batch_size: int = 128
    batch_tokens: int = 32_000
    max_concurrency: int = 4
    timeout: float = 60.0
    retries: int = 5
    max_wait: float = 60.0
    max_requests: int | None = None
    price_per_million_tokens: float | None = None
    currency: str | None = None
    allow_remote: bool = False
    prompts: Mapping[str, str] | None = None
    normalise: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Parameters only: a worker process opens its own connections."""
        return self.get_params()

    @cached_property
    def card(self) -> EncoderCard:
        """What answers at the address; asks for the vector of one fixed sentence."""
        probe = self._probe
        identity = [self._url, self.model, probe.model, fingerprint(probe.vectors[0])]
        prompts = json.dumps(dict(self.prompts), sort_keys=True) if self.prompts else None
        return EncoderCard(
            name=f"endpoint:{self.model}",
            family="endpoint",
            digest=hashlib.sha256(json.dumps(identity).encode()).hexdigest(),
            dimension=probe.vectors.shape[1],
            normalised=self.normalise or bool(abs(np.linalg.norm(probe.vectors[0]) - 1) < 1e-3),
            revision=probe.model,
            remote=not self._is_loopback,
            options=(("prompts", prompts),) if prompts else (),
        )

    def check(self) -> None:
        """Refuse settings that can't work, without sending anything."""
        positive = min(self.batch_size, self.batch_tokens, self.max_concurrency, self.timeout) > 0
        if not (positive and self.timeout <= _DAY and 0 <= self.max_wait <= _DAY and 0 <= self.retries <= 100):
            raise UsageError(
                "batch_size, batch_tokens, max_concurrency and timeout must be positive, timeout and max_wait at most "
                "a day, retries from 0 to 100"
            )
        # Only what is in the environment is known to be a name and not the key itself, so nothing else is repeated.
        if self.api_key_env and self.api_key_env != _DEFAULT_KEY and self.api_key_env not in os.environ:
            raise UsageError(
                "api_key_env does not name an environment variable that is set: put the key into one and give its name"
            )
        _ = self._url

    def check_permission(self) -> None:
        """Refuse to let texts leave this machine unless they may, without sending anything."""
        if not self._is_loopback and not self.allow_remote:
            raise RemoteNotAllowedError(
                f"texts would be sent to {self._host}: add --allow-remote (in Python allow_remote=True) if they may"
            )

    def estimate(self, *calls: Sequence[str], role: str = "document") -> CallEstimate:
        """Requests, tokens and price of these calls of ``encode`` on a new encoder, without sending anything."""
        requests, tokens = 1, _tokens(FINGERPRINT_SENTENCE)
        for texts in (self._prepared(call, role) for call in calls):
            batches = self._batches(texts)
            requests += len(batches)
            tokens += sum(map(_tokens, texts))
            tokens += _tokens(FINGERPRINT_SENTENCE) * sum(len(rows) > 1 for rows in batches)
        price = self.price_per_million_tokens
        return CallEstimate(requests, tokens, None if price is None else tokens * price / 1e6)

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One float32 vector per text, in order."""
        empty = [row for row, text in enumerate(texts) if not text.strip()]
        if empty:
            raise DataError(
                f"{len(empty)} texts are empty (rows {', '.join(map(str, empty[:5]))}"
                f"{', …' if len(empty) > 5 else ''}): endpoints refuse them, leave them out"
            )
        prepared = self._prepared(texts, role)
        dimension = self._probe.vectors.shape[1]
        vectors = np.empty((len(texts), dimension), dtype=np.float32)
        batches = self._batches(prepared)
        self._client.reserve(len(batches))

        def work(batch: range) -> None:
            vectors[batch.start : batch.stop] = self._embed(prepared, batch, dimension)

        with ThreadPoolExecutor(self.max_concurrency) as pool:
            running = [pool.submit(work, batch) for batch in batches]
            try:
                for future in running:
                    future.result()
            except BaseException:
                self._client.stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                self._client.stopped.clear()
                raise
        return unit_norm(vectors) if self.normalise else vectors

    @cached_property
    def _probe(self) -> Answer:
        return self._client.embed([FINGERPRINT_SENTENCE], self.dimensions)

    def _embed(self, texts: list[str], rows: range, dimension: int) -> DenseVectors:
        """The vectors of some rows; a request the server finds too large or bad is halved."""
        asked = texts[rows.start : rows.stop]
        # A fixed place could be one that a server's wrong order leaves alone.
        place = zlib.crc32(asked[0].encode()) % (len(asked) + 1)
        if len(rows) > 1:
            asked.insert(place, FINGERPRINT_SENTENCE)
        try:
            answer = self._client.embed(asked, dimension)
        except TooLargeError as error:
            if len(rows) == 1:
                raise DataError(f"the endpoint refuses the text at row {rows.start}: {error}") from None
            middle = rows.start + len(rows) // 2
            halves = (range(rows.start, middle), range(middle, rows.stop))
            return np.concatenate([self._embed(texts, half, dimension) for half in halves])
        if answer.model != self._probe.model:
            raise DataError("the endpoint changed its model while encoding: its answers name different ones")
        if len(rows) == 1:
            return answer.vectors
        if differ(answer.vectors[place], self._probe.vectors[0]):
            raise CannotMeasureError(
                "the endpoint gives a sentence another vector among others than alone: its answers come in another "
                "order than the texts, depend on the texts beside them, or come from several models"
            )
        return np.delete(answer.vectors, place, axis=0)

    def _prepared(self, texts: Sequence[str], role: str) -> list[str]:
        prefix = (self.prompts or {}).get(role, "")
        return [without_surrogates(prefix + text) for text in texts]

    def _batches(self, texts: list[str]) -> list[range]:
        """Consecutive rows, as many as both limits allow beside the known sentence."""
        known = _tokens(FINGERPRINT_SENTENCE)
        batches, start, held = [], 0, known
        for row, text in enumerate(texts):
            size = _tokens(text)
            if row > start and (row - start >= self.batch_size - 1 or held + size > self.batch_tokens):
                batches.append(range(start, row))
                start, held = row, known
            held += size
        if texts:
            batches.append(range(start, len(texts)))
        return batches

    @cached_property
    def _client(self) -> EndpointClient:
        self.check()
        self.check_permission()
        return EndpointClient(
            url=self._url,
            model=self.model,
            dimensions=self.dimensions,
            key_variable=self.api_key_env,
            loopback=self._is_loopback,
            timeout=self.timeout,
            retries=self.retries,
            max_wait=self.max_wait,
            max_requests=self.max_requests,
        )

    @cached_property
    def _url(self) -> str:
        """The address of the requests, as the library that sends them reads it."""
        httpx = load_httpx()
        try:
            url = httpx.URL(self.base_url)
            # As the name will be looked up: parts may be empty, too long or not what punycode allows.
            _ = url.host, url.raw_host.decode().encode("idna")
        except (httpx.InvalidURL, UnicodeError):
            url = httpx.URL()
        if (
            url.scheme not in ("http", "https")
            or not url.host
            or not 0 < (80 if url.port is None else url.port) < 1 << 16
        ):
            raise UsageError("base_url must look like https://host/v1 or http://localhost:8000/v1")
        if url.userinfo or "?" in self.base_url or "#" in self.base_url:
            raise UsageError(
                "base_url must not hold a user, password, query or fragment: put the key into an environment variable "
                "and name the variable in api_key_env"
            )
        path = url.path.rstrip("/") or "/v1"
        return str(url.copy_with(path=path if path.endswith("/embeddings") else f"{path}/embeddings"))

    @property
    def _host(self) -> str:
        return str(load_httpx().URL(self._url).host)

    @property
    def _is_loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self._host).is_loopback
        except ValueError:
            return self._host == "localhost"


def fingerprint(vector: DenseVectors) -> list[int]:
    """A vector's strongest coordinates with their signs: stable where servers jitter in the last digits.

    Between the 8th and the 32nd strongest the list is cut at the widest gap, so that jitter does not swap
    a coordinate in or out.
    """
    order = np.argsort(-np.abs(vector), kind="stable")
    strengths = np.abs(vector[order[:33]])
    cut = len(strengths)
    if len(strengths) > 9:
        cut = 9 + int(np.argmax(strengths[8:-1] - strengths[9:]))
    return sorted(int(i + 1) if vector[i] > 0 else -int(i + 1) for i in order[:cut])


def _tokens(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
