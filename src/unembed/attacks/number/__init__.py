"""Attacks on quantities."""
