"""``python -m unembed.cli``."""

import sys

from unembed.cli import main

sys.exit(main())
