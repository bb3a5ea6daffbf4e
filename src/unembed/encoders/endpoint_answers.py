"""Reading what an OpenAI-compatible ``/embeddings`` endpoint answers, how much of it, and how long it asks to wait."""

from __future__ import annotations

import base64
import binascii
import re
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from unembed.encoders.base import DenseVectors
from unembed.encoders.callables import checked_vectors
from unembed.errors import CannotMeasureError, DataError

#: An answer may hold so many bytes for each number asked for, and as many besides as ``_BESIDES`` says.
_PER_NUMBER = 64
_BESIDES = 1 << 20
#: The longest vector that is counted with: a server's first answer must not decide how large the next may be.
_LONGEST = 16_384


@dataclass(frozen=True, slots=True)
class Answer:
    """The vectors of one request, in the order of its texts, and the model that the server names."""

    vectors: DenseVectors
    model: str | None


def most_bytes(count: int, dimension: int | None) -> int:
    """How large an answer with so many vectors may be, as it is sent and when decompressed."""
    return count * min(dimension or _LONGEST, _LONGEST) * _PER_NUMBER + _BESIDES


def read_body(chunks: Iterable[bytes], coding: str, most: int, deadline: float) -> bytes:
    """A body as it arrives, decompressed; given up once it is too large or the time is over, so memory stays bounded.

    Only gzip is asked for. Other codings, and several at once, can grow without a bound that is known beforehand.
    """
    if coding not in ("", "identity", "gzip"):
        raise zlib.error(f"unknown coding {coding!r}")
    unpack = zlib.decompressobj(wbits=31) if coding == "gzip" else None
    body, sent = bytearray(), 0
    for chunk in chunks:
        sent += len(chunk)
        body += chunk if unpack is None else unpack.decompress(chunk, most + 1 - len(body))
        if max(sent, len(body)) > most:
            raise CannotMeasureError(f"the endpoint's answer is larger than {most:,} bytes, more than its vectors need")
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(body)


def read_answer(body: Any, count: int, dimensions: int | None) -> Answer:
    """A decoded JSON answer as vectors; anything unexpected is an error that says what."""
    if not isinstance(body, dict) or not isinstance(body.get("data"), list):
        raise DataError("the endpoint's answer has no list 'data': is it an OpenAI-compatible /embeddings?")
    items = body["data"]
    if len(items) != count:
        raise DataError(f"the endpoint returned {len(items)} vectors for {count} texts")
    if not all(isinstance(item, dict) and "embedding" in item for item in items):
        raise DataError("the endpoint's answer has an entry without 'embedding'")
    if any("index" in item for item in items):
        if sorted(str(item.get("index")) for item in items) != sorted(map(str, range(count))):
            raise DataError("the endpoint's answer has 'index' fields that do not number its vectors")
        items = sorted(items, key=lambda item: int(item["index"]))
    vectors = checked_vectors([_numbers(item["embedding"]) for item in items], count, "the endpoint")
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise DataError(f"the endpoint returned {vectors.shape[1]} dimensions where {dimensions} are expected")
    model = body.get("model")
    return Answer(vectors, model if isinstance(model, str) else None)


def _numbers(embedding: Any) -> Any:
    """A list of numbers, or little-endian float32 in base64; numpy would take ``true`` for one."""
    if isinstance(embedding, list) and set(map(type, embedding)) <= {int, float}:
        return embedding
    if not isinstance(embedding, str):
        raise DataError("the endpoint returned a vector that is not a list of real numbers")
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    except (binascii.Error, ValueError):
        raise DataError("the endpoint returned a vector that is not valid base64 of float32") from None


def error_code(body: Any) -> str:
    """The short code of an error answer; its message is left out, because servers repeat the input there."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        for key in ("code", "type"):
            found = error.get(key)
            if isinstance(found, str) and re.fullmatch(r"[a-z][a-z_]{0,40}", found):
                return found
    return ""


def retry_after(header: str | None, cap: float) -> float | None:
    """Seconds to wait by a ``Retry-After`` header (seconds or an HTTP date), never more than ``cap``."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), cap) if seconds == seconds else None
