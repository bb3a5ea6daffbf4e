"""Sparse coding over a word matrix: batched solvers with a certificate, and the paper's procedure (Song eq. 7)."""
