"""The base of everything that is read from or written to a file: immutable, and an unknown field is an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Immutable; an unknown field is an error; a number that is not finite is null in JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="null")
