"""What batch norm does to gradients, which of its two parameters matters, and which weights have no scale.

For a batch of m outputs y of a layer, normalized z = b + c yhat, yhat = (y - mean) / s, and the loss L of z,

    |dL/dy|^2 = (c / s)^2 (|dL/dz|^2 - (1/m) <1, dL/dz>^2 - (1/m) <dL/dz, yhat>^2)                                (1)
    importance of c or b: the rise of the loss when the layer's c is set to 1, or its b to 0                      (2)
    L(a w) = L(w) for weights before a normalization:  <w, dL/dw> = 0,  effective rate lr / |w|^2                 (3)

Hypotheses: training mode for (1) and (3), eval mode for (2); (1) up to the eps of the layer over the variance.
Reference: [santurkar2018how], Theorem 4.1, for (1); [ioffe2015batch]; [laarhoven2017regularization] for (3).

>>> ScaleInvariance({"0.weight": 0.0, "2.weight": 0.7}, {"0.weight": 4.0, "2.weight": 1.0}).invariant
('0.weight',)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.checks import check_readable, number
from gnomon.core.errors import InputError, lesson
from gnomon.core.pure import evaluating, twin, undisturbed
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.core.untouched import untouched
from gnomon.training.evaluate import Loss, Objective

__all__ = [
    "NormalizationImportance",
    "NormalizationSmoothing",
    "ScaleInvariance",
    "normalization_importance",
    "normalization_smoothing",
    "scale_invariance",
]

NORMS = nn.modules.batchnorm._BatchNorm
EXAMPLES = 256
"""Examples of the batch that is normalized, at most."""
ORTHOGONAL = 1e-3
"""Cosine of weights and gradient below which the weights count as without scale: float32 and the norm's eps."""


@dataclass(frozen=True, slots=True)
class NormalizationSmoothing(Result):
    """By batch norm layer: |dL/dy|^2 s^2 / (c^2 |dL/dz|^2), 1 for a plain rescaling, and the largest error of (1)."""

    factors: dict[str, float]
    scales: dict[str, float]
    error: float

    @property
    def verdict(self) -> str:
        """How much the layers take out of the gradient beyond rescaling it."""
        name = min(self.factors, key=self.factors.__getitem__)
        return f"Batch norm takes up to {1 - self.factors[name]:.0%} out of the squared gradient ('{name}')."

    def plots(self) -> tuple[Plot, ...]:
        """The factor of each layer."""
        bars = Bars("factor", tuple(self.factors), tuple(self.factors.values()))
        return (
            Plot("Gradient left by batch norm", (bars,), Axis("share of the rescaled square"), caption=self.verdict),
        )


@dataclass(frozen=True, slots=True)
class NormalizationImportance(Result):
    """By batch norm layer, the rise of the loss (2) when its scale, or its shift, is reset; and the loss itself."""

    scale: dict[str, float]
    shift: dict[str, float]
    loss: float

    @property
    def verdict(self) -> str:
        """Which of the two matters more."""
        scale, shift = sum(self.scale.values()), sum(self.shift.values())
        more, less = ("scale", "shift") if scale >= shift else ("shift", "scale")
        low, high = sorted((scale, shift))
        return (
            f"The learned {more} matters more than the {less}: resetting it costs {high:.3g} of loss, against "
            f"{low:.3g}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Both for each layer."""
        names = tuple(self.scale)
        axis = Axis("rise of the loss")
        return (
            Plot("Scale reset", (Bars("rise", names, tuple(self.scale.values())),), axis, caption=self.verdict),
            Plot("Shift reset", (Bars("rise", names, tuple(self.shift.values())),), axis),
        )


@dataclass(frozen=True, slots=True)
class ScaleInvariance(Result):
    """By weight: |cosine| of the weight and its gradient, zero where the loss does not see its scale, and |w|^2."""

    cosines: dict[str, float]
    squares: dict[str, float]

    @property
    def invariant(self) -> tuple[str, ...]:
        """The weights whose scale does not matter."""
        return tuple(name for name, cosine in self.cosines.items() if cosine < ORTHOGONAL)

    def effective_lr(self, lr: float) -> dict[str, float]:
        """lr / |w|^2 for each weight without scale: the rate at which its direction turns, equation (3)."""
        rate = number("lr", lr, call="effective_lr(lr)", above=0)
        return {name: rate / self.squares[name] for name in self.invariant}

    @property
    def verdict(self) -> str:
        """How many weights have no scale."""
        found = self.invariant
        named = f": {', '.join(found[:3])}{' ...' if len(found) > 3 else ''}" if found else ""
        return f"The loss does not see the scale of {len(found)} of {len(self.cosines)} weights{named}."

    def plots(self) -> tuple[Plot, ...]:
        """The cosine of each weight."""
        bars = Bars("cosine", tuple(self.cosines), tuple(self.cosines.values()))
        return (Plot("Weights along their gradient", (bars,), Axis("|cosine|"), caption=self.verdict),)


def normalization_smoothing(
    module: nn.Module, x: Any, y: Any = None, *, loss: Loss | None = None
) -> NormalizationSmoothing:
    """How much of the gradient each batch norm layer takes out, beyond rescaling it, on one batch; equation (1).

    Hypotheses: see the module; at most 256 examples, as one batch. Reference: [santurkar2018how].
    Cost: a forward and a backward pass in training mode, on a copy.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    >>> told = normalization_smoothing(net, torch.randn(32, 2), torch.randn(32))
    >>> 0 <= told.factors["1"] <= 1 and told.error < 1e-3
    True
    """
    call = "normalization_smoothing(module, x, y)"
    check_readable(module, call=call)
    model = twin(module, call=call)
    parts = _norms(model, call)
    kept: dict[str, tuple[Tensor, Tensor]] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, args: Any, out: Tensor) -> None:
            kept[name] = (args[0], out)

        return hook

    for name, part in parts.items():
        part.register_forward_hook(keep(name))
    with undisturbed(model), evaluating(model, training=True):
        objective = Objective.of(x, y, model, loss, call)
        batch = objective.data.first(EXAMPLES)
        value = objective.value(model, *objective.of_batch(batch))
        tensors = [t for pair in kept.values() for t in pair]
        grads = torch.autograd.grad(value, tensors, allow_unused=True, materialize_grads=True)
    factors, scales, error = {}, {}, 0.0
    for i, name in enumerate(kept):
        told = _smoothing(parts[name], kept[name][0].detach(), grads[2 * i], grads[2 * i + 1])
        factors[name], scales[name], error = told[0], told[1], max(error, told[2])
    return NormalizationSmoothing(factors, scales, error)


def normalization_importance(
    module: nn.Module, x: Any, y: Any = None, *, loss: Loss | None = None
) -> NormalizationImportance:
    """The rise of the loss when the learned scale or shift of each batch norm layer is reset; equation (2).

    Hypotheses: a trained network with affine batch norm layers. Reference: [ioffe2015batch].
    Cost: two passes over the data for each layer.

    >>> net = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1))
    >>> told = normalization_importance(net, torch.randn(8, 1), torch.zeros(8))       # 1 and 0 already: nothing changes
    >>> told.scale, told.shift
    ({'0': 0.0}, {'0': 0.0})
    """
    call = "normalization_importance(module, x, y)"
    check_readable(module, call=call)
    model = twin(module, call=call)
    parts = {name: part for name, part in _norms(model, call).items() if part.affine}
    with untouched(model):
        objective = Objective.of(x, y, model, loss, call)
        start = objective.measure(model, None)[0]
        rises: dict[str, dict[str, float]] = {"weight": {}, "bias": {}}
        for name, part in parts.items():
            for which, neutral in (("weight", 1.0), ("bias", 0.0)):
                parameter = getattr(part, which)
                before = parameter.detach().clone()
                parameter.data.fill_(neutral)
                rises[which][name] = objective.measure(model, None)[0] - start  # (2)
                parameter.data.copy_(before)
    return NormalizationImportance(rises["weight"], rises["bias"], start)


def scale_invariance(module: nn.Module, x: Any, y: Any = None, *, loss: Loss | None = None) -> ScaleInvariance:
    """Which weights the loss does not see the scale of, by their gradients in training mode; equation (3).

    Hypotheses: at most 256 examples, as one batch. Reference: [laarhoven2017regularization].
    Cost: a forward and a backward pass in training mode, on a copy.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    >>> x = 10 * torch.randn(32, 2, generator=torch.Generator().manual_seed(0))
    >>> scale_invariance(net, x, x[:, 0]).invariant
    ('0.weight',)
    """
    call = "scale_invariance(module, x, y)"
    check_readable(module, call=call)
    model = twin(module, call=call)
    with undisturbed(model), evaluating(model, training=True):
        objective = Objective.of(x, y, model, loss, call)
        value = objective.value(model, *objective.of_batch(objective.data.first(EXAMPLES)))
        weights = {name: p for name, p in model.named_parameters() if p.dim() > 1 and p.requires_grad}
        grads = torch.autograd.grad(value, list(weights.values()), allow_unused=True)
    used = [(name, w.detach().double(), g.double()) for (name, w), g in zip(weights.items(), grads, strict=True)
            if g is not None]  # fmt: skip
    cosines = {name: abs(float((w * g).sum() / (w.norm() * g.norm()).clamp_min(1e-300))) for name, w, g in used}
    return ScaleInvariance(cosines, {name: float(w.square().sum()) for name, w, _ in used})  # (3)


def _norms(model: nn.Module, call: str) -> dict[str, Any]:
    found = {name: part for name, part in model.named_modules() if isinstance(part, NORMS)}
    if not found:
        raise InputError(lesson(call, "the module has no batch norm layer", "at least one", "Pass a network with one"))
    return found


def _smoothing(part: Any, y: Tensor, into: Tensor, out: Tensor) -> tuple[float, float, float]:
    """The factor of a layer, its mean c / s, and the relative error of (1), channel by channel."""
    y, into, out = (t.movedim(1, 0).flatten(1).double() for t in (y, into, out))
    m = y.shape[1]
    s = (y.var(1, correction=0) + part.eps).sqrt()
    c = part.weight.detach().double() if part.affine else torch.ones_like(s)
    yhat = (y - y.mean(1, keepdim=True)) / s[:, None]
    full = (c / s).square() * out.square().sum(1)
    left = (c / s).square() * (out.square().sum(1) - out.sum(1) ** 2 / m - (out * yhat).sum(1) ** 2 / m)  # (1)
    measured = into.square().sum(1)
    error = float((measured - left).abs().max() / full.max().clamp_min(1e-300))
    return float(measured.sum() / full.sum().clamp_min(1e-300)), float((c / s).mean()), error
