"""Formats and linear maps in an audit: who can attack them, and what a key hides from whom."""

import pytest
from defense_audit import small_audit

from unembed.errors import UsageError
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

#: Codebooks of 256 entries need as many vectors of the owner's.
DATA = {"texts": "generator:messages", "max_texts": 600, "attributes": ["topic"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    defenses = [
        "rotation",
        {"name": "truncation", "components": 1, "kind": "principal"},
        [{"name": "rotation"}, {"name": "product-quantization", "bytes": 4}],
    ]
    return audit(
        build_spec(small_audit(tmp_path_factory.mktemp("audit"), data=DATA, defenses=defenses, utility=["retrieval"]))
    )[0]


def test_vectors_of_another_dimension_are_attacked_by_who_knows_it_and_the_rest_is_said(run):
    assert run.status == "complete"
    short = "truncation(components=1, kind=principal)"
    assert [f.adaptive for f in run.findings if f.defense == short] == [True]
    (left_out,) = [s for s in run.skipped if s.what.startswith(short)]
    assert "it stores 1 of 24 numbers" in left_out.reason
    assert short in [v.variant for v in run.verdict.variants]


def test_a_rotation_hides_from_who_has_no_pairs_behind_it_and_costs_no_neighbour(run):
    found = {f.adaptive: f for f in run.findings if f.defense == "rotation"}
    assert found[False].status != "leak"
    # An insider has pairs as they are stored, which is all that it takes.
    assert found[True].status == "leak"
    plain = next(f for f in run.findings if f.defense is None)
    assert found[True].estimate.value == pytest.approx(plain.estimate.value, abs=0.03)
    (score,) = [u for u in run.utility if u.variant == "rotation"]
    assert score.estimate.value == pytest.approx(1, abs=1e-6)


def test_more_components_than_dimensions_end_the_audit_before_anything_is_measured(tmp_path):
    with pytest.raises(UsageError, match="between 1 and the dimension 24, not 40"):
        audit(build_spec(small_audit(tmp_path, defenses=[{"name": "truncation", "components": 40}])))
