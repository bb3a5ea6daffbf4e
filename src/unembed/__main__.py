"""``python -m unembed``."""

import sys

from unembed.cli import main

sys.exit(main())
