"""What ``import unembed`` offers: audits, single attacks and results, from lists, arrays, frames and files alike."""

from __future__ import annotations

import os

# As the command line does: threads that spin while they wait make a small training many times slower on a busy
# machine. OpenMP reads it when it is loaded, so it helps whoever has not imported torch yet.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
