"""Evaluates autoencoders: reconstruction compared with PCA, class separation in latent space, and holes in it.

    excess = mean |x - D(E(x))|^2 / 2 - sum_{i > m} c_i / 2,    c_i eigenvalues of the data's covariance   (1)
    holes = share of z ~ N(0, I) whose decoded example is farther from the data than 95 % of data are      (2)

Hypotheses: (1) is never negative for linear maps on centered data; (2) data from one distribution.
References: [baldi1989neural] for (1), [cover1967nearest] for neighbors.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer
from gnomon.core.results import Axis, Bars, Finding, Line, Plot, Result, Value
from gnomon.findings import generative as kinds
from gnomon.generative.autoencoder import Autoencoder
from gnomon.generative.instruments.draws import as_points
from gnomon.generative.instruments.neighbors import nearest_distances
from gnomon.generative.vae import VAE

__all__ = ["LatentHoles", "PcaGap", "latent_holes", "latent_knn_score", "pca_gap", "reconstruction_error"]

MAX_HOLES = 0.5
"""Share of decoded draws far from all data above which the decoder is not a usable sampler."""


@add_call_to_errors
def reconstruction_error(model: Autoencoder, x: Any) -> Float[Tensor, " n"]:
    """Returns the mean squared reconstruction error of each example, which is also an anomaly score.

        error = |x - D(E(x))|^2 / d                                                                        (1)

    Hypotheses: none. Reference: [baldi1989neural].
    Cost: one pass through encoder and decoder.

    >>> from torch import nn
    >>> model = Autoencoder(nn.Identity(), nn.Identity(), latent=2, shape=(2,))
    >>> reconstruction_error(model, torch.ones(2, 2)).tolist()
    [0.0, 0.0]
    """
    given = model.points(x)
    with model.at_rest():
        return 2 * model.losses(given) / given[0].numel()  # (1)


@dataclass(frozen=True, slots=True, eq=False)
class PcaGap(Result):
    """Result: comparison of an autoencoder with PCA of the same dimension: both losses, and angles between their
    subspaces.

    See equation (1) of the module docstring.

    >>> PcaGap(1.0, 0.75, torch.zeros(2)).excess
    0.25
    """

    loss: float
    pca_loss: float
    angles: Float[Tensor, " m"] = field(repr=False)

    @property
    def excess(self) -> float:
        """The autoencoder's loss minus the loss of PCA; negative if the autoencoder is better."""
        return self.loss - self.pca_loss

    @property
    def verdict(self) -> str:
        """Says whether the autoencoder reconstructs better than PCA of the same dimension."""
        angle = f"largest angle between their subspaces {float(self.angles.max()):.2g} rad"
        detail = f"loss {self.loss:.4g}, PCA {self.pca_loss:.4g}, {angle}"
        better = "does better than PCA" if self.excess < -1e-3 * self.pca_loss else "does no better than PCA"
        return f"The autoencoder {better} ({detail})."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if PCA reconstructs the data better than the autoencoder."""
        if self.excess <= 0.05 * self.pca_loss:
            return ()
        evidence = (Value("loss", self.loss), Value("PCA", self.pca_loss))
        return (Finding(kinds.WORSE_THAN_PCA, "", {"pca": self.pca_loss, "loss": self.loss}, evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the angles between the autoencoder's and PCA's subspaces."""
        line = Line("principal angles", range(1, len(self.angles) + 1), self.angles)
        return (
            Plot(
                "Angles between both subspaces",
                (line,),
                Axis("number of the angle"),
                Axis("angle (radians)"),
                self.verdict,
            ),
        )


@add_call_to_errors
def pca_gap(model: Autoencoder, x: Any) -> PcaGap:
    """Compares an autoencoder with PCA of the same dimension: its loss, and the subspace of its reconstructions.

        excess = mean |x - D(E(x))|^2 / 2 - sum_{i > m} c_i / 2                                            (1)

    Args:
        model: an `Autoencoder`, linear or not.
        x: examples; PCA centers them, but a linear model without biases needs centered examples.

    The angles are between the m leading directions of the reconstructions and of the data.
    Hypotheses: see the module. Reference: [baldi1989neural].
    Cost: two singular value decompositions.

    >>> from gnomon.generative.autoencoder import linear_autoencoder
    >>> model, x = linear_autoencoder((2,), 1), torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]])
    >>> model.encoder[1].weight.data[:] = torch.tensor([[1.0, 0.0]])
    >>> model.decoder.weight.data[:] = torch.tensor([[1.0], [0.0]])
    >>> round(pca_gap(model, x).excess, 9), round(float(pca_gap(model, x).angles), 6)
    (0.0, 0.0)
    """
    given = model.points(x, least=2)
    m = min(model.latent, given[0].numel())
    with model.at_rest():
        loss = float(model.losses(given).double().mean())
        back = model.decode(model.encode(given)).flatten(1).double()
    flat = given.flatten(1).double()
    values, vectors = torch.linalg.svd(flat - flat.mean(0), full_matrices=False)[1:]
    other = torch.linalg.svd(back - back.mean(0), full_matrices=False)[2]
    rest = float(values[m:].square().sum()) / (2 * len(flat))  # (1)
    # Uses sines of the angles, because the cosine of a small angle loses half of its digits.
    first, second = vectors[:m], other[:m]
    sines = torch.linalg.svdvals(second - second @ first.T @ first).clamp(max=1)
    return PcaGap(loss, rest, sines.asin())


@add_call_to_errors
def latent_knn_score(model: Autoencoder | VAE, x: Any, y: Any, *, neighbors: int = 5) -> float:
    """Returns the accuracy with which nearest neighbors in the latent space predict an example's class (leave-one-out).

        score = share of examples whose k nearest others mostly have their class                           (1)

    Hypotheses: none. Reference: [cover1967nearest].
    Cost: all distances of latents.

    >>> from torch import nn
    >>> model = Autoencoder(nn.Identity(), nn.Identity(), latent=1, shape=(1,))
    >>> x = torch.tensor([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> latent_knn_score(model, x, [0, 0, 0, 1, 1, 1], neighbors=2)
    1.0
    """
    given, k = model.points(x, least=2), check_integer("neighbors", neighbors)
    labels = as_numbers(y, "y").long()
    if labels.shape != (len(given),):
        found = f"there are {len(given)} examples and labels of shape {tuple(labels.shape)}"
        raise InputError(found, accepted="a class for each example", fix="Give x and y the same number of rows")
    with model.at_rest():
        z = model.posterior(given)[0] if isinstance(model, VAE) else model.encode(given)
    apart = torch.cdist(z.double(), z.double()).fill_diagonal_(torch.inf)
    votes = labels[apart.topk(min(k, len(z) - 1), largest=False).indices]
    counts = torch.nn.functional.one_hot(votes, int(labels.max()) + 1).sum(1)
    return float((counts.argmax(1) == labels).double().mean())  # (1)


@dataclass(frozen=True, slots=True)
class LatentHoles(Result):
    """Result: the fraction of random latent draws that decode to points far from all data.

    See equation (2) of the module docstring.

    >>> LatentHoles(0.05, 1.0, 200).findings
    ()
    """

    holes: float
    radius: float
    draws: int

    @property
    def verdict(self) -> str:
        """States how many random latent draws decode to points far from the data."""
        return (
            f"{self.holes:.0%} of latent draws decode to points that are farther from the data than 95 % of the "
            "data points are from each other."
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if too many random latent draws decode to points far from the data."""
        if self.holes < MAX_HOLES:
            return ()
        return (Finding(kinds.LATENT_HOLES, "", {"holes": self.holes}, (Value("holes", self.holes),)),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the fractions of decoded random draws near the data and far from the data."""
        bars = Bars("share", ("near the data", "far from the data"), (1 - self.holes, self.holes))
        return (Plot("Decoded draws", (bars,), Axis("share", limits=(0, 1)), caption=self.verdict),)


@add_call_to_errors
def latent_holes(model: Autoencoder | VAE, data: Any, *, draws: int = 500, seed: int = 0) -> LatentHoles:
    """Measures whether random latent draws decode to examples like the data, or fall into holes of the latent space.

        holes = share of decoded draws farther from the data than 95 % of the data are from each other     (1)

    Args:
        model: an `Autoencoder` or a `VAE`; decoded means are used, without observation noise.
        data: examples.
        draws: number of draws of the latents.
        seed: random seed of the draws.

    Hypotheses: see the module. Reference: [cover1967nearest].
    Cost: all distances between draws and data, and within the data.

    >>> from torch import nn
    >>> model = Autoencoder(nn.Identity(), nn.Identity(), latent=2, shape=(2,))
    >>> data = torch.randn(500, 2, generator=torch.Generator().manual_seed(0))
    >>> latent_holes(model, data).findings, latent_holes(model, data + 9).findings[0].kind
    ((), 'latent-holes')
    """
    x = as_points(model.points(data, least=20), "data")
    with model.at_rest():
        z = model.noise(check_integer("draws", draws), (model.latent,), model.generator(seed))
        decoded = model.decode(z).flatten(1).cpu().double()
    half = len(x) // 2
    radius = float(nearest_distances(x[half:], x[:half]).quantile(0.95))
    return LatentHoles(float((nearest_distances(decoded, x[:half]) > radius).double().mean()), radius, len(z))  # (1)
