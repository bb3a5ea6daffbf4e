"""Threat model, plan, cells, run folder, scheduling and resume."""
