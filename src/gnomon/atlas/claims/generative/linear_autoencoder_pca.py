"""A linear autoencoder with m latent coordinates finds the space of the m leading principal components.

    min_{E, D} E |x - D E x|^2 / 2 = (1/2) sum_{i > m} c_i,   reached if D E projects on the m leading directions  (1)

E and D are the matrices of encoder and decoder, c_i the eigenvalues of the covariance in falling order.
"""

from functools import partial

import torch

from gnomon.data import digits
from gnomon.generative.autoencoder import linear_autoencoder
from gnomon.generative.instruments.latent import pca_gap
from gnomon.lab import Claim, Premise, Source, equals


def problem(n):
    """Returns centered digits in float64, and their covariance."""
    x = digits(n, 0).x.flatten(1).double()
    return x - x.mean(0), torch.cov(x.T, correction=0)


def predicted(n, latent):
    """Returns the smallest loss, and 0 for the angle between learned and principal subspace."""
    values = torch.linalg.eigvalsh(problem(n)[1])
    return torch.stack([values[:-latent].sum() / 2, torch.zeros(()).double()])


def train(fewer, n, latent, steps, seed):
    """Returns the trained autoencoder's loss and the largest angle of its space to the principal subspace."""
    x, c = problem(n)
    torch.manual_seed(seed)
    model = linear_autoencoder((64,), latent - fewer).double()
    e, d = model.encoder[1].weight, model.decoder.weight
    optimizer = torch.optim.LBFGS([e, d], max_iter=steps, history_size=20, line_search_fn="strong_wolfe",
                                  tolerance_grad=1e-12, tolerance_change=1e-15)  # fmt: skip

    def closure():
        optimizer.zero_grad()
        r = torch.eye(64, dtype=torch.float64) - d @ e
        loss = torch.einsum("ij,jk,ik->", r, c, r) / 2
        loss.backward()
        return loss

    optimizer.step(closure)
    gap = pca_gap(model, x)
    return torch.tensor([gap.loss, float(gap.angles.max())], dtype=torch.float64)


observed = partial(train, fewer=0)  # m latent coordinates.
control = partial(train, fewer=1)  # Control: the autoencoder has one latent coordinate less than PCA.

CLAIM = Claim(
    id="linear-autoencoder-pca",
    question="What does a linear autoencoder learn?",
    equation=r"\min_{E,D} \tfrac12 E\|x - DEx\|^2 = \tfrac12\sum_{i>m}\lambda_i",
    axes=("loss, then largest angle to the principal subspace", "loss; angle (rad)"),
    source=Source("theorem", "baldi1989neural"),
    premises=(Premise("there are as many latent coordinates as kept directions"), Premise("the data are centered")),
    parameters={"n": 100, "latent": 3, "steps": 300},
    full={"n": 1797, "latent": 10, "steps": 600},
    judge=equals(within=1e-2, because="descent stops early; the angle is about the root of the excess loss"),
)
