"""An autoencoder with two latent coordinates reconstructs digits better than PCA and separates classes better.

    mean |x - D(E(x))|^2 < mean |x - PCA_2(x)|^2,    classes of latent neighbors agree more often than for PCA  (1)

E is the encoder, D the decoder, and PCA_2 the projection to two principal components of the training images.
All numbers are for held-out images.
"""

from functools import partial

import torch
from torch import nn

from gnomon.data import digits
from gnomon.generative import Autoencoder, fit
from gnomon.generative.instruments.latent import latent_knn_score, reconstruction_error
from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.training import Adam


def problem(n):
    """Returns digits for training, and held-out digits with their classes, as vectors."""
    split = digits(n, n)
    return split.x.flatten(1), split.x_test.flatten(1), split.y_test


def predicted(n):
    """Returns the squared error of PCA with two coordinates, and the share of nearest neighbors of another class."""
    train, x, y = problem(n)
    plane = torch.linalg.svd(train - train.mean(0), full_matrices=False)[2][:2]
    z = (x - train.mean(0)) @ plane.T
    apart = torch.cdist(z, z).fill_diagonal_(torch.inf)
    votes = nn.functional.one_hot(y[apart.topk(5, largest=False).indices], 10).sum(1)
    return [float((x - train.mean(0) - z @ plane).square().mean()), 1 - float((votes.argmax(1) == y).double().mean())]


def errors_of_autoencoder(n, steps, activation, seed):
    """Returns a trained autoencoder's squared error and share of latent neighbors of another class."""
    train, x, y = problem(n)
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(64, 48), activation(), nn.Linear(48, 2))
    decoder = nn.Sequential(nn.Linear(2, 48), activation(), nn.Linear(48, 64))
    model = Autoencoder(encoder, decoder, latent=2, shape=(64,))
    model = fit(model, train, steps=steps, optimizer=Adam(5e-3), batch=100, seed=seed).model
    return [float(reconstruction_error(model, x).mean()), 1 - latent_knn_score(model, x, y)]


observed = partial(errors_of_autoencoder, activation=nn.SiLU)  # With SiLU.
control = partial(errors_of_autoencoder, activation=nn.Identity)  # Control: without activations it is linear, like PCA.

CLAIM = Claim(
    id="autoencoder",
    question="What does a nonlinear autoencoder do better than PCA?",
    equation=r"\mathrm{mean}\|x - D(E(x))\|^2 < \mathrm{mean}\|x - \mathrm{PCA}_m(x)\|^2",
    axes=("reconstruction, then wrong classes among neighbors", "mean squared error; share of wrong classes"),
    source=Source("observed", "hinton2006reducing"),
    premises=(Premise("encoder and decoder are nonlinear"), Premise("trained long enough", lambda steps: steps >= 300)),
    parameters={"n": 300, "steps": 600},
    full={"n": 890, "steps": 5000},
    covers=("autoencoder-latent-map",),
    judge=bounded_by("above"),
)
