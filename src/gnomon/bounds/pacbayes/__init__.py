"""PAC-Bayes: upper bounds on the test error of networks with random weights.

`inequalities` has the bounds as functions of four numbers, `posterior` the distribution over the weights of any module,
`prior` its starting points, `certify` the one call, `certificate` what it returns.
"""

from gnomon.bounds.pacbayes.certificate import ErrorCertificate
from gnomon.bounds.pacbayes.certifying import certify
from gnomon.bounds.pacbayes.inequalities import (
    catoni_bound,
    inverse_kl,
    mcallester_bound,
    quadratic_bound,
    seeger_bound,
)
from gnomon.bounds.pacbayes.posterior import GaussianWeights, gaussian_kl
from gnomon.bounds.pacbayes.prior import LearnedPrior, NewWeightsPrior, OwnWeightsPrior

__all__ = [
    "ErrorCertificate",
    "NewWeightsPrior",
    "GaussianWeights",
    "OwnWeightsPrior",
    "LearnedPrior",
    "catoni_bound",
    "certify",
    "gaussian_kl",
    "inverse_kl",
    "mcallester_bound",
    "quadratic_bound",
    "seeger_bound",
]
