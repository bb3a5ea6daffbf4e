"""Figures 3 to 5 of Mahloujifar: on invented text they run, resume, and keep to what the adversary may know."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.corpora.generators.messages import generate_messages
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.mahloujifar2021_shadows import SCALES, Study
from unembed.shadows.compiled import Compiled


@pytest.mark.parametrize(("name", "rows"), [("figure3", 9), ("figure4", 8), ("figure5", 2)])
def test_every_row_is_measured_on_invented_text(name, rows):
    found = EXPERIMENTS.get(f"mahloujifar2021/{name}")().run(Conditions(size="smoke", threads=1))
    assert not found.unmeasured
    assert len({row.setting for row in found.rows}) == rows
    assert all(row.published is None for row in found.rows)
    assert {"accuracy", "advantage", "AUC"} <= {row.metric for row in found.rows if "mail" in row.setting}
    assert not [row for row in found.rows if row.metric == "TPR at 0.1 % FPR"], "so few trials can't show it"


def study(share=1.0, proxy=None):
    return Study(Conditions(size="smoke"), SCALES["smoke"], generate_messages(500, seed=0), proxy, share)


def test_shadow_models_and_models_under_attack_share_no_mail_but_the_users():
    trials = study().trials
    users = set(np.concatenate(trials.users).tolist())
    sides = [set(np.concatenate(side.rows).tolist()) - users for side in (trials.shadow_samples, trials.samples)]
    assert not sides[0] & sides[1]


def test_shadow_models_of_another_corpus_hold_none_of_the_attacked_one_but_the_users():
    trials = study(proxy=generate_messages(400, seed=1)).trials
    users = set(np.concatenate(trials.users).tolist())
    others = set(np.concatenate(trials.shadow_samples.rows).tolist()) - users
    assert min(others) >= 500


def test_a_share_of_a_users_mails_is_used_by_both_sides():
    trials = study(share=0.5).trials
    for samples in (trials.shadow_samples, trials.samples):
        for rows, inside in zip(samples.rows, samples.members, strict=True):
            for user, here in zip(trials.users, inside, strict=True):
                assert np.isin(user, rows).sum() == (max(1, round(len(user) / 2)) if here else 0)


def test_a_killed_run_trains_no_model_twice(tmp_path, monkeypatch):
    trained, train = [], Compiled.train

    def counting(self, corpus, rows, seed):
        if len(trained) == 17:
            raise KeyboardInterrupt
        trained.append(seed)
        return train(self, corpus, rows, seed)

    monkeypatch.setattr(Compiled, "train", counting)
    conditions = Conditions(size="smoke", folder=tmp_path, threads=1)
    experiment = EXPERIMENTS.get("mahloujifar2021/figure3")()
    with pytest.raises(KeyboardInterrupt):
        experiment.run(conditions)
    monkeypatch.setattr(Compiled, "train", lambda *a: trained.append(a[3]) or train(*a))
    resumed = experiment.run(conditions)
    assert len(trained) == len(set(trained)) == 30
    fresh = experiment.run(replace(conditions, folder=None))
    assert [(r.setting, r.metric, r.value) for r in resumed.rows] == [
        (r.setting, r.metric, r.value) for r in fresh.rows
    ]
