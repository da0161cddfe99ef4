"""Makes any network invariant under a finite group: by averaging over all transformations, or by a canonical pose.

    average         (A f)(x) = (1 / |G|) sum_g f(g x)                                                            (1)
    canonical pose  (C f)(x) = f(g* x),    g* = the g with the largest score of g x                               (2)

Both are exactly invariant if the moves with the identity form a group, and both leave an invariant network as it is.

Hypotheses: the moves and the identity form a group; for (2) scores without ties.
Reference: [yarotsky2022universal] for (1), [kaba2023equivariance] for (2).

>>> import torch
>>> from gnomon.symmetry.action import quarter_turns
>>> net = OrbitAverage(nn.Sequential(nn.Flatten(), nn.Linear(9, 2)), quarter_turns())
>>> x = torch.rand(4, 1, 3, 3)
>>> torch.allclose(net(x), net(x.rot90(1, (2, 3))), atol=1e-6)
True
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.symmetry.action import GroupAction

__all__ = ["CanonicalPose", "OrbitAverage"]


class OrbitAverage(nn.Module):
    """Makes a network invariant: averages its outputs over all transformations of the input, including none."""

    @add_call_to_errors
    def __init__(self, module: nn.Module, action: GroupAction) -> None:
        super().__init__()
        check_module(module)
        self.module, self.action = module, action

    def forward(self, x: Tensor) -> Tensor:
        """Calls the network once for each transformation and returns the mean output."""
        made = [self.module(x), *(self.module(move(x)) for move in self.action.moves)]
        return torch.stack(made).mean(0)  # (1)


class CanonicalPose(nn.Module):
    """Makes a network invariant: passes each input in the one of its transformed poses that has the largest score.

    See equation (2) of the module docstring.
    The score is a function from inputs (n, ...) to (n,); by default the product with fixed random numbers.

    >>> from gnomon.symmetry.action import quarter_turns
    >>> net, x = CanonicalPose(nn.Flatten(), quarter_turns()), torch.rand(2, 1, 2, 2)
    >>> torch.equal(net(x), net(x.rot90(1, (2, 3))))
    True
    """

    @add_call_to_errors
    def __init__(
        self, module: nn.Module, action: GroupAction, *, score: Callable[[Tensor], Tensor] | None = None, seed: int = 0
    ) -> None:
        super().__init__()
        check_module(module)
        self.module, self.action, self.score, self.seed = module, action, score, seed

    def forward(self, x: Tensor) -> Tensor:
        """Transforms the inputs to their canonical pose and calls the network once."""
        poses = torch.stack([x, *(move(x) for move in self.action.moves)])
        scores = torch.stack([self._score(pose) for pose in poses])
        best = scores.argmax(0)
        return self.module(poses[best, torch.arange(len(x))])  # (2)

    def _score(self, x: Tensor) -> Tensor:
        if self.score is not None:
            return self.score(x)
        generator = torch.Generator().manual_seed(self.seed)
        direction = torch.randn(x[0].numel(), generator=generator, dtype=torch.float64)
        return x.flatten(1).double() @ direction.to(x.device)
