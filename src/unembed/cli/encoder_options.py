"""An encoder as a verb names it: a name, options as NAME=VALUE, and the texts that a fitted one learns from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unembed.encoders.base import Encoder


def named_encoder(name: str, options: Sequence[str], fit_on: str | None) -> Encoder:
    """The encoder, ready to encode."""
    from unembed.cli.request import name_and_value
    from unembed.corpora.readers import read_corpus_with_report
    from unembed.encoders import build_encoder

    given = dict(name_and_value(option, "--encoder-option") for option in options)
    texts = read_corpus_with_report(fit_on)[0].texts if fit_on else None
    return build_encoder(name, given, fit_texts=texts)
