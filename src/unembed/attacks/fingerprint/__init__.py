"""Which encoder made these vectors? Signatures of known encoders, and who fits them (Pan, Appendix D)."""

from unembed.attacks.fingerprint.book import SignatureBook
from unembed.attacks.fingerprint.identify import Candidate, Identification, identify
from unembed.attacks.fingerprint.learning import learn_from_encoder, learn_from_vectors
from unembed.attacks.fingerprint.signature import Signature

__all__ = [
    "Candidate",
    "Identification",
    "Signature",
    "SignatureBook",
    "identify",
    "learn_from_encoder",
    "learn_from_vectors",
]
