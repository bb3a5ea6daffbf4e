"""Planning an audit without running it."""

from unembed.audit.plan import Plan, ask, make_plan
from unembed.audit.prepare import read_sides
from unembed.audit.spec import AuditSpec
from unembed.encoders.base import EncoderCard


def planned(spec: AuditSpec, card: EncoderCard, digest: str = "") -> Plan:
    """The plan of a spec for an encoder that is not run."""
    sides = read_sides(spec)
    return make_plan(spec, sides, ask(spec, sides), card, digest)
