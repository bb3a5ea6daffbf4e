"""Reassembly runs through an audit, with words of one's own and with proposed ones."""

from unembed.runner.execute import audit
from unembed.runner.spec import build_spec


def spec_for(place, **over):
    given = {
        "data": {"texts": "generator:messages", "max_texts": 300},
        "encoder": {"name": "hashing", "features": 4096},
        "external": {"rows": 200},
        "games": ["reassembly"],
        "adversaries": ["insider"],
        "attacks": ["keyword/svm", "keyword/aligned"],
        "params": {"reassembly": {"propose": 15, "samples": 30}},
        "run": {"folder": str(place / "run"), "no_cache": True},
        **over,
    }
    return build_spec(given)


def test_a_proposed_list_is_ranked_and_its_words_are_masked(tmp_path):
    run, _ = audit(spec_for(tmp_path))
    assert {f.attack for f in run.findings} == {"keyword/svm", "keyword/aligned"}
    for finding in run.findings:
        assert finding.metric == "recall_at_top"
        assert finding.estimate.value > finding.floor.value
        assert {"first_word_right", "balanced_word_accuracy"} <= set(finding.secondary)
        assert all("•" in s.name for s in finding.slices)


def test_words_of_ones_own_are_asked_for(tmp_path):
    words = ["parcel", "invoice", "delivery", "doctor", "payment", "account"]
    words += ["refund", "address", "order", "phone", "appointment", "card"]
    run, _ = audit(spec_for(tmp_path, keyword={"words": words}, attacks=["keyword/svm"]))
    assert run.findings[0].subject == "12 words"
