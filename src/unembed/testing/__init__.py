"""Conformance suites for third parties: every attack, defense, encoder, recipe and source must pass them."""

from unembed.testing.checks import check_attack, check_defense, check_encoder, check_source
from unembed.testing.recipes import check_recipe

__all__ = ["check_attack", "check_defense", "check_encoder", "check_recipe", "check_source"]
