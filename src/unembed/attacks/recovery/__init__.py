"""Attacks of the game of recovery."""
