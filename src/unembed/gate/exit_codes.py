"""What the command line ends with, and what each number means."""

from __future__ import annotations

from typing import Final

MET: Final = 0
VIOLATED: Final = 1
USAGE: Final = 2
COULD_NOT_MEASURE: Final = 3
INTERRUPTED: Final = 130

MEANING: Final[dict[int, str]] = {
    MET: "everything was measured, and the policy is met or there is none",
    VIOLATED: "the policy is violated",
    USAGE: "the command, the audit file or the data can't be used as it is",
    COULD_NOT_MEASURE: "something could not be measured, a rule is inconclusive, or nothing ran",
    INTERRUPTED: "interrupted from the keyboard",
}
