"""Was it learnt from? Attacks on the training side."""
