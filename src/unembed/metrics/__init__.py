"""Pure functions on arrays, and Estimate (value + interval)."""
