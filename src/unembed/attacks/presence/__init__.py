"""Attacks that ask whether a text lies in an index."""
