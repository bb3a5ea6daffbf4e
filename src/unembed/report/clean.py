"""Text that may stand in a document: no control characters, no broken surrogates, no tricks with direction.

Names in a run come from files and column headers of strangers. Escaping is each format's own business; this
removes what no format can hold (XML 1.0 forbids most control characters) and what would let a name
rearrange the line it stands in (bidirectional overrides).
"""

from __future__ import annotations

import re
from typing import Any

from unembed.results.schema import Run

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def clean_text(text: str) -> str:
    """The text with unfit characters replaced by U+FFFD, and one kind of line end."""
    return _UNFIT.sub("\ufffd", text.replace("\r\n", "\n"))


def cleaned(run: Run) -> Run:
    """The run with every string in it cleaned."""
    return Run.model_validate(_walk(run.model_dump()))


def _walk(data: Any) -> Any:
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, dict):
        return {_walk(key): _walk(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_walk(value) for value in data]
    return data
