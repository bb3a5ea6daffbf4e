"""The few torch modules and the one training loop that all neural attacks share."""
