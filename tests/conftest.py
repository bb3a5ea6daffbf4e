"""What all tests share: none fails because the machine is busy, and none is slow because of it."""

import os

from hypothesis import settings

# As the command line does: threads that spin while they wait made an audit of three seconds one of three minutes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
