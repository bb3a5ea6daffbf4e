"""Where a pretrained model lies on this machine: a folder, or a hub name in the local hub cache.

Nothing is downloaded unless the caller says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from unembed.encoders.torch_encoding import PRECISIONS, Precision
from unembed.errors import DataError, MissingExtraError, UnknownNameError, UsageError
from unembed.params import Parametrised

#: What is fetched when a download was allowed; pickled weights only where nothing else exists.
_SAFE_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]


class LocalModel(Parametrised):
    """An encoder whose pretrained model lies on this machine, and is loaded when it first encodes."""

    shorthand: ClassVar[str] = "model"
    family: ClassVar[str]

    model: str = field(kw_only=False)
    normalise: bool = False
    max_tokens: int | None = None
    dtype: Precision = "float32"
    device: str = "auto"
    revision: str | None = None
    prompts: Mapping[str, str] | None = None
    allow_download: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Parameters only: a worker process loads the weights itself."""
        return self.get_params()

    @cached_property
    def _folder(self) -> Path:
        return locate_model(self.model, revision=self.revision, allow_download=self.allow_download)

    @property
    def _display_name(self) -> str:
        given = Path(self.model).expanduser()
        return f"{self.family}:{given.resolve().name if given.is_dir() else self.model}"

    def _check_precision(self) -> None:
        if self.dtype not in PRECISIONS:
            raise UnknownNameError("dtype", str(self.dtype), PRECISIONS)


def locate_model(model: str | Path, *, revision: str | None = None, allow_download: bool = False) -> Path:
    """The local folder of a model given by folder or by hub name."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    text = str(model)
    if folder.is_absolute() or text.startswith((".", "~")) or text.count("/") > 1 or "\\" in text:
        raise UsageError(f"no such model folder: {text}")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise MissingExtraError("a model by hub name", "neural") from error
    try:
        found = Path(
            snapshot_download(text, revision=revision, local_files_only=not allow_download, allow_patterns=_SAFE_FILES)
        )
        if allow_download and not any(found.rglob("*.safetensors")):
            found = Path(snapshot_download(text, revision=revision, allow_patterns=[*_SAFE_FILES, "*.bin"]))
    except HFValidationError:
        raise UsageError(f"'{text}' is neither a folder nor a hub name like 'owner/model'") from None
    except LocalEntryNotFoundError:
        raise UsageError(
            f"model '{text}' is not on this machine: give its folder, or allow_download=true to fetch it once"
        ) from None
    except (HfHubHTTPError, OSError) as error:
        raise UsageError(f"model '{text}' can't be fetched: {type(error).__name__}") from None
    return found


def require_weights(folder: Path) -> bool:
    """Whether the weights are safetensors; False: a ``.bin`` that is only read with ``weights_only``."""
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder} is not a model folder: config.json is missing")
    if any(folder.glob("*.safetensors")):
        return True
    if any(folder.glob("pytorch_model*.bin")):
        return False
    raise DataError(f"{folder} holds no weights: expected *.safetensors")
