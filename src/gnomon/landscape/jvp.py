"""Multiplies the Jacobian of the outputs with respect to the parameters by vectors, in forward mode if possible.

    J v = d f(w + t v) / dt  at t = 0                                                                (1)
    J v = d (J^T u . v) / du                                                                         (2)
    u . (J v) = (J^T u) . v                     for every u                                          (3)

(1) computes each layer and its derivative together. (2) needs only backward passes, so it works for every function with
two derivatives, but it takes two to three times as long for convolutions. Functions without forward mode raise an
error. Some functions, such as those that draw random numbers, return a wrong derivative without an error. The check (3)
detects this, with u along J v and along a random direction.

Reference: [schraudolph2002fast].
"""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gnomon.core.errors import InputError
from gnomon.core.modules.preserve import random_state

__all__ = ["jvp_matches_vjp", "double_backward_jvp", "forward_mode_jvp"]

ADJOINT_TOLERANCE = 1e-3
"""Largest difference between the two sides of (3), beyond rounding, relative to |u| |J v|."""


def forward_mode_jvp(
    returned: Callable[[dict[str, Tensor]], Tensor], leaves: dict[str, Tensor], pieces: list[Tensor]
) -> Tensor | None:
    """Returns the Jacobian of the outputs times a vector, in forward mode; None if an operation has no forward mode.

    See equation (1) of the module docstring.
    Cost: about two to three forward passes.

    >>> w = {"w": torch.tensor([1.0, 2.0])}
    >>> forward_mode_jvp(lambda p: p["w"] ** 2, w, [torch.tensor([1.0, 0.5])])
    tensor([2., 2.])
    """
    try:
        with forward_ad.dual_level(), warnings.catch_warnings():
            # Hides a warning about torch's own deprecated jit, which torch gives when it loads forward-mode
            # derivatives.
            warnings.filterwarnings("ignore", message=".*torch.jit.script")
            pairs = zip(leaves.items(), pieces, strict=True)
            outputs, tangent = forward_ad.unpack_dual(
                returned({name: forward_ad.make_dual(w.detach(), v) for (name, w), v in pairs})
            )
            return torch.zeros_like(outputs) if tangent is None else tangent.detach()  # (1)
    # The module itself has run without error, so these errors come from forward-mode differentiation.
    except (NotImplementedError, RuntimeError, InputError):
        return None


def double_backward_jvp(outputs: Tensor, leaves: list[Tensor], pieces: list[Tensor]) -> Tensor:
    """Returns the Jacobian of the outputs times a vector, computed by two backward passes.

    See equation (2) of the module docstring.
    Cost: two backward passes, and the memory of both.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> double_backward_jvp(w**2, [w], [torch.tensor([1.0, 0.5])])
    tensor([2., 2.])
    """
    u = torch.zeros_like(outputs, requires_grad=True)
    with torch.enable_grad():
        pulled = torch.autograd.grad(outputs, leaves, u, create_graph=True, allow_unused=True, materialize_grads=True)
    pairs = [(g, v) for g, v in zip(pulled, pieces, strict=True) if g.requires_grad]
    return torch.autograd.grad([g for g, _ in pairs], u, [v for _, v in pairs])[0]  # (2)


def jvp_matches_vjp(outputs: Tensor, leaves: list[Tensor], pieces: list[Tensor], moved: Tensor) -> bool:
    """Whether a Jacobian-vector product ``moved`` agrees with a vector-Jacobian product from a backward pass.

    See equation (3) of the module docstring.
    Cost: one backward pass.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> [jvp_matches_vjp(w**2, [w], [torch.tensor([1.0, 0.5])], torch.tensor([2.0, 2.0 + e])) for e in (0.0, 0.1)]
    [True, False]
    """
    with random_state(0):
        drawn = torch.randn(outputs.shape, device="cpu").to(outputs)
    u = drawn / drawn.norm() + moved / moved.norm().clamp_min(torch.finfo(moved.dtype).tiny)
    pulled = torch.autograd.grad(outputs, leaves, u, retain_graph=True, allow_unused=True, materialize_grads=True)
    left = u.double().flatten() @ moved.double().flatten()
    right = sum((g.double() * v.double()).sum() for g, v in zip(pulled, pieces, strict=True))
    back = sum(g.double().square().sum() for g in pulled) ** 0.5 * sum(v.double().square().sum() for v in pieces) ** 0.5
    rounding = 100 * torch.finfo(moved.dtype).eps * back
    return bool((left - right).abs() <= ADJOINT_TOLERANCE * u.double().norm() * moved.double().norm() + rounding)  # (3)
