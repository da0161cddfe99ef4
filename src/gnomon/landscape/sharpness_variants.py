"""Computes six variants of sharpness, and finds those that do not change if weights are rescaled without effect.

With T = diag |w|,

    largest eigenvalue   lambda_1(H)                    adaptive  lambda_1(T H T)                                 (1)
    trace                trace H                        adaptive  trace T H T = sum_i w_i^2 H_ii                  (2)
    rise in a ball       max over |e| <= r of L(w + e) - L(w)       adaptive  |e / w| <= r                        (3)

A relu network with one layer multiplied by c and the next divided by c computes the same outputs. The plain variants
can take any value as c changes; the adaptive ones stay the same. No variant changes when hidden units change places.
Plain variants still say which learning rate is stable, because descent is not invariant either.

Hypotheses: as for `hessian`; (3) by one first-order ascent step, as in SAM and ASAM.
Reference: [dinh2017sharp] for the rescaling, [kwon2021asam] for the adaptive forms, [foret2021sharpness] for (3).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.landscape.hessian import hessian
from gnomon.landscape.perturbed import largest_loss_rise
from gnomon.landscape.symmetries import read_units, rescaled_copy
from gnomon.linalg.lanczos import top_eigenpairs
from gnomon.linalg.operator import AbstractOperator
from gnomon.linalg.trace import automatic_trace
from gnomon.training.evaluate import Loss

__all__ = ["SharpnessVariants", "sharpness_variants"]

MAX_RELATIVE_CHANGE = 0.1
"""Relative change below which a measure counts as unchanged: traces are random estimates."""
NAMES = ("largest eigenvalue", "trace", "rise in a ball", "adaptive eigenvalue", "adaptive trace", "adaptive rise")


@dataclass(frozen=True, slots=True)
class SharpnessVariants(Result):
    """Six variants of sharpness for a model, and for a rescaled copy of the model with the same outputs.

    ``rescaled`` is empty if no unit of the model can be rescaled; ``factor`` is the largest factor of the rescaling.

    >>> found = SharpnessVariants({"trace": 2.0, "adaptive trace": 1.0}, {"trace": 90.0, "adaptive trace": 1.0}, 10.0)
    >>> found.invariant
    ('adaptive trace',)
    """

    values: dict[str, float]
    rescaled: dict[str, float]
    factor: float

    @property
    def invariant(self) -> tuple[str, ...]:
        """The names of the sharpness variants that are the same for the model and its rescaled copy."""
        return tuple(
            n for n, v in self.rescaled.items() if abs(v - self.values[n]) <= MAX_RELATIVE_CHANGE * abs(self.values[n])
        )

    @property
    def verdict(self) -> str:
        """A sentence that says which variants of sharpness can be compared between models."""
        if not self.rescaled:
            return "No hidden unit can be rescaled without changing the outputs: all variants can be compared."
        worst = max(self.rescaled, key=lambda n: self.rescaled[n] / max(abs(self.values[n]), 1e-300))
        ratio = self.rescaled[worst] / max(abs(self.values[worst]), 1e-300)
        kept = ", ".join(self.invariant) or "none"
        return (
            f"Rescaling hidden units by up to {self.factor:g} keeps the outputs and multiplies the {worst} by "
            f"{ratio:.3g}; measures that do not change: {kept}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how much rescaling the weights changes each variant of sharpness."""
        names = tuple(self.rescaled)
        ratios = [self.rescaled[n] / self.values[n] if self.values[n] else 1.0 for n in names]
        bars = Bars("after over before", names, ratios)
        return (Plot("Sharpness after a rescaling that keeps the outputs", (bars,), Axis("ratio"),
                     caption=self.verdict),)  # fmt: skip


class _Adaptive(AbstractOperator):
    """The operator T A T for an operator A and a diagonal matrix T, whose eigenvalues are a rescaled sharpness."""

    def __init__(self, operator: AbstractOperator, scale: Tensor) -> None:
        self._operator, self._scale = operator, scale

    @property
    def size(self) -> int:
        return self._operator.size

    @property
    def like(self) -> Tensor:
        return self._operator.like

    def matvec(self, v: Tensor) -> Tensor:
        return self._scale * self._operator.matvec(self._scale * v)


@add_call_to_errors
def sharpness_variants(
    module: nn.Module,
    data: Any,
    *,
    radius: float = 0.05,
    factor: float = 10.0,
    products: int = 60,
    iterations: int | None = None,
    loss: Loss | None = None,
    tile: int | None = None,
    seed: int = 0,
) -> SharpnessVariants:
    """Computes six variants of sharpness for a model and for a rescaled copy with the same outputs.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`; ``loss`` and ``tile`` too.
        radius: r of (3), in parameters and, for the adaptive form, relative to each weight.
        factor: units of the copy are rescaled by sqrt(factor) to factor, alternately up and down from group to group.
        products: number of Hessian products for each trace.
        iterations: number of products for each largest eigenvalue; by default, until it converges.
        loss: as in `hessian`.
        tile: as in `hessian`.
        seed: random seed for random vectors.

    Hypotheses: see the module. Reference: [dinh2017sharp], [kwon2021asam].
    Cost: about 2 x (2 products + 60) Hessian-vector products and four gradients for each of the two models.

    >>> net, x = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1)), torch.linspace(-1, 1, 8)[:, None]
    >>> _ = [nn.init.constant_(p, 0.7) for p in net.parameters()]
    >>> found = sharpness_variants(net, (x, x[:, 0]))
    >>> all(name.startswith("adaptive") for name in found.invariant)
    True
    """
    r, c = check_number("radius", radius, above=0), check_number("factor", factor, above=1)
    count, seed = check_integer("products", products, least=12), check_seed(seed)
    most = None if iterations is None else check_integer("iterations", iterations)
    units = read_units(module, data)[1]

    def forms(model: nn.Module) -> dict[str, float]:
        return _forms(model, data, loss, r, count, most, tile, seed)

    here = forms(module)
    return SharpnessVariants(here, forms(rescaled_copy(module, units, c)) if units.scalings else {}, c)


def _forms(model: nn.Module, data: Any, loss: Loss | None, radius: float, products: int, steps: int | None,
           tile: int | None, seed: int) -> dict[str, float]:  # fmt: skip
    plain = hessian(model, data, loss=loss, tile=tile)
    w = torch.cat([p.detach().flatten() for p in model.parameters() if p.requires_grad])
    found = []
    for operator, adaptive in ((plain, False), (_Adaptive(plain, w.abs()), True)):
        found.append(float(top_eigenpairs(operator, 1, steps=steps, seed=seed).values[0]))  # (1)
        found.append(automatic_trace(operator, products=products, seed=seed).value)  # (2)
        found.append(largest_loss_rise(model, data, radius=radius, adaptive=adaptive, loss=loss).rise)  # (3)
    return dict(zip(NAMES, found, strict=True))
