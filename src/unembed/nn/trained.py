"""What everything that trains a network shares: the parameters of the loop, the device, and the random choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unembed.nn.device import pick_device
from unembed.nn.features import Standardiser
from unembed.params import Parametrised, learnt
from unembed.seeds import generator, seed_for

if TYPE_CHECKING:
    import torch

    from unembed.nn.training import TrainingLog


class Trained(Parametrised):
    """A network trained by ``nn.training.train``; with few rows it makes ``min_steps`` steps, however few epochs."""

    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 1e-3
    min_steps: int = 300
    device: str = "auto"
    seed: int = 0

    device_: torch.device = learnt()
    scaler_: Standardiser = learnt()
    model_: Any = learnt()
    log_: TrainingLog = learnt()

    def _start(self) -> None:
        """Choose the device; weights drawn from now on follow from the seed."""
        import torch

        self.device_ = pick_device(self.device)
        torch.manual_seed(seed_for(self.seed, "weights") % 2**32)

    def _train(self, model: Any, loss_of: Callable[[Any], Any], n: int, **more: Any) -> None:
        """Minimise ``loss_of`` over ``n`` rows by the parameters; ``more`` goes before them."""
        from unembed.nn.training import train

        loop = {name: getattr(self, name) for name in ("epochs", "min_steps", "batch_size", "learning_rate")}
        self.log_ = train(model, loss_of, n=n, rng=generator(self.seed, "batches"), **(loop | more))
        self.model_ = model

    def _said(self, vectors: Any) -> torch.Tensor:
        """What the network says of vectors."""
        import torch

        with torch.no_grad():
            said: torch.Tensor = self.model_(torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_))
        return said
