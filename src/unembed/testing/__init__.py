"""Conformance suites for third parties: every attack, collection, defense, encoder and game must pass them."""

from unembed.testing.checks import check_attack, check_collection, check_defense, check_encoder

__all__ = ["check_attack", "check_collection", "check_defense", "check_encoder"]
