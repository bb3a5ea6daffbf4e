"""Torch gets its number of threads whether it is there already or comes later, and is not loaded for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

SET = "import sys\nfrom unembed.runner.torch_threads import set_torch_threads as set_threads\n"


def said(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", SET + script], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_torch_that_comes_later_has_the_number_and_is_loaded_as_ever() -> None:
    script = (
        "from importlib.util import find_spec\n"
        "set_threads(2)\nset_threads(3)\n"
        "print('torch' in sys.modules)\n"
        "find_spec('torch')\n"  # as transformers does, before it loads it
        "import torch, inspect\n"
        "print(torch.get_num_threads(), type(torch.__spec__.loader).__name__, bool(inspect.getsource(torch)))\n"
        "set_threads(1)\n"
        "print(torch.get_num_threads())\n"
    )
    assert said(script).split() == ["False", "3", "SourceFileLoader", "True", "1"]


def test_torch_that_is_not_there_is_not_missed() -> None:
    script = (
        "sys.path[:] = [p for p in sys.path if 'site-packages' not in p]\n"
        "set_threads(2)\n"
        "try:\n    import torch\nexcept ImportError as error:\n    print(error)\n"
    )
    assert said(script) == "No module named 'torch'"


def test_an_audit_without_torch_does_not_load_it() -> None:
    script = (
        "import unembed\n"
        "from unembed.corpora.generators import GENERATORS\n"
        "texts = GENERATORS.get('messages')(120, seed=1).texts\n"
        "found = unembed.audit(texts, encoder='tfidf', games='keyword', attacks='keyword/svm', threads=1,\n"
        "    adversaries='insider', params={'keyword': {'samples': 20}}, calibrate=False, repeats=0, progress=False)\n"
        "print(len(found.findings), 'torch' in sys.modules)\n"
    )
    assert said(script) == "1 False"
