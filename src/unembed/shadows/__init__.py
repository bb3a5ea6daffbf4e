"""Word vectors trained over and over on samples of one corpus: what membership attacks learn from (Mahloujifar 3)."""
