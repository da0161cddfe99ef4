"""Autoencoders: an encoder maps an example to a few latent numbers, and a decoder maps them back to an example.

    loss(x) = |x - D(E(x))|^2 / 2                                                                          (1)

With linear E (m, d) and D (d, m) on centered data, the smallest mean of (1) is half the sum of all but the m largest
eigenvalues of the covariance, and D E is then the projector on the m leading eigenvectors.

Hypotheses: for the second part, centered data and a gap after the m-th eigenvalue.
Reference: [baldi1989neural].
"""

from math import prod

from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.generative.model import AbstractGenerative
from gnomon.generative.vectors import as_examples

__all__ = ["Autoencoder", "linear_autoencoder"]


class Autoencoder(AbstractGenerative):
    """An autoencoder from any encoder and decoder; ``sample`` decodes standard normal draws, and no density is
    available.

    See equation (1) of the module docstring.

    Args of the constructor: an encoder from examples to (n, latent), a decoder back (its output is reshaped to
    ``shape``), the number of latent coordinates, the shape of one example.

    >>> import torch
    >>> same = Autoencoder(nn.Identity(), nn.Identity(), latent=3, shape=(3,))
    >>> same.losses(torch.ones(2, 3)).tolist(), same.sample(2).shape
    ([0.0, 0.0], torch.Size([2, 3]))
    """

    likelihood = "none"
    continuous = False

    @add_call_to_errors
    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, latent: int, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.latent, self.shape = check_integer("latent", latent), tuple(shape)

    def encode(self, x: Tensor) -> Float[Tensor, "n m"]:
        """Returns the latent coordinates of examples."""
        return self.encoder(x)

    @add_call_to_errors
    def decode(self, z: Float[Tensor, "n m"]) -> Tensor:
        """Returns examples from latent coordinates."""
        return as_examples(self.decoder(z), len(z), self.shape, what="the decoder")

    def losses(self, x: Tensor) -> Float[Tensor, " n"]:  # noqa: D102
        return (x - self.decode(self.encode(x))).flatten(1).square().sum(1) / 2  # (1)

    @add_call_to_errors
    def sample(self, n: int, *, seed: int = 0) -> Tensor:
        """Returns new examples: the decoder applied to standard normal draws, which may differ from the latent codes of
        data.
        """
        with self.at_rest():
            return self.decode(self.noise(n, (self.latent,), self.generator(seed)))


@add_call_to_errors
def linear_autoencoder(shape: tuple[int, ...], latent: int) -> Autoencoder:
    """Returns an autoencoder with linear encoder and decoder and no biases, for centered data.

        loss(x) = |x - D E x|^2 / 2                                                                        (1)

    Hypotheses: see the module. Reference: [baldi1989neural].
    Cost: two matrices of d x latent numbers, drawn from torch's random state.

    >>> import torch
    >>> model = linear_autoencoder((4,), 2)
    >>> model.encode(torch.ones(3, 4)).shape, model.decode(torch.ones(3, 2)).shape
    (torch.Size([3, 2]), torch.Size([3, 4]))
    """
    d = prod(check_integer("each number of shape", size) for size in shape)
    latent = check_integer("latent", latent)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(d, latent, bias=False))
    return Autoencoder(encoder, nn.Linear(latent, d, bias=False), latent=latent, shape=shape)
