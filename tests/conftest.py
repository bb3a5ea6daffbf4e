"""What all tests share: none fails because the machine is busy, and none is slow because of it."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

#: Begun first, so that none of them is still running when the other workers have nothing left to do.
LONGEST = [
    "conformance/test_registered.py",
    "cli/test_resume.py",
    "examples/test_examples_run.py",
    "cli/test_foreign_code.py",
    "papers/test_pan2020_keywords.py",
    "conformance/test_recipes.py",
    "docs/test_gallery.py",
    "runner/test_every_write.py",
    "runner/test_fitted_once.py",
    "attacks/test_layer_map.py",
]

# As the command line does: threads that spin while they wait made an audit of three seconds one of three minutes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, the others as they were."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
