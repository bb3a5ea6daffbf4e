"""Conformance suites for third parties: every attack, defense, encoder, game, source and task must pass them."""

from unembed.testing.checks import check_attack, check_defense, check_encoder, check_source
from unembed.testing.utility_checks import check_utility

__all__ = ["check_attack", "check_defense", "check_encoder", "check_source", "check_utility"]
