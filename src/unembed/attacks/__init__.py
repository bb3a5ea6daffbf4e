"""The adversaries, one file each, in a folder for each game."""

from __future__ import annotations

from unembed.attacks.base import SomeAttack, check_attack_class
from unembed.registry import Registry

ATTACKS: Registry[type[SomeAttack]] = Registry(
    "attack",
    {
        "inversion/portfolio": "unembed.attacks.inversion.portfolio:InversionPortfolio",
        "inversion/mlc": "unembed.attacks.inversion.mlc:MLC",
        "inversion/mlp": "unembed.attacks.inversion.mlp:InversionMLP",
        "inversion/msp": "unembed.attacks.inversion.msp:InversionMSP",
        "inversion/committee": "unembed.attacks.inversion.committee:Committee",
        "inversion/relaxation": "unembed.attacks.inversion.relaxation:Relaxation",
        "inversion/layer-map": "unembed.attacks.inversion.layer_map:LayerMap",
        "inversion/sparse-coding": "unembed.attacks.inversion.sparse_coding:SparseCoding",
        "keyword/portfolio": "unembed.attacks.keyword.portfolio:KeywordPortfolio",
        "keyword/svm": "unembed.attacks.keyword.svm:KeywordSVM",
        "keyword/mlp": "unembed.attacks.keyword.mlp:KeywordMLP",
        "keyword/dann": "unembed.attacks.keyword.dann:DomainAdversarial",
        "keyword/aligned": "unembed.attacks.keyword.aligned:Aligned",
        "keyword/decoder": "unembed.attacks.keyword.decoder:KeywordDecoder",
        "pattern/fields": "unembed.attacks.pattern.fields:PatternFields",
        "pattern/shared": "unembed.attacks.pattern.shared:PatternShared",
        "pattern/positions": "unembed.attacks.pattern.positions:PatternPositions",
        "attribute/portfolio": "unembed.attacks.attribute.portfolio:AttributePortfolio",
        "attribute/linear": "unembed.attacks.attribute.linear:AttributeLinear",
        "attribute/textcnn": "unembed.attacks.attribute.textcnn:AttributeTextCNN",
        "number/portfolio": "unembed.attacks.number.portfolio:NumberPortfolio",
        "number/ridge": "unembed.attacks.number.ridge:NumberRidge",
        "fingerprint/classifier": "unembed.attacks.fingerprint.classifier:EncoderClassifier",
        "fingerprint/signatures": "unembed.attacks.fingerprint.densities:EncoderSignatures",
        "presence/nearest": "unembed.attacks.presence.nearest:PresenceNearest",
        "candidates/similarity": "unembed.attacks.candidates.similarity:CandidateSimilarity",
        "candidates/mapped": "unembed.attacks.candidates.mapped:CandidateMap",
        "recovery/procrustes": "unembed.attacks.recovery.procrustes:Procrustes",
        "recovery/unpaired": "unembed.attacks.recovery.unpaired:Unpaired",
        "membership/shadow-lasso": "unembed.attacks.membership.shadow_lasso:ShadowLasso",
        "membership/shadow-likelihood": "unembed.attacks.membership.shadow_likelihood:ShadowLikelihood",
        "membership/shadow-classifier": "unembed.attacks.membership.shadow_classifier:ShadowClassifier",
        "membership/class-thresholds": "unembed.attacks.membership.class_thresholds:ClassThresholds",
        "membership/likelihood-ratio": "unembed.attacks.membership.likelihood_ratio:LikelihoodRatio",
        "membership/user-aggregates": "unembed.attacks.membership.user_aggregates:UserAggregates",
        "membership/canary-exposure": "unembed.attacks.membership.canary_exposure:CanaryExposure",
        "membership/extraction": "unembed.attacks.membership.extraction:Extraction",
    },
    group="unembed.attacks",
    check=check_attack_class,
)
