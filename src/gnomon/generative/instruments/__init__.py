"""Measurements for any generative model: tests of samples, densities, scores, latent spaces and image style."""

from gnomon.generative.instruments.density import DensityCheck, flow_density_check
from gnomon.generative.instruments.gradients import (
    GeneratorGradients,
    GradientEstimators,
    generator_gradient_health,
    gradient_estimators,
)
from gnomon.generative.instruments.latent import (
    LatentHoles,
    PcaGap,
    latent_holes,
    latent_knn_score,
    pca_gap,
    reconstruction_error,
)
from gnomon.generative.instruments.neighbors import (
    SampleCoverage,
    SampleMemorization,
    sample_coverage,
    sample_memorization,
)
from gnomon.generative.instruments.posterior import ElboGap, elbo_gap
from gnomon.generative.instruments.ratio import (
    RatioCalibration,
    density_ratio,
    jensen_shannon_lower_bound,
    ratio_calibration,
)
from gnomon.generative.instruments.score import ScoreError, score_curl, score_error
from gnomon.generative.instruments.style import (
    StyleDistance,
    StyleTransfer,
    feature_covariance,
    style_distance,
    style_transfer,
)
from gnomon.generative.instruments.two_sample import TwoSampleTest, classifier_test, energy_test, mmd_test

__all__ = [
    "SampleCoverage",
    "DensityCheck",
    "ElboGap",
    "GeneratorGradients",
    "GradientEstimators",
    "LatentHoles",
    "SampleMemorization",
    "PcaGap",
    "RatioCalibration",
    "ScoreError",
    "StyleDistance",
    "StyleTransfer",
    "TwoSampleTest",
    "classifier_test",
    "sample_coverage",
    "density_ratio",
    "elbo_gap",
    "energy_test",
    "feature_covariance",
    "flow_density_check",
    "generator_gradient_health",
    "gradient_estimators",
    "jensen_shannon_lower_bound",
    "latent_holes",
    "latent_knn_score",
    "sample_memorization",
    "mmd_test",
    "pca_gap",
    "ratio_calibration",
    "reconstruction_error",
    "score_curl",
    "score_error",
    "style_distance",
    "style_transfer",
]
