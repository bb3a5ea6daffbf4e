"""Settings of an audit that takes seconds."""

#: One question, one attack, no curve, no references: an audit of a second.
SMALL = {
    "games": ["attribute"],
    "attacks": ["attribute/linear"],
    "adversaries": ["insider"],
    "curve": [],
    "references": [],
    "repeats": 0,
    "calibrate": False,
    "progress": False,
}
