"""Where tensors live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unembed.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import torch


def require_torch(feature: str) -> None:
    """A one-line error with the install line where torch is missing."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise MissingExtraError(feature, "neural")


def pick_device(name: str = "auto") -> torch.device:
    """``auto``: CUDA, else Apple's MPS, else the CPU; anything else as given, if torch can use it here."""
    require_torch("this attack or encoder")
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"unknown device '{name}': use auto, cpu, cuda or cuda:N") from error
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"torch can't use device '{name}' here: use auto or cpu") from error
    return device
