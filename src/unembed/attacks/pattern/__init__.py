"""Adversaries of the pattern game."""
