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
    """``auto`` takes a GPU when there is one."""
    require_torch("this attack")
    import torch

    torch.set_float32_matmul_precision("high")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"unknown device '{name}': use auto, cpu, cuda or cuda:N") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"device '{name}' asked for, but torch sees no GPU here: use auto or cpu")
    return device
