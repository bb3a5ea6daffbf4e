"""Planning an audit without running it."""

from unembed.encoders.base import EncoderCard
from unembed.runner.plan import Plan, ask, make_plan
from unembed.runner.prepare import read_sides
from unembed.runner.spec import AuditSpec


def planned(spec: AuditSpec, card: EncoderCard, digest: str = "") -> Plan:
    """The plan of a spec for an encoder that is not run."""
    sides = read_sides(spec)
    return make_plan(spec, sides, ask(spec, sides), card, digest)
