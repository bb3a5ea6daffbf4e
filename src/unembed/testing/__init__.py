"""Conformance suites for third parties: every attack, defense, encoder, game and source must pass them."""

from unembed.testing.checks import check_attack, check_defense, check_encoder, check_source

__all__ = ["check_attack", "check_defense", "check_encoder", "check_source"]
