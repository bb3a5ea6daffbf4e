from __future__ import annotations

import pytest
from report_examples import make_gate, make_run

from unembed.results.schema import Run


@pytest.fixture
def run() -> Run:
    return make_run()


@pytest.fixture
def judged_run() -> Run:
    return make_run(gate=make_gate())
