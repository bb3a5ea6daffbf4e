"""The cost of inversion/mlp grows with the pairs and has no cliff."""

import itertools

import pytest

from unembed.attacks.inversion.mlp import settings_for


@pytest.mark.parametrize(
    ("pairs", "settings"),
    [
        (1_999, (0, 128, 1e-3)),
        (2_000, (0, 256, 1e-3)),
        (20_000, (0, 512, 1e-3)),
        (40_000, (0, 512, 1e-3)),
        (140_000, (2048, 2048, 2e-3)),
        (400_000, (2048, 2048, 2e-3)),
    ],
)
def test_the_settings_that_were_measured_stay(pairs, settings):
    assert settings_for(pairs) == settings


def test_a_tenth_more_pairs_never_add_more_than_an_eighth_of_the_units():
    sizes = [int(1_000 * 1.1**step) for step in range(80)]
    widths = [settings_for(pairs)[0] for pairs in sizes]
    assert widths == sorted(widths)
    assert max(after - before for before, after in itertools.pairwise(widths)) <= 2048 // 8
