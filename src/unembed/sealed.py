"""JSON files that carry a digest of what they hold: one that was damaged or edited is not taken for a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from unembed.errors import DataError

#: The key that the digest stands under.
SEAL = "seal"


class BrokenSealError(DataError):
    """A file does not hold what was written to it."""


def seal(content: BaseModel | Mapping[str, Any]) -> str:
    """The text of a file that holds this and its digest."""
    document = json.loads(content.model_dump_json() if isinstance(content, BaseModel) else json.dumps(content))
    document[SEAL] = _digest(document)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def unseal(text: str | bytes, *, required: bool = True) -> dict[str, Any]:
    """What a sealed file holds; a file without a seal is refused where one is ``required``."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenSealError("it is not valid JSON") from error
    if not isinstance(document, dict):
        raise BrokenSealError("it is not a JSON object")
    found = document.pop(SEAL, None)
    if found != _digest(document) and (required or found is not None):
        raise BrokenSealError("it was damaged or edited")
    return document


def _digest(document: dict[str, Any]) -> str:
    content = {key: value for key, value in document.items() if key != SEAL}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
