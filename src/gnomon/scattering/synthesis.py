"""Synthesizes signals and images with given scattering coefficients or moments, by gradient descent."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.core.results import Line, Plot, Result
from gnomon.core.results.plot import Axis
from gnomon.scattering.images import Scattering2d
from gnomon.scattering.moments import moment_vector
from gnomon.scattering.signals import Scattering1d
from gnomon.scattering.wavelets import WaveletTransform

__all__ = ["Reconstruction", "invert_scattering", "synthesize_like"]


@dataclass(frozen=True, slots=True)
class Reconstruction(Result):
    """Result: a synthesized signal, and the relative error of its scattering coefficients after each step.

    >>> print(Reconstruction(torch.zeros(2), (1.0, 0.01)).verdict)
    The coefficients of the synthesized signal match the target up to 1.00% of their norm.
    """

    signal: Tensor
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """Returns the relative error of the scattering coefficients after the last step."""
        return self.errors[-1]

    @property
    def verdict(self) -> str:
        """States how well the scattering coefficients of the synthesized signal match the target."""
        return f"The coefficients of the synthesized signal match the target up to {self.error:.2%} of their norm."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the relative error of the scattering coefficients after each step."""
        line = Line("error", torch.arange(len(self.errors)), torch.tensor(self.errors))
        return (Plot("Reconstruction", (line,), Axis("step"), Axis("relative error", log=True), self.verdict),)


@add_call_to_errors
def invert_scattering(
    scattering: Scattering1d | Scattering2d, coefficients: Tensor, *, iterations: int = 100, seed: int = 0
) -> Reconstruction:
    """Finds a signal with given scattering coefficients, by gradient descent from noise.

        min_x |S x - coefficients|^2                                                                           (1)

    Coefficients of averages over 2^J points do not determine a signal; ``error`` says how well (1) is met, not how near
    the signal is to the one that the coefficients came from.

    Args:
        scattering: the transform.
        coefficients: as the transform returns them for a single signal.
        iterations: of L-BFGS.
        seed: of the noise it starts from.

    Hypotheses: none. Reference: [bruna2013invariant], Section 2.4.
    Cost: a transform and its gradient for each step, and a few more in line searches.

    >>> transform = Scattering1d(2, 16, Q=1)
    >>> target = transform(torch.linspace(0, 1, 16, dtype=torch.float64))
    >>> invert_scattering(transform, target, iterations=30).error < 0.05
    True
    """
    shape, count = scattering.shape, len(scattering.paths())
    if coefficients.dim() != len(shape) + 1 or len(coefficients) != count:
        found = f"coefficients have shape {tuple(coefficients.shape)} and the transform has {count} paths"
        fix = "Pass the coefficients of one signal, as scattering(x) returns them"
        raise InputError(found, accepted="coefficients of this transform", fix=fix)
    return _descend(scattering, coefficients, shape, check_integer("iterations", iterations), seed)


@add_call_to_errors
def synthesize_like(
    transform: WaveletTransform, example: Tensor, *, iterations: int = 100, seed: int = 0
) -> Reconstruction:
    """Synthesizes another sample of a texture: changes noise until its scattering moments match an example's moments.

        min_x |S x - S example|^2 / |S example|^2,    S the moments of both orders over all places               (1)

    Args:
        transform: the wavelets of the moments.
        example: a signal or an image of the transform's shape.
        iterations: of L-BFGS.
        seed: of the noise it starts from.

    Hypotheses: the example is a piece of a stationary process. Reference: [bruna2013invariant], Section 2.4.
    Cost: the moments and their gradient for each step, and a few more in line searches.

    >>> example = torch.arange(64.0, dtype=torch.float64).sin()
    >>> found = synthesize_like(WaveletTransform(3, 64), example, iterations=30)
    >>> found.errors[0] / found.error > 5, bool((found.signal - example).abs().max() > 0.5)      # alike, not the same
    (True, True)
    """
    target = moment_vector(transform, example.detach()[None])[0]
    count = check_integer("iterations", iterations)
    return _descend(lambda x: moment_vector(transform, x[None])[0], target, transform.shape, count, seed)


def _descend(
    phi: Callable[[Tensor], Tensor], target: Tensor, shape: tuple[int, ...], steps: int, seed: int
) -> Reconstruction:
    """Minimizes the relative squared distance of scattering coefficients to a target by L-BFGS, from small noise."""
    generator = torch.Generator().manual_seed(seed)
    target = target.detach()
    x = 0.1 * torch.randn(shape, generator=generator, dtype=target.dtype).to(target.device)
    x.requires_grad_()
    size = target.square().sum().clamp_min(1e-30)
    optimizer = torch.optim.LBFGS([x], max_iter=1, max_eval=25, line_search_fn="strong_wolfe")
    errors = []

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = (phi(x) - target).square().sum() / size  # (1)
        value.backward()
        return value

    with torch.enable_grad():
        for _ in range(steps):
            errors.append(float(optimizer.step(loss).detach()) ** 0.5)
        errors.append(float(loss().detach()) ** 0.5)
    return Reconstruction(x.detach(), tuple(errors))
