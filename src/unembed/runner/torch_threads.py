"""The number of threads of torch, without loading it: most audits never need it, and it takes a second to load."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def set_torch_threads(threads: int) -> None:
    """The number of threads is part of a cell's identity, so that every back-end gives the same bits.

    Where torch is not loaded yet, it gets the number as soon as it is.
    """
    _BEFORE.threads = threads
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(threads)
    elif _BEFORE not in sys.meta_path:
        sys.meta_path.insert(0, _BEFORE)


class _BeforeOthers(MetaPathFinder):
    """Finds torch where the other finders find it, and sets its threads when it is loaded."""

    threads = 1

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "torch":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._set_once_loaded(spec.loader)
        return spec

    def _set_once_loaded(self, loader: Loader) -> None:
        load = loader.exec_module

        def load_and_set(module: ModuleType) -> None:
            load(module)
            module.set_num_threads(self.threads)

        # On this one loader, which stays of its class: torch is asked for its source through it.
        vars(loader)["exec_module"] = load_and_set


_BEFORE = _BeforeOthers()
