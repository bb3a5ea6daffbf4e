"""Presidio's recognisers of personal data that need neither a model nor a network, as a finder of spans.

Its recognisers of names and places need a language model, which would be a download; they are left out.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from unembed.errors import MissingExtraError

#: Presidio's names of what is looked for, and ours.
CALLED = {
    "EMAIL_ADDRESS": "an e-mail address",
    "PHONE_NUMBER": "a phone number",
    "IBAN_CODE": "an account number",
    "CREDIT_CARD": "a card number",
    "IP_ADDRESS": "an address of a machine",
    "US_SSN": "a social security number",
}
LANGUAGE = "en"


def presidio_spans(text: str) -> list[tuple[int, int, str]]:
    """Where personal data stand in a text, in order and without overlaps, with their kind."""
    found = _analyzer().analyze(text=text, language=LANGUAGE, entities=list(CALLED))
    taken: list[tuple[int, int, str]] = []
    # The surest first, the longest of equally sure ones.
    for one in sorted(found, key=lambda r: (-r.score, r.start - r.end, r.start, r.entity_type)):
        if all(one.end <= start or one.start >= end for start, end, _ in taken):
            taken.append((one.start, one.end, CALLED[one.entity_type]))
    return sorted(taken)


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    """An engine with pattern recognisers alone, and no linguistic pipeline."""
    if find_spec("presidio_analyzer") is None:
        raise MissingExtraError("the engine 'presidio'", "pii")
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NoOpNlpEngine
    from presidio_analyzer.predefined_recognizers import (
        CreditCardRecognizer,
        EmailRecognizer,
        IbanRecognizer,
        IpRecognizer,
        PhoneRecognizer,
        UsSsnRecognizer,
    )
    from tldextract import TLDExtract

    # The list of domains that comes with the package: the default one is fetched from the network.
    domains = TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmailRecognizer(EmailRecognizer):  # type: ignore[misc, unused-ignore]
        def validate_result(self, pattern_text: str) -> bool:
            return bool(domains(pattern_text).fqdn)

    pipeline = NoOpNlpEngine([{"lang_code": LANGUAGE, "model_name": "none"}])
    pipeline.load()
    kinds = (
        OfflineEmailRecognizer, PhoneRecognizer, IbanRecognizer, CreditCardRecognizer, IpRecognizer, UsSsnRecognizer,
    )  # fmt: skip
    registry = RecognizerRegistry(recognizers=[kind(supported_language=LANGUAGE) for kind in kinds])
    return AnalyzerEngine(registry=registry, nlp_engine=pipeline, supported_languages=[LANGUAGE])
