"""Files of a run folder that carry a digest of what they hold: a damaged one is not taken for a result."""

from __future__ import annotations

import hashlib
from typing import Self

from unembed.strict import Strict


class Sealed(Strict):
    """What is written to one file, and its digest."""

    digest: str = ""

    def sealed(self) -> Self:
        """The same as its file will be read, with the digest of that."""
        read = type(self).model_validate_json(self.model_dump_json())
        return read.model_copy(update={"digest": read._digest()})

    @property
    def is_whole(self) -> bool:
        """Whether it is what was sealed."""
        return self.digest == self._digest()

    def _digest(self) -> str:
        return hashlib.sha256(self.model_dump_json(exclude={"digest"}).encode()).hexdigest()
