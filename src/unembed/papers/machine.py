"""The name of what a row was measured on."""

from __future__ import annotations

import platform
from importlib.util import find_spec


def device_name(asked: str) -> str:
    """What attacks run on when this device is asked for."""
    if find_spec("torch") is None:
        return platform.machine()
    import torch

    from unembed.nn.device import pick_device

    device = pick_device(asked)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"{device.type} ({platform.machine()})"
