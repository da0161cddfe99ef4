"""Surrogate trees: decision trees that imitate a network's predictions, and how often they agree with the network.

    fidelity(d) = share of held-out inputs on which a tree of depth d decides like the network                  (1)

Hypotheses: a table of features; classes as outputs.
Reference: [craven1996extracting].
Cost: one forward pass, and a tree for each depth.

>>> net = nn.Linear(2, 2)
>>> surrogate_tree(net, torch.randn(200, 2), depths=(1, 4)).depths
(1, 4)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed
from gnomon.core.metrics import predicted_classes
from gnomon.core.modules.outputs import outputs_in_eval_mode
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON

__all__ = ["SurrogateTree", "surrogate_tree"]


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateTree(Result):
    """Result: how often decision trees of each depth agree with the network, and the deepest tree as text."""

    depths: tuple[int, ...]
    fidelity: tuple[float, ...]
    rules: str = field(repr=False)
    tree: Any = field(repr=False, metadata=HIDDEN_IN_JSON)

    @property
    def verdict(self) -> str:
        """States in one sentence how often the deepest tree agrees with the network."""
        return (
            f"A tree of depth {self.depths[-1]} makes the same decision as the network on {self.fidelity[-1]:.1%} of "
            "held-out inputs."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots how often tree and network agree, over the depth of the tree."""
        return (
            Plot("Surrogate tree", (Line("fidelity", self.depths, self.fidelity),), Axis("depth"), Axis("fidelity")),
        )


@add_call_to_errors
def surrogate_tree(
    module: nn.Module, x: Any, *, depths: Sequence[int] = (1, 2, 3, 5, 8), seed: int = 0
) -> SurrogateTree:
    """Fits decision trees to a network's predictions on two thirds of x and measures agreement on the rest.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [craven1996extracting].
    Cost: see the module.

    >>> surrogate_tree(nn.Linear(1, 2), torch.linspace(-1, 1, 90)[:, None], depths=(1,)).fidelity[0] > 0.9
    True
    """
    from sklearn.tree import DecisionTreeClassifier, export_text

    inputs = one_tensor(x, module, whole=True)
    decided = predicted_classes(outputs_in_eval_mode(module, inputs))
    order = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(check_seed(seed)))
    cut = max(1, 2 * len(order) // 3)

    def arrays(index: Tensor) -> tuple[Any, Any]:
        return inputs[index].flatten(1).double().cpu().numpy(), decided[index].cpu().numpy()

    fit, rest = arrays(order[:cut]), arrays(order[cut:] if cut < len(order) else order)
    found, tree = [], None
    sizes = tuple(check_integer("depths", depth) for depth in depths)
    for depth in sizes:
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(*fit)
        found.append(float(tree.score(*rest)))  # (1)
    return SurrogateTree(sizes, tuple(found), export_text(tree), tree)
