"""The names an audit asks for: those of a file, or those found in the texts with its help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field, model_validator

from unembed.corpora.names import find_names, read_names
from unembed.errors import CannotMeasureError
from unembed.games.asking import Audited, Options


class NamesOptions(Options):
    """Whose names the game of names asks for; without a file it is not played."""

    flags: ClassVar[Mapping[str, str]] = {"file": "names", "column": "names_column", "find": "find_names"}

    file: str | None = Field(default=None, description="file of names: one per line, or a table")
    column: str | None = Field(default=None, description="column of that table")
    find: bool = Field(
        default=False,
        description="the file holds first names: look for names in the texts with it",
        json_schema_extra={"option": "find_names"},
    )

    @model_validator(mode="after")
    def _file_first(self) -> NamesOptions:
        if self.file is None and (self.column or self.find):
            raise ValueError("column and find go with a file of names")
        return self


def listed_names(audited: Audited) -> tuple[str, ...]:
    """The names of the user's file, or those found in the texts with its help; none where no file is named."""
    options = audited.said("names", NamesOptions)
    if options.file is None:
        return ()
    listed = read_names(options.file, options.column)
    if not options.find:
        return listed
    found = find_names([*audited.target.texts, *audited.inside.texts], listed)
    if not found:
        raise CannotMeasureError(f"no name was found in the texts with the {len(listed)} names of {options.file}")
    return found
