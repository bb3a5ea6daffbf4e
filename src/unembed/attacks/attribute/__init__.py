"""Adversaries of the attribute game."""
