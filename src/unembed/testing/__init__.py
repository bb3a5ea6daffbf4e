"""Conformance suites for third parties: each kind of part that a plug-in may bring has one to pass."""

from unembed.testing.checks import check_attack, check_collection, check_defense, check_encoder
from unembed.testing.recipes import check_recipe
from unembed.testing.store_checks import check_store
from unembed.testing.utility_checks import check_utility

__all__ = [
    "check_attack",
    "check_collection",
    "check_defense",
    "check_encoder",
    "check_recipe",
    "check_store",
    "check_utility",
]
