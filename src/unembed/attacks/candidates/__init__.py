"""Attacks that rank a list of candidate texts by a vector."""
