"""The names an audit asks for: those of a file, or those found in the texts with its help."""

from __future__ import annotations

from unembed.audit.prepare import Sides
from unembed.audit.spec import NamesSpec
from unembed.corpora.names import find_names, read_names
from unembed.errors import CannotMeasureError


def names_of(spec: NamesSpec, sides: Sides) -> tuple[str, ...]:
    """Names as the spec wants them; none where no file is named."""
    if spec.file is None:
        return ()
    listed = read_names(spec.file, spec.column)
    if not spec.find:
        return listed
    found = find_names([*sides.target.texts, *sides.known["inside"].texts], listed)
    if not found:
        raise CannotMeasureError(f"no name was found in the texts with the {len(listed)} names of {spec.file}")
    return found
