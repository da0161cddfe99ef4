"""Every claim gives its stated verdict at smoke scale and its control does not hold; a fixed third runs by default."""

from zlib import crc32

import pytest

from gnomon.atlas import catalog
from gnomon.lab import run
from tests.atlas.independence import shared

ENTRIES = catalog()


SLOW = frozenset(
    """
    alpha-scaling autoencoder autoencoder-not-generative backpropagation batchnorm-advantages-list batchnorm-gamma-over-mu
    batchnorm-not-covariate-shift bias-must-match-data characteristic-time-tc cover-capacity-2d
    deep-linear-near-gaussian deep-matrix-factorisation ensemble-averaging-gain entropy-sgd
    explicit-vs-implicit-regularisation feature-lazy-model-centred feature-lazy-phase-boundary
    feature-lazy-test-error-collapse fixed-vs-learned-features flat-minima-generalisation
    gabor-signal-processing-features gan-training-loop gradient-flow-init-dependence gunasekar-nuclear-conjecture
    heavy-ball-momentum image-variability-taxonomy init-he init-lecun init-xavier init-zero-symmetry
    intermediate-objectives-unspecified kernel-gram-psd lazy-cifar-experiments lazy-kappa learning-rate-regimes
    least-squares-ols linear-autoencoder-pca linear-conv-net-depth-l linear-conv-net-fourier-l1 linear-fc-net-l2-bias
    linearised-not-competitive lipschitz-covering-rate logistic-regression many-global-minima
    max-margin-accelerated max-margin-homogeneous max-margin-rate-ln mean-field-flow
    mean-field-global-convergence nesterov-acceleration nngp-recursion ntk-constancy ntk-positive-definite-relu
    ntk-vs-mean-field-scaling nuclear-norm-completion output-fluctuations-width pde-find-navier-stokes perceptron-novikoff
    rbf-kernel-machine-as-network regular-representation-condition relu-activation-stability ridge-regression
    roto-translation-scattering scattering-classification-digits scattering-classification-textures
    scattering-moment-estimator scattering-translation-invariance sgd-convergence sgd-flat-minima shallow-network
    signal-before-noise skip-connections-smooth-gradients
    small-batch-flatter spectral-bias-frequency spectral-bias-pinn tensorflow-playground-config
    training-recipe-ingredients vanishing-exploding-criterion vae-model variance-recursion-relu version-space
    barron-estimation-bound commutator-norm double-descent-model-wise gradient-orthogonal-to-orbit
    learned-weights-reflect-symmetry ood-failure overfitting-yet-useful rademacher-generalisation
    wavelet-deformation-commutator wide-two-layer-logistic-bias
    bahdanau-attention barron-theorem-l2 bert-finetuning-heads bert-next-sentence char-rnn-code-generation
    compositionality-features hopfield-sublinear-capacity neural-ode-claims resnet-depth-benefit
    weight-sharing-efficiency
    adversarial-training-as-data-prior diffusion-incremental-map linearisation-width-rate preactivation-velocity
    small-batch-flatter
    """.split()
)
"""Claims that took more than 0.3 s at smoke scale when they were last measured; they run with ``make test-full``."""


def third():
    """A fixed third of the claims, the fast ones first, otherwise by a hash of their names."""
    order = sorted(ENTRIES, key=lambda name: (name in SLOW, crc32(name.encode())))
    return frozenset(order[: -(-len(order) // 3)])


def cases():
    chosen = third()
    for name in ENTRIES:
        yield pytest.param(name, marks=[] if name in chosen else [pytest.mark.full])


def test_a_third_runs_by_default():
    assert 3 * len(third()) >= len(ENTRIES) and SLOW <= set(ENTRIES)


@pytest.mark.parametrize("name", list(cases()))
def test_a_claim_is_as_stated_and_its_control_is_not(name):
    outcome = run(ENTRIES[name].claim, seed=12345)
    assert outcome.as_stated, outcome.verdict + " Control: " + outcome.control.reason


@pytest.mark.parametrize("name", ENTRIES)
def test_prediction_and_measurement_share_no_code(name):
    assert not shared(ENTRIES[name].code)


def test_a_shared_path_is_seen():
    code = """
from gnomon import limit
def problem(n): ...
def helper(n): return limit(n)
def predicted(n): return helper(problem(n))
def observed(n): return limit(problem(n))
"""
    assert shared(code) == {"limit"}
