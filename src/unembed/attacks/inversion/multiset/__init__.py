"""Multi-set prediction: the network that names the words of a set one by one, and its training (Song eq. 9)."""
