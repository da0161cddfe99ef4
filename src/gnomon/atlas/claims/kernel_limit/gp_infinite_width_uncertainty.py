"""The Gaussian process of an infinitely wide network gives correct 95 % intervals on diabetes data.

With the infinite-width kernel k and noise of variance s^2, chosen by the likelihood of the training labels y, the
prediction at x is Gaussian with mean k(x)^T (K + s^2)^-1 y and variance

    k(x, x) + s^2 - k(x)^T (K + s^2)^-1 k(x)                                                                 (1)

K is the kernel matrix of the training data. If this is right, intervals of 1.96 standard deviations contain 95 % of new
labels. Data: progression of diabetes. Reference: [lee2018deep]; [rasmussen2006gaussian], Section 2.2 and Section 5.4.
"""

from functools import partial

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def predicted():
    """Returns 0.95, the share of new labels inside the intervals."""
    return 0.95


def hits(n, seed, share):
    """Returns whether each new label is inside its interval; ``share`` multiplies the most likely noise level."""
    from sklearn.datasets import load_diabetes  # slow to import

    x, y = (torch.tensor(part) for part in load_diabetes(return_X_y=True))
    order = torch.randperm(len(x))
    x, y = x[order] / x.std(0), (y[order] - y.mean()) / y.std()
    net = nn.Sequential(nn.Linear(10, 9), nn.ReLU(), nn.Linear(9, 1))
    kernel = limit(net, init=InitializationLaw(1.0, 0.1), parametrization="ntk").nngp(x)
    values, vectors = torch.linalg.eigh(kernel[:n, :n])
    along = (vectors.T @ y[:n]) ** 2

    def cost(noise):
        return (along / (values + noise)).sum() + (values + noise).log().sum()

    noise = share * min(torch.logspace(-2, 1, 40).double(), key=cost)
    weights = kernel[n:, :n] @ vectors / (values + noise) @ vectors.T
    variance = kernel.diagonal()[n:] + noise - (weights * kernel[n:, :n]).sum(1)
    return ((weights @ y[:n] - y[n:]).abs() <= 1.96 * variance.sqrt()).double()


observed = partial(hits, share=1.0)  # The Gaussian process uses the noise level of largest likelihood.
control = partial(hits, share=0.1)  # Control: a tenth of the best noise level makes the intervals too narrow.

CLAIM = Claim(
    id="gp-infinite-width-uncertainty",
    question="Are the error bars of an infinitely wide network right?",
    equation=r"P(|y - m(x)| \le 1.96 \, s(x)) = 0.95",
    axes=("new patient", "1 if the label is inside its 95 % interval"),
    source=Source("observed", "lee2018deep", "Section 3"),
    premises=(Premise("the noise is chosen by the likelihood of the training labels"),),
    parameters={"n": 200},
    full={"n": 250},
    judge=mean_equals(confidence=0.999, within=0.03, because="the labels are not exactly Gaussian"),
    remark="The matrix needs n^2 numbers of memory and its factorization n^3 operations.",
)
