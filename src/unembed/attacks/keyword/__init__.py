"""Adversaries of the keyword game."""
