"""Adversaries of the inversion game."""
