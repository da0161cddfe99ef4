"""Distance of each example to the decision boundary, and the effect of input noise on the loss.

    margin_i = f_y(x_i) - max over other classes,    distance_i = margin_i / |grad_x margin_i|                    (1)
    E L(x + s e) - L(x)  =  (s^2 / 2) mean_i tr(J_i^T H_i J_i)  +  terms with second derivatives of f  +  O(s^4)  (2)

e is standard Gaussian noise, J the Jacobian in the inputs, H the Hessian of the loss in the outputs (1 for squared
loss). (1) is exact for linear networks: the signed distance to the boundary. (2) is a penalty on the Jacobian.
Hypotheses: inputs are one tensor of real numbers.
Reference: [bartlett1998sample]; [moosavi2016deepfool] for (1); [bishop1995training] for (2).

>>> import torch
>>> net = nn.Linear(2, 1)
>>> net.weight.data, net.bias.data = torch.tensor([[3.0, 4.0]]), torch.tensor([5.0])
>>> margin_distribution(net, (torch.zeros(1, 2), torch.tensor([1]))).distances.tolist()             # |b| / |w|
[1.0]
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed, check_weights
from gnomon.core.inputs.source import data_source
from gnomon.core.losses import AbstractLoss, CrossEntropy
from gnomon.core.metrics import check_labels_and_margins, student_quantile
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module
from gnomon.core.results import Axis, Histogram, Interval, Plot, Reference, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.training.evaluate import Loss, Objective

__all__ = ["MarginDistribution", "NoiseSensitivity", "margin_distribution", "noise_sensitivity"]

EXAMPLES_PER_PASS = 256
"""Examples in one pass."""


@dataclass(frozen=True, slots=True, eq=False)
class MarginDistribution(Result):
    """Result: each example's margin and first-order distance to the decision boundary, negative if misclassified."""

    margins: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)
    distances: Float[Tensor, " n"] = field(metadata=HIDDEN_IN_JSON)

    @property
    def smallest(self) -> float:
        """Returns the smallest distance of any example to the decision boundary; negative if an example is
        misclassified.
        """
        return float(self.distances.min())

    @add_call_to_errors("quantile(share)")
    def quantile(self, share: float) -> float:
        """Returns the given quantile of the examples' distances to the decision boundary."""
        return float(self.distances.double().quantile(check_number("share", share)))

    @property
    def verdict(self) -> str:
        """States the error rate, and how close correctly classified examples are to the decision boundary."""
        right = self.distances[self.margins > 0].double()
        wrong = 1 - len(right) / len(self.margins)
        if not len(right):
            return "All decisions are wrong."
        near = right.quantile(right.new_tensor([0.5, 0.1])).tolist()
        return (
            f"{wrong:.1%} of decisions are wrong; half of the correctly classified examples are within {near[0]:.3g} "
            f"of the decision boundary, one in ten within {near[1]:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots a histogram of the distances to the decision boundary."""
        marks = (Histogram.of("examples", self.distances), Reference("wrong to the left", 0.0, vertical=True))
        return (Plot("Distance to the border", marks, Axis("distance"), Axis("examples"), self.verdict),)


@dataclass(frozen=True, slots=True)
class NoiseSensitivity(Result):
    """Result: how much input noise raises the loss, with a 95 % interval, and the predicted rise (Jacobian penalty)."""

    rise: float
    interval: Interval
    penalty: float
    loss: float
    sigma: float

    @property
    def verdict(self) -> str:
        """States how much input noise raises the loss, next to the equivalent penalty on the Jacobian."""
        return (
            f"Noise of {self.sigma:.3g} at the inputs changes the loss by {self.rise:.3g} (from {self.loss:.3g}); a "
            f"penalty on the Jacobian would cost {self.penalty:.3g}."
        )


@add_call_to_errors
def margin_distribution(module: nn.Module, data: Any) -> MarginDistribution:
    """Computes the margin of every example and its first-order distance to the decision boundary.

    See equation (1) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: inputs, or data.

    Hypotheses: see the module; exact for a linear network. Reference: [bartlett1998sample].
    Cost: a forward and a backward pass.

    >>> net = nn.Linear(1, 2, bias=False)
    >>> net.weight.data = torch.tensor([[1.0], [-1.0]])
    >>> margin_distribution(net, (torch.tensor([[3.0]]), torch.tensor([0]))).smallest                   # 6 / 2
    3.0
    """
    check_weights(module)
    given, margins, distances = data_source(data, module=module), [], []
    with preserve(module):
        for batch in given.batches(EXAMPLES_PER_PASS):
            inputs, labels = _real(batch.x), batch.y
            if labels is None or labels.is_floating_point() or labels.dim() != 1:
                raise InputError("the targets are not classes", accepted="classes 0, 1, ...", fix="Pass integer labels")
            m = check_labels_and_margins(output_rows(run_module(module, inputs), len(inputs)), labels)
            (g,) = torch.autograd.grad(m.sum(), inputs)
            margins.append(m.detach())
            distances.append(m.detach() / g.flatten(1).norm(dim=1).clamp_min(1e-30))  # (1)
    return MarginDistribution(torch.cat(margins), torch.cat(distances))


@add_call_to_errors
def noise_sensitivity(
    module: nn.Module,
    data: Any,
    *,
    sigma: float,
    draws: int = 20,
    loss: Loss | None = None,
    seed: int = 0,
) -> NoiseSensitivity:
    """Measures how much Gaussian input noise adds to the loss, and the equivalent penalty on the Jacobian.

    See equation (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `gnomon.train`.
        sigma: the standard deviation s of the noise.
        draws: number of draws of noise for each example; for each, noise and its negative, which cancels the first
            order.
        loss: one of `gnomon.training`; by default chosen from the targets.
        seed: random seed for the noise.

    Hypotheses: see the module; a smooth network for small s. Reference: [bishop1995training].
    Cost: two forward passes and one backward pass for each draw.

    >>> net = nn.Linear(2, 1)
    >>> net.weight.data = torch.tensor([[3.0, 4.0]])
    >>> result = noise_sensitivity(net, (torch.zeros(200, 2), torch.zeros(200)), sigma=0.1)  # s^2 |w|^2 / 2
    >>> round(result.penalty, 4), abs(result.rise - 0.125) < 0.02
    (0.125, True)
    """
    check_weights(module)
    s, m = check_number("sigma", sigma, above=0), check_integer("draws", draws, least=2)
    generator = torch.Generator().manual_seed(check_seed(seed))
    rises, penalties, plain = torch.zeros(m, dtype=torch.float64), 0.0, 0.0
    with preserve(module):
        objective = Objective.of(data, module, loss)
        if not isinstance(objective.loss, AbstractLoss):
            raise InputError("the loss is a function", accepted="a loss with a known Hessian",
                                    fix="Pass Squared(), CrossEntropy(), ... of gnomon.training")  # fmt: skip
        n = len(objective)
        for given, target in objective.batches(EXAMPLES_PER_PASS):
            inputs = _real(given)
            f = output_rows(run_module(module, inputs), len(inputs))
            share, value = len(inputs) / n, float(objective.loss.value(f, target).detach())
            plain += share * value
            for i in range(m):
                v = _probe(objective.loss, f.detach(), target, generator)
                (g,) = torch.autograd.grad((f * v).sum(), inputs, retain_graph=True)
                penalties += s**2 / 2 * share / m * float(g.double().square().sum()) / len(inputs)  # (2)
                noise = s * torch.randn(inputs.shape, generator=generator).to(inputs)
                with torch.no_grad():
                    noisy = [objective.loss_of(module(inputs.detach() + e), target) for e in (noise, -noise)]
                rises[i] += share * (float(sum(noisy)) / 2 - value)
    half = student_quantile(m - 1) * float(rises.std()) / m**0.5
    rise = float(rises.mean())
    return NoiseSensitivity(rise, Interval(rise - half, rise + half, 0.95), penalties, plain, s)


def _real(x: Any) -> Tensor:
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise InputError("the inputs are not one tensor of real numbers", accepted="inputs with gradients",
                                fix="Pass images or columns; for tokens pass their embeddings")  # fmt: skip
    return x.detach().clone().requires_grad_()


def _probe(loss: AbstractLoss, f: Tensor, y: Tensor, generator: torch.Generator) -> Tensor:
    """Draws random vectors whose covariance is the Hessian of the loss with respect to each example's outputs."""
    if isinstance(loss, CrossEntropy):
        p = f.double().softmax(1)
        drawn = torch.multinomial(p.cpu(), 1, generator=generator)[:, 0].to(f.device)
        return (torch.nn.functional.one_hot(drawn, f.shape[1]) - p).to(f)
    signs = (torch.randint(0, 2, f.shape, generator=generator) * 2 - 1).to(f)
    return signs * loss.hessian(f, y).diagonal(dim1=1, dim2=2).clamp_min(0).sqrt().to(f)
