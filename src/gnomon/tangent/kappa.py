"""Predicts, before any training step, whether training will be lazy (the tangent kernel hardly changes).

With f(w) the vector of all outputs on the data, D f its Jacobian and D^2 f its second derivative, in operator norms,

    kappa         = (L / |grad L|) (|D^2 f| / |D f|)                                                  (1)
    kappa_square  = |f - y| |D^2 f| / |D f|^2             squared loss                                (2)

and for the output scaled by alpha and the loss by 1 / alpha^2, L_alpha(w) = R(alpha f(w)) / alpha^2,

    kappa_alpha   = (R(alpha f) / (alpha |J^T grad R(alpha f)|)) (|D^2 f| / |D f|)                    (3)
    kappa_square  = (1 / alpha) |alpha f - y| |D^2 f| / |D f|^2                                       (4)

Small kappa: the loss falls before the Jacobian changes, training is lazy. With f(w0) = 0, (4) falls as 1 / alpha;
otherwise it stays above |f| |D^2 f| / |D f|^2. (2) is invariant when f and y are scaled together: the square of |D f|
matters. For L = |f - y|^2 / 2 and grad L along the first singular vector, (1) is half of (2).
Reference: [chizat2019lazy], section 1.

>>> import torch
>>> print(laziness_criterion(torch.nn.Linear(2, 1), (torch.ones(3, 2), torch.zeros(3, 1))))  # linear in its parameters
kappa is 0: training from these weights with outputs scaled by 1 is lazy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import grad, vjp

from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed, check_type
from gnomon.core.inputs.classes import targets_as_numbers
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction, check_finite_outputs
from gnomon.core.results import Axis, Bars, Plot, Reference, Result
from gnomon.tangent.checks import check_eval_mode, check_stable_buffers
from gnomon.tangent.directional import Parameters, directional_derivative
from gnomon.tangent.laziness import MAX_LAZY_CHANGE

__all__ = ["LazinessCriterion", "laziness_criterion"]

MIN_KAPPA_OF_FEATURE_LEARNING = 1.0
"""Value of (4) above which training is called not lazy; below `MAX_LAZY_CHANGE` it is called lazy."""
Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class LazinessCriterion(Result):
    """The number kappa, which predicts lazy training if small, for a loss and for the squared loss, with its
    ingredients.
    """

    value: float
    squared: float
    alpha: float
    distance: float  # norm |alpha f - y| of the initial error, with outputs f, targets y, scale alpha
    first: float  # |D f|
    second: float  # lower bound of the norm |D^2 f| of the second derivative: the best of several gradient ascents

    @property
    def verdict(self) -> str:
        """A sentence that says whether training will be lazy, from the value of kappa."""
        regime = (
            "lazy"
            if self.squared < MAX_LAZY_CHANGE
            else "not lazy"
            if self.squared > MIN_KAPPA_OF_FEATURE_LEARNING
            else "between lazy and not"
        )
        return (
            f"kappa is {self.squared:.2g}: training from these weights with outputs scaled by {self.alpha:g} is "
            f"{regime}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots kappa for the given loss and for the squared loss, with the limits between lazy and not lazy
        training.
        """
        bars = Bars("kappa", ("this loss, (3)", "squared loss, (4)"), (self.value, self.squared))
        limits = (
            Reference("lazy below", MAX_LAZY_CHANGE, vertical=True),
            Reference("not lazy above", MIN_KAPPA_OF_FEATURE_LEARNING, vertical=True),
        )
        return (Plot("kappa before training", (bars, *limits), Axis("kappa"), caption=self.verdict),)


@add_call_to_errors
def laziness_criterion(
    module: nn.Module,
    data: Any,
    *,
    alpha: float = 1.0,
    centered: bool = False,
    loss: Loss | None = None,
    starts: int = 3,
    iterations: int = 100,
    seed: int = 0,
) -> LazinessCriterion:
    """Computes kappa, which predicts lazy training if small, at the current parameters and output scale alpha.

    See equations (3) and (4) of the module docstring.
    ``data`` are a pair, a ``Dataset``, a ``DataLoader`` or other batches with targets; they are held in memory.
    Integer labels (n,) are classes, taken as one-hot rows; floating-point ones have the shape of the outputs.

    ``loss(outputs, y)`` is R, half the sum of squares by default; ``centered`` takes f - f(w0) for f, which is zero now
    and has the same derivatives. |D f| and |D^2 f| are computed by power iteration on products with J and with second
    derivatives; |D^2 f| = sup over unit u and output direction v of v . D^2 f[u, u] is a non-convex supremum, so the
    value is a lower bound: the best of ``starts`` ascents.

    Hypotheses: twice differentiable at the present parameters (relu has curvature between layers only); deterministic.
    Reference: [chizat2019lazy].
    Cost: about 4 starts * iterations passes over x.

    >>> class Product(nn.Module):                                     # f = a b: D f = (b, a), D^2 f = [[0, 1], [1, 0]]
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.a, self.b = nn.Parameter(torch.tensor(2.0)), nn.Parameter(torch.tensor(0.0))
    ...     def forward(self, x):
    ...         return self.a * self.b * x
    >>> one = torch.ones(1, 1)
    >>> result = laziness_criterion(Product(), (one, one))  # |f - y| = 1, |D f| = 2, |D^2 f| = 1
    >>> round(result.squared, 4), round(result.value, 4)               # 1 / 4, and (1/2) / 2 * 1 / 2
    (0.25, 0.125)
    """
    check_module_is_callable(module)
    alpha = check_number("alpha", alpha, above=0)
    starts, iterations = (check_integer(name, v) for name, v in (("starts", starts), ("iterations", iterations)))
    seed = check_seed(seed)
    risk = _half_square if loss is None else loss
    check_type("loss", risk, Callable, fix="Pass a function of (outputs, targets)")
    with preserve(module, mode=None, all_derivatives=True):
        pure = PureFunction.of(module)
        inputs, labels = data_source(data, module=module).pair()
        check_eval_mode(module)
        w = {name: leaf.detach() for name, leaf in pure.leaves.items()}

        def f(p: Parameters) -> Tensor:
            return pure(inputs, p).reshape(-1)

        start = f(w)
        check_finite_outputs(start.reshape(1, -1))
        check_stable_buffers(pure, inputs)
        now = torch.zeros_like(start) if centered else start
        target = _targets(labels, inputs, start)
        back = vjp(f, w)[1]
        output_gradient = grad(lambda out: risk(out, target))(alpha * now)
        first = _first(f, w, back, iterations, seed)
        second = max(_second(f, w, iterations, seed + i) for i in range(starts))
        gradient_norm = alpha * _norm(back(output_gradient)[0])
        distance = float((alpha * now - target).norm())
        loss_now = float(risk(alpha * now, target))
    if first == 0:
        what = "the outputs do not depend on the parameters at first order"
        raise NotFiniteError(what, accepted="outputs whose gradient is not zero", fix="Start from other parameters")
    value = loss_now / gradient_norm * second / first if gradient_norm else float("inf")  # (1), (3)
    return LazinessCriterion(value, distance / alpha * second / first**2, alpha, distance, first, second)  # (2), (4)


def _targets(labels: Tensor, inputs: Inputs, outputs: Tensor) -> Tensor:
    """Returns the labels as a vector with one number for each entry of the network's outputs."""
    n = count_examples(inputs)
    target = targets_as_numbers(labels, outputs=outputs.numel() // n).to(outputs).reshape(-1)
    if target.shape != outputs.shape:
        what = f"{target.numel()} labels for {outputs.numel()} outputs"
        raise InputError(what, accepted="one label per output", fix="Give y the outputs' shape")
    return target


def _half_square(out: Tensor, target: Tensor) -> Tensor:
    return ((out - target) ** 2).sum() / 2


def _first(f: Callable, w: Parameters, back: Callable, iterations: int, seed: int) -> float:
    """Returns the largest singular value of the Jacobian of the outputs with respect to the parameters, by power
    iteration.
    """
    u, size = _unit(_random(w, seed)), 0.0
    for _ in range(iterations):
        pushed = directional_derivative(f, u)(w)
        last, size = size, float(pushed.norm())
        pulled = back(pushed)[0]
        if _norm(pulled) == 0 or abs(size - last) <= 1e-9 * size:
            break
        u = _unit(pulled)
    return size


def _second(f: Callable, w: Parameters, iterations: int, seed: int) -> float:
    """Returns a lower bound of the norm of the outputs' second derivative with respect to the parameters."""
    u, best = _unit(_random(w, seed)), 0.0
    for _ in range(iterations):
        curvature = directional_derivative(directional_derivative(f, u), u)(w)
        last, best = best, max(best, float(curvature.norm()))
        if float(curvature.norm()) == 0 or (last and best - last <= 1e-6 * best):
            break
        v = curvature / curvature.norm()
        u = _sharpest(f, w, v, u)
    return best


def _sharpest(f: Callable, w: Parameters, v: Tensor, u: Parameters, steps: int = 5) -> Parameters:
    """Finds the unit direction u of parameters that maximizes the second derivative of the outputs, weighted by v,
    along u.
    """

    def along(p: Parameters) -> Tensor:
        return torch.dot(v, f(p))

    hessian_product = vjp(grad(along), w)[1]
    for _ in range(steps):
        product = hessian_product(u)[0]
        shift = _norm(product)
        u = _unit({name: product[name] + shift * u[name] for name in u})
    return u


def _random(w: Parameters, seed: int) -> Parameters:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(p.shape, generator=generator, dtype=torch.float64).to(p) for name, p in w.items()}


def _norm(u: Parameters) -> float:
    return float(sum((t.double() ** 2).sum() for t in u.values())) ** 0.5


def _unit(u: Parameters) -> Parameters:
    size = _norm(u)
    return {name: t / size for name, t in u.items()}
