"""Signal propagation, measured: how large activations and gradients are at every layer, and how alike inputs become.

For the output h_l (n examples, units) of a layer, and a random cotangent v of unit variance at the network's outputs:

    q_l = mean h_l^2,    g_l = mean (d<v, f> / d h_l)^2,    c_l = mean_{i != j} cos(h_l(x_i), h_l(x_j))        (1)

Reference: [poole2016exponential], [schoenholz2017deep].
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.core.inputs import Inputs, count, fitted, invoke, table, take
from gnomon.core.pure import evaluating, random_state, undisturbed

CALL = "signal(module, x)"
EXAMPLES = 64


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: name, kind, (1), the share of units that are zero on every example, numbers per example, weights.

    ``weight_std`` is sqrt(fan_in) times the root mean square of the weight: the sigma_w of theory; None without weight.
    """

    name: str
    kind: str
    second_moment: float
    gradient: float
    correlation: float
    dead: float
    units: int
    weight_std: float | None


@dataclass(frozen=True, slots=True)
class Signal:
    """All layers in the order of their calls; ``blocked`` says that outputs do not depend on the inputs."""

    layers: tuple[Layer, ...]
    blocked: bool

    @property
    def weighted(self) -> tuple[Layer, ...]:
        """The layers with weights."""
        return tuple(v for v in self.layers if v.weight_std is not None)

    @property
    def zero(self) -> tuple[str, ...]:
        """Names of layers all of whose weights are zero."""
        return tuple(v.name for v in self.weighted if v.weight_std == 0)

    @property
    def verdict(self) -> str:
        """One sentence."""
        seen = self.weighted
        if len(seen) < 2:
            return "One layer: nothing to propagate."
        forward = seen[-1].second_moment / max(seen[0].second_moment, 1e-300)
        backward = seen[0].gradient / max(seen[-1].gradient, 1e-300)
        return (
            f"From the first to the last of {len(seen)} layers the signal is multiplied by {forward:.2g}, and the "
            f"gradient on its way back by {backward:.2g}; the correlation ends at {seen[-1].correlation:.3f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [{name: getattr(v, name) for name in v.__slots__} for v in self.layers]
        return {"layers": rows, "blocked": self.blocked, "verdict": self.verdict}


def signal(module: nn.Module, x: Inputs, *, examples: int = EXAMPLES, seed: int = 0) -> Signal:
    """Measure the propagation of signals and gradients through every layer of a module.

        q_l = mean h_l^2,    g_l = mean (d<v, f> / d h_l)^2                                                    (1)

    Layers are the modules without children, and those with parameters of their own, each at its first call.

    Hypotheses: none; layers whose output is no tensor with the examples first are left out.
    Reference: [poole2016exponential], [schoenholz2017deep].
    Cost: one forward and one backward pass on at most ``examples`` examples, whose activations are held.

    >>> net = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 1, bias=False))
    >>> with torch.no_grad():
    ...     _ = net[0].weight.copy_(2 * torch.eye(4)), net[1].weight.fill_(0.5)
    >>> [v.second_moment for v in signal(net, torch.ones(3, 4)).layers]          # 2^2, (4 x 2 / 2)^2
    [4.0, 16.0]
    """
    x = fitted(x, module)
    n = min(examples, count(x, call=CALL))
    if n < 2:
        raise InputError(lesson(CALL, f"{n} examples", "two examples to compare", "Pass more examples"))
    x = take(x, slice(0, n))
    with undisturbed(module), evaluating(module), random_state(seed), torch.enable_grad():
        with _recorded(module, n) as held:
            y = table(invoke(module, x), n, CALL)
        if not bool(torch.isfinite(y).all()):
            first = next((name for name, h in held.items() if not bool(torch.isfinite(h).all())), "the outputs")
            raise NotFiniteError(
                lesson(CALL, f"'{first}' is not finite", "finite activations", "Use smaller weights or inputs")
            )
        v = torch.randn(y.shape, dtype=y.dtype, device=y.device)
        watched = {name: h for name, h in held.items() if h.requires_grad}
        keys = list(watched.values())
        found = torch.autograd.grad(y, keys, v, allow_unused=True) if y.requires_grad and keys else ()
    grads = dict(zip(watched, found, strict=True))
    parts = dict(module.named_modules())
    layers = [_layer(name, parts[name], h.detach(), grads.get(name)) for name, h in held.items()]
    same = bool((y.detach() - y.detach()[:1]).abs().max() <= 1e-12 * y.detach().abs().max())
    return Signal(tuple(layers), same)


@contextmanager
def _recorded(module: nn.Module, n: int) -> Iterator[dict[str, Tensor]]:
    """The output of every layer at its first call, while the block runs."""
    held: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[..., None]:
        def hook(part: nn.Module, given: Any, out: Any) -> None:
            out = out[0] if isinstance(out, tuple) and out else out
            if isinstance(out, Tensor) and out.is_floating_point() and out.dim() > 1 and len(out) == n:
                held.setdefault(name, out)

        return hook

    handles = [
        part.register_forward_hook(keep(name))
        for name, part in module.named_modules()
        if not list(part.children()) or list(part.parameters(recurse=False))
    ]
    try:
        yield held
    finally:
        for handle in handles:
            handle.remove()


def _layer(name: str, part: nn.Module, h: Tensor, gradient: Tensor | None) -> Layer:
    flat = h.reshape(len(h), -1).double()
    weight = getattr(part, "weight", None)
    std = None
    if isinstance(weight, Tensor) and weight.dim() > 1 and not isinstance(part, nn.Embedding):
        std = float((weight.detach().double().square().mean() * weight[0].numel()).sqrt())
    units = h.transpose(0, 1).reshape(h.shape[1], -1) if h.dim() > 1 else h[None]
    return Layer(
        name or type(part).__name__,
        type(part).__name__,
        float(flat.square().mean()),
        0.0 if gradient is None else float(gradient.detach().double().square().mean()),
        _correlation(flat),
        float((units == 0).all(1).double().mean()),
        flat.shape[1],
        std,
    )  # (1)


def _correlation(h: Float[Tensor, "n u"]) -> float:
    """Mean cosine between the rows of different examples; rows of zeros are alike."""
    norms = h.norm(dim=1, keepdim=True)
    unit = torch.where(norms > 0, h / norms.clamp(min=1e-300), torch.zeros_like(h))
    n = len(h)
    total = float(unit.sum(0).square().sum()) - float((norms > 0).sum())
    zeros = int((norms == 0).sum())
    return (total + zeros * (zeros - 1)) / (n * (n - 1))
