"""Levels of findings, defaults, and corner cases of the instruments of generative models."""

import numpy as np
import pytest
import torch
from torch import nn

from gnomon.generative import GAN
from gnomon.generative.game import game_rotation
from gnomon.generative.gan import MinimaxLosses, NonSaturatingLosses, WassersteinLosses
from gnomon.generative.instruments import (
    classifier_test,
    density_ratio,
    generator_gradient_health,
    gradient_estimators,
    latent_knn_score,
    pca_gap,
    ratio_calibration,
    sample_coverage,
    score_curl,
)
from gnomon.generative.instruments.neighbors import SampleMemorization, nearest_distances
from tests.generative.test_instrument_formulas import THRESHOLDS

LEVELS = {
    "modes-dropped": "PROBLEM", "samples-differ": "PROBLEM", "score-wrong": "PROBLEM", "score-turns": "WARNING", "latent-holes": "PROBLEM",
    "worse-than-pca": "WARNING", "generator-silenced": "PROBLEM", "rotating-game": "WARNING", "ratio-not-calibrated": "WARNING",
    "density-not-normalized": "PROBLEM", "flow-not-invertible": "PROBLEM", "log-determinant-wrong": "PROBLEM", "posterior-collapsed": "PROBLEM",
}  # fmt: skip


def test_findings_have_their_level():
    seen = {f.kind: f.level.name for _, faulty in THRESHOLDS for f in faulty.findings if f.kind != "memorized-samples"}
    assert seen == LEVELS


@pytest.mark.parametrize(
    ("copied", "level"), [(0.5, "WARNING"), (0.4, "WARNING"), (0.74, "WARNING"), (0.75, "PROBLEM"), (1.0, "PROBLEM")]
)
def test_copying_is_a_problem_from_half_of_what_chance_leaves_on(copied, level):
    assert SampleMemorization(copied, 0.5, 0.001, 9).findings[0].level.name == level


def test_the_default_classifier_has_as_many_neighbors_as_the_root_of_the_examples():
    from sklearn.neighbors import KNeighborsClassifier

    x = torch.randn(41, 2, generator=torch.Generator().manual_seed(0))
    y = torch.randn(60, 2, generator=torch.Generator().manual_seed(1)) * 2
    six = classifier_test(x, y, classifier=KNeighborsClassifier(6), seed=2)  # 40 of each, half of both to train on
    assert classifier_test(x, y, seed=2) == six
    assert any(classifier_test(x, y, classifier=KNeighborsClassifier(k), seed=2) != six for k in (1, 40))
    assert six.examples == 80


@pytest.mark.parametrize("game", [MinimaxLosses(), NonSaturatingLosses(), WassersteinLosses()])
def test_gradients_of_a_generator_are_probabilities_and_their_complements(game):
    torch.manual_seed(0)
    gan = GAN(nn.Linear(1, 2), nn.Linear(2, 1), latent=1, shape=(2,), game=game).double()
    found = generator_gradient_health(gan, draws=9, seed=3)
    z = torch.randn(9, 1, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    p = 1 / (1 + np.exp(-gan.judge(gan.maker(z)).detach().numpy()[:, 0]))
    use = {"MinimaxLosses": p.mean(), "NonSaturatingLosses": 1 - p.mean(), "WassersteinLosses": 1.0}[
        type(game).__name__
    ]
    assert (found.minimax, found.non_saturating) == pytest.approx((p.mean(), 1 - p.mean()))
    assert (found.mean_probability, found.in_use) == pytest.approx((p.mean(), use))


def test_a_game_without_slopes_or_with_growing_directions():
    still = game_rotation(lambda w: 0 * w, torch.zeros(3))
    assert (still.rotation, still.largest_lr) == (0.0, float("inf"))
    grows = game_rotation(lambda w: torch.stack([w[0], -2 * w[1]]), torch.zeros(2))
    assert grows.largest_lr == 0.0 and grows.rotation == 0.0 and len(grows.findings) == 1
    flat = game_rotation(lambda w: torch.stack([4 * w[0], 0 * w[1]]), torch.zeros(2))
    assert flat.largest_lr == pytest.approx(0.5) and flat.findings == ()
    turn = game_rotation(lambda w: torch.stack([w[1], -w[0]]).double(), torch.zeros(2).double())
    assert turn.rotation > 1e14


def test_ratios_calibration_and_curl_on_small_sets():
    x = torch.tensor([[0.0], [1.0]])
    np.testing.assert_allclose(density_ratio(lambda z: 2 * z, x), np.exp([0.0, 2.0]), rtol=1e-6)
    sure = ratio_calibration(lambda z: 40 * z[:, 0], torch.ones(10, 1).double(), -torch.ones(10, 1).double(), bins=1)
    assert float(sure.errors) == pytest.approx((1e-4 / 20) ** 0.5)  # probabilities of 0 and 1 have an error as well
    assert score_curl(lambda z: 0 * z, torch.zeros(3, 2)) == 0.0


def test_neighbors_of_latents_are_at_most_all_others_and_distances_are_the_nearest():
    from gnomon.generative import Autoencoder

    model = Autoencoder(nn.Identity(), nn.Identity(), latent=1, shape=(1,))
    x = torch.tensor([[0.0], [1.0], [10.0], [11.0]])
    assert latent_knn_score(model, x, [0, 0, 1, 1], neighbors=1) == 1.0
    assert latent_knn_score(model, x, [0, 1, 2, 2], neighbors=1) == 0.5
    assert latent_knn_score(model, x, [0, 0, 0, 1], neighbors=99) == 0.75
    near = nearest_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[3.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(near, [1.0, 4.0], rtol=1e-6)
    gap = pca_gap(model, torch.tensor([[1.0], [3.0]]))
    assert (gap.loss, gap.pca_loss) == (0.0, 0.0)


def test_coverage_by_default_counts_five_neighbors():
    data, samples = torch.randn(2, 30, 2, generator=torch.Generator().manual_seed(0))
    assert (
        sample_coverage(samples, data)
        == sample_coverage(samples, data, neighbors=5)
        != sample_coverage(samples, data, neighbors=6)
    )


def test_variances_of_gradient_estimators_are_unbiased():
    found = gradient_estimators(lambda z: z**3, 0.5, 2.0, draws=4, seed=1)
    e = torch.randn(4, generator=torch.Generator().manual_seed(1), dtype=torch.float64).numpy()
    z = 0.5 + 2.0 * e
    slopes, other = 3 * z**2, z**3 * e / 2.0
    assert (found.reparametrized, found.score_function) == pytest.approx((slopes.mean(), other.mean()))
    variances = slopes.var(ddof=1), other.var(ddof=1)
    assert (found.reparametrized_variance, found.score_function_variance) == pytest.approx(variances)
    assert found.draws == 4
