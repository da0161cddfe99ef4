"""Derives models from a module: its Taylor expansion in the parameters, and the module with scaled output changes.

With w0 the parameters now and d = w - w0,

    taylor of order r:   f_r(w, x) = sum_{j <= r} (1 / j!) d^j/dt^j f(w0 + t d, x) at t = 0         (1)
    linearize:           f_1(w, x) = f(w0, x) + J(w0, x) d                                          (2)
    rescale:             alpha (f(w, x) - f(w0, x))                                                 (3)

Each is an nn.Module called like the original and trained like it. The original is copied and left unchanged.
"""

from math import factorial
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call, jvp

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.arguments import to_device_and_dtype_of
from gnomon.core.inputs.checks import as_numbers, check_integer, check_module_is_callable, check_number, is_array
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.kernels import use_differentiable_layers
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.run import wrap_user_errors
from gnomon.tangent.checks import check_batch_norms
from gnomon.tangent.directional import directional_derivative

__all__ = ["linearize", "scale_output", "taylor_model"]


class TaylorModel(nn.Module):
    """The Taylor expansion of a module in its parameters, as a module with the same call.

    See equation (1) of the module docstring.
    Floating inputs are taken in any dtype; buffers of the module stay what they are.
    """

    def __init__(self, module: nn.Module, order: int):
        super().__init__()
        self.module, self.order = copy_module(module), order
        self._names = [name for name, _ in self.module.named_parameters()]
        for i, p in enumerate(self.module.parameters()):
            self.register_buffer(f"origin{i}", p.detach().clone())

    @add_call_to_errors("taylor_model(module, order)(x)")
    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Returns the outputs of the Taylor expansion around the initial parameters, at the current parameters."""
        check_batch_norms(self.module)
        args, kwargs = _to_module_dtype(args, kwargs, self.module)
        origin = {name: getattr(self, f"origin{i}") for i, name in enumerate(self._names)}
        now = dict(self.module.named_parameters())
        direction = {name: now[name] - origin[name] for name in self._names}

        def f(w: dict[str, Tensor]) -> Tensor:
            buffers = {name: b.clone() for name, b in self.module.named_buffers()}
            return output_tensor(functional_call(self.module, {**w, **buffers}, args, kwargs))

        with use_differentiable_layers(self.module), wrap_user_errors(self.module, (args, kwargs)):
            terms = _derivatives(f, origin, direction, self.order)
        return sum((term / factorial(j) for j, term in enumerate(terms) if j), terms[0])  # (1)


class RescaledModel(nn.Module):
    """A module whose output is a factor times the change of another module's output since initialization."""

    def __init__(self, module: nn.Module, alpha: float):
        super().__init__()
        self.module, self.alpha = copy_module(module), alpha
        self.origin = copy_module(module).requires_grad_(False)

    @add_call_to_errors("scale_output(module, alpha)(x)")
    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Returns alpha (f(w, x) - f(w0, x)): the change of the output f since the initial parameters w0, times
        alpha.
        """
        args, kwargs = _to_module_dtype(args, kwargs, self.module)
        with wrap_user_errors(self.module, (args, kwargs)):
            with torch.no_grad():
                start = output_tensor(self.origin(*args, **kwargs))
            return self.alpha * (output_tensor(self.module(*args, **kwargs)) - start)  # (3)


@add_call_to_errors
def linearize(module: nn.Module) -> TaylorModel:
    """Returns a model that is linear in the parameters: the first-order Taylor expansion of a module.

        f_lin(w, x) = f(w0, x) + J(w0, x) (w - w0)                                     (2)

    Its parameters start at w0 and are trained by any optimizer; its tangent kernel never changes.

    Hypotheses: the module is differentiable at w0, in forward mode, and deterministic.
    Reference: [lee2019wide], section 2.
    Cost: about two forward passes per call.

    >>> net = nn.Linear(2, 1)                                       # already linear in its parameters
    >>> lin, x = linearize(net), torch.ones(3, 2)
    >>> with torch.no_grad():
    ...     _ = [p.add_(1.0) for p in (*net.parameters(), *lin.parameters())]
    >>> torch.allclose(lin(x), net(x))
    True
    """
    check_module_is_callable(module)
    return TaylorModel(module, 1)


@add_call_to_errors
def taylor_model(module: nn.Module, order: int = 2) -> TaylorModel:
    """Returns the Taylor expansion of a module in its parameters around their current values, as a module.

    See equation (1) of the module docstring.
    Hypotheses: the module has one derivative more; relu and other piecewise linear functions have no
    curvature of their own.
    Reference: [bai2020beyond].
    Cost: about 3^order forward passes per call.

    >>> class Square(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = nn.Parameter(torch.ones(1))
    ...     def forward(self, x):
    ...         return x * self.w**2
    >>> quadratic = taylor_model(Square(), order=2)
    >>> with torch.no_grad():
    ...     _ = quadratic.module.w.fill_(3.0)
    >>> float(quadratic(torch.ones(1)).detach())                             # w^2 is its own expansion: 9
    9.0
    """
    check_module_is_callable(module)
    order = check_integer("order", order)
    return TaylorModel(module, order)


@add_call_to_errors
def scale_output(module: nn.Module, alpha: float) -> RescaledModel:
    """Returns a module whose output is the change of the given module's output since now, times alpha.

    See equation (3) of the module docstring.
    Trained on the loss divided by alpha^2, a large alpha keeps w near w0 and training lazy; a small one does not.

    Hypotheses: the module is deterministic.
    Reference: [chizat2019lazy], section 2.
    Cost: two forward passes per call.

    >>> float(scale_output(nn.Linear(1, 1), 10.0)(torch.ones(1, 1)).detach())     # zero at the start
    0.0
    """
    check_module_is_callable(module)
    return RescaledModel(module, check_number("alpha", alpha))


def _derivatives(f: Any, origin: dict[str, Tensor], direction: dict[str, Tensor], order: int) -> list[Tensor]:
    """Returns a function f and its directional derivatives up to an order, at the given parameters."""
    if not origin:  # A module without parameters is equal to its Taylor expansion.
        return [f(origin)]
    g = directional_derivative(f, direction)
    try:
        terms = list(jvp(f, (origin,), (direction,)))
    except NotImplementedError:  # weight_norm and some other operations have no forward-mode derivative.
        terms = [f(origin), g(origin)]
    for _ in range(order - 1):
        g = directional_derivative(g, direction)
        terms.append(g(origin))
    return terms


def _to_module_dtype(
    args: tuple[Any, ...], kwargs: dict[str, Any], module: nn.Module
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Converts arrays to tensors, and floating-point tensors to the module's dtype; sparse tensors stay sparse."""

    def convert(a: Any) -> Any:
        sparse = isinstance(a, Tensor) and a.layout not in (torch.strided, torch.jagged)
        return as_numbers(a, "x") if is_array(a) and not sparse else a

    arguments = cast(
        tuple[Any, ...], to_device_and_dtype_of(tuple(convert(a) for a in (*args, *kwargs.values())), module)
    )
    return arguments[: len(args)], dict(zip(kwargs, arguments[len(args) :], strict=True))
