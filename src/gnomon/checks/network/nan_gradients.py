"""Finds the function whose gradient is not finite although the loss is.

Backward passes a gradient through one function after the other. The first function that gets finite numbers and returns
others is the cause. The usual ones are the root and the logarithm at 0, a division by 0, and the norm of a zero vector.
`torch.where` does not protect: of the branch that is not chosen it takes the gradient times zero, and 0 * inf is NaN.

Hypotheses: none; a finite gradient raises no alarm.

>>> import torch
>>> w = torch.tensor([-1.0, 4.0], requires_grad=True)
>>> nan_gradient_findings(lambda: torch.where(w > 0, w.sqrt(), torch.zeros_like(w)).sum())[0].values["function"]
'sqrt'
>>> nan_gradient_findings(lambda: w.clamp(min=1e-6).sqrt().sum())
()
"""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.core.results import Finding
from gnomon.findings import network as kinds

__all__ = ["nan_gradient_findings"]


def nan_gradient_findings(loss: Callable[[], Tensor]) -> tuple[Finding, ...]:
    """Returns a finding if the loss is finite and its gradient is not; it names the function where this begins.

    Cost: a forward and a backward pass.

    >>> nan_gradient_findings(lambda: torch.zeros(()))
    ()
    """
    with torch.enable_grad():
        value = loss()
    if not value.requires_grad or not bool(value.detach().isfinite().all()):
        return ()
    seen: list[str] = []
    nodes = _functions(value.grad_fn)
    handles = [node.register_hook(_watch(seen, node.name())) for node in nodes if "AccumulateGrad" not in node.name()]
    try:
        value.sum().backward(inputs=_leaves(nodes))
    except RuntimeError:  # some graphs can be passed only once, or have no leaves
        return ()
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        return ()
    return (Finding(kinds.GRADIENT_NOT_FINITE, "forward", {"function": _plain_name(seen[0])}, (), 0.0),)


def _functions(first: Any) -> list[Any]:
    """Returns all functions of the graph of a tensor."""
    found, left = dict[int, Any](), [first]
    while left:
        node = left.pop()
        if node is None or id(node) in found:
            continue
        found[id(node)] = node
        left += [other for other, _ in node.next_functions]
    return list(found.values())


def _leaves(nodes: list[Any]) -> list[Tensor]:
    return [node.variable for node in nodes if hasattr(node, "variable")]


def _watch(seen: list[str], name: str) -> Callable[[Any, Any], None]:
    def hook(made: Any, given: Any) -> None:
        if _are_finite(given) and not _are_finite(made):
            seen.append(name)

    return hook


def _are_finite(gradients: Any) -> bool:
    return all(bool(g.isfinite().all()) for g in gradients if isinstance(g, Tensor))


def _plain_name(name: str) -> str:
    """Returns the function of a node of the graph, such as "sqrt" for "SqrtBackward0"."""
    word = re.sub(r"Backward\d*$", "", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()
