"""Importing is light, and the names that are offered are there."""

import inspect
import subprocess
import sys

import pytest

import unembed
from unembed.errors import UnknownNameError


def test_importing_loads_nothing_that_takes_time():
    heavy = ("numpy", "torch", "pydantic", "sklearn", "scipy", "rich", "pandas")
    code = f"import unembed, sys; dir(unembed); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_name_is_there_and_says_what_it_is():
    assert dir(unembed) == sorted(unembed.__all__)
    for name in set(unembed.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(unembed, name)), name
    with pytest.raises(AttributeError, match="no attribute 'audits'"):
        unembed.audits  # noqa: B018


def test_names_are_those_that_types_know():
    source = inspect.getsource(unembed)
    typed = source.partition("if TYPE_CHECKING:")[2].partition("\n\n")[0]
    for name in set(unembed.__all__) - {"__version__"}:
        assert name in typed, name


def test_audit_is_a_function_that_explains_itself():
    assert "texts" in inspect.signature(unembed.audit).parameters
    assert (inspect.getdoc(unembed.audit) or "").startswith("Measure what")


@pytest.mark.parametrize("kind", ["attacks", "games", "encoders", "defenses", "utility", "collections", "experiments"])
def test_what_is_available_is_told_with_a_line_on_each(kind):
    found = unembed.available(kind)
    assert found
    assert all(line and "\n" not in line for line in found.values())


def test_an_unknown_kind_is_told_apart():
    with pytest.raises(UnknownNameError, match="did you mean 'attacks'"):
        unembed.available("attack")
