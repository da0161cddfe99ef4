"""Computes the loss on a plane of parameters: along random directions, through three models, or along a run.

    L(w + s u + t v),    u and v as long as the weights, filter by filter:  u_f <- u_f |w_f| / |u_f|              (1)
    a run w_0 ... w_T:   u, v the two principal directions of w_k - w_T,  with the share of its motion in them     (2)

Filter normalization makes pictures of different models comparable: a filter's scale, which the network may not even
see, sets the scale of the picture. Biases and normalization parameters do not move in random directions.

Hypotheses: eval mode. A plane is two of millions of directions: what looks convex on it need not be.
Reference: [li2018visualizing] for (1) and (2); [goodfellow2015qualitatively] for lines between models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.machine.budget import limit_time
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Image, Line, Plot, Result, Scatter
from gnomon.landscape.between import check_same_architecture
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import finite_loss, trainable_parameters

__all__ = ["LossPlane", "filter_normalized", "loss_plane"]

MIN_PLOTTED_LOSS = 1e-12
"""Smaller losses are plotted as this number, because the scale is logarithmic."""
EXAMPLES_PER_PASS = 512
"""Number of examples in one forward pass."""


@dataclass(frozen=True, slots=True, eq=False)
class LossPlane(Result):
    """Losses on a grid in a plane of parameters, and the positions of the given models on the plane.

    ``share`` is the part of the squared motion of the models that lies in the plane, 1 for at most three of them.

    >>> grid = torch.tensor([-1.0, 0.0, 1.0])
    >>> plane = LossPlane(grid, grid, grid[:, None] ** 2 + grid**2, torch.zeros(1, 2), 1.0)
    >>> plane.best
    (0.0, 0.0)
    """

    s: Float[Tensor, " a"]
    t: Float[Tensor, " b"]
    losses: Float[Tensor, "b a"]
    path: Float[Tensor, "m 2"]
    share: float

    @property
    def best(self) -> tuple[float, float]:
        """The position (s, t) of the smallest loss on the grid in the plane of parameters."""
        row, column = divmod(int(self.losses.nan_to_num(torch.inf).argmin()), len(self.s))
        return float(self.s[column]), float(self.t[row])

    @property
    def verdict(self) -> str:
        """A sentence with the smallest and the largest loss on the plane of parameters."""
        low, high = float(self.losses.min()), float(self.losses.max())
        head = f"On the plane the loss goes from {low:.3g}, at ({self.best[0]:.3g}, {self.best[1]:.3g}), to {high:.3g}"
        return (
            f"{head}; the plane contains {self.share:.0%} of the variance of the models' parameters."
            if len(self.path) > 1
            else f"{head}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the logarithm of the loss on the plane with contours, and the positions of the models."""
        shades = self.losses.clamp_min(MIN_PLOTTED_LOSS).log10().flip(0)
        half = [float(axis[1] - axis[0]) / 2 for axis in (self.s, self.t)]
        ends = [float(end) for end in (self.s[0], self.s[-1], self.t[0], self.t[-1])]
        extent = (ends[0] - half[0], ends[1] + half[0], ends[2] - half[1], ends[3] + half[1])
        picture = Image("log10 of the loss", shades, extent=extent, contours=True)
        marks: tuple[Image | Line | Scatter, ...] = (picture,)
        if len(self.path) > 1:
            marks = (*marks, Line("other models", self.path[:, 0], self.path[:, 1], color=2))
        marks = (*marks, Scatter("the model", (float(self.path[-1, 0]),), (float(self.path[-1, 1]),), 0))
        axes = Axis("first direction s (lengths of the weights)"), Axis("second direction t")
        if len(self.path) > 1:
            axes = Axis("first principal direction s"), Axis("second principal direction t")
        return (Plot("Loss on a plane through the model", marks, *axes, self.verdict),)


@add_call_to_errors
@limit_time
def loss_plane(
    module: nn.Module,
    data: Any,
    *,
    models: Sequence[nn.Module] = (),
    reach: float = 1.0,
    points: int = 21,
    loss: Loss | None = None,
    seed: int = 0,
    budget: float | None = None,
) -> LossPlane:
    """Computes the loss on a plane through a model: along random directions, through other models, or along a run.

    See equations (1) and (2) of the module docstring.

    Args:
        module: the center of the plane, read in eval mode and left as it was.
        data: as in `hessian`.
        models: other models of the same architecture. None: random directions. Two: the plane through all three. More:
            the principal plane of their motion, such as checkpoints of a run that ended in ``module``.
        reach: how far the plane extends to each side, relative to the norm of the weights for random directions, or to
            the distance of the farthest model.
        points: number of grid points along each axis, made odd so that the module is on the grid.
        loss: as in `hessian`.
        seed: random seed for random directions.
        budget: seconds after which the call ends with an error that says how long it would take.

    Hypotheses: see the module. Reference: [li2018visualizing].
    Cost: points^2 passes over the data, and a vector of parameters for each model.

    >>> net = nn.Linear(2, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> found = loss_plane(net, (torch.eye(2), torch.ones(2)), points=5)                    # the smallest loss is here
    >>> found.best, float(found.losses.min())
    ((0.0, 0.0), 0.0)
    """
    check_module_is_callable(module)
    far, n = check_number("reach", reach, above=0), check_integer("points", points, least=3) | 1
    moved = copy_module(module)
    leaves = trainable_parameters(moved)
    w = parameters_to_vector(leaves).detach()
    (u, v), path, share = _directions(module, leaves, w, models, seed)
    unit = float(path.abs().max()) if len(path) > 1 else 1.0
    grid = far * torch.arange(1 - n, n, 2).double() / (n - 1) * unit
    rows = []
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        finite_loss(objective.measure(moved, EXAMPLES_PER_PASS)[0])
        for t, s in with_progress_bar([*product(grid.tolist(), repeat=2)], "points of the plane"):
            vector_to_parameters(w + s * u + t * v, leaves)
            rows.append(objective.measure(moved, EXAMPLES_PER_PASS)[0])
    return LossPlane(grid, grid, torch.tensor(rows, dtype=torch.float64).reshape(n, n), path, share)


def _directions(
    module: nn.Module, leaves: list[nn.Parameter], w: Tensor, models: Sequence[nn.Module], seed: int
) -> tuple[tuple[Tensor, Tensor], Tensor, float]:
    """Returns two directions that span the plane, the models' positions in it, and how much of their motion it
    contains.
    """
    if not models:
        generator = torch.Generator().manual_seed(check_seed(seed))
        first, second = (filter_normalized(torch.randn(w.shape, generator=generator).to(w), leaves) for _ in range(2))
        return (first, second), torch.zeros(1, 2, dtype=torch.float64), 1.0
    if len(models) < 2:
        fix = "Pass two or more other models, or use loss_between for one"
        raise InputError("models contains one model", accepted="two or more models, which span a plane", fix=fix)
    for other in models:
        check_same_architecture(module, other)
    moves = torch.stack([parameters_to_vector([p for p, q in zip(o.parameters(), module.parameters(), strict=True)
                                               if q.requires_grad]).detach() - w for o in models])  # fmt: skip
    gram = (moves @ moves.T).double()
    values, vectors = torch.linalg.eigh(gram)
    kept = values[-2:].flip(0).clamp_min(0)
    if not float(kept[1]) > 1e-12 * float(kept[0]):
        raise InputError(
            "all models are on one line", accepted="models that span a plane", fix="Use loss_between or loss_along"
        )
    basis = (vectors[:, -2:].flip(1) / kept.sqrt()).to(w).T @ moves  # (2)
    path = torch.cat([(moves @ basis.T).double(), torch.zeros(1, 2, dtype=torch.float64)])
    return (basis[0], basis[1]), path, float(kept.sum() / values.clamp_min(0).sum())


def filter_normalized(direction: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """Rescales each filter of a parameter direction to the norm of the same filter of the weights.

    A filter is the part of a weight that computes one unit: a row of a dense layer, a kernel of a convolution.
    Cost: one pass.

    >>> weight, bias = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.ones(1)
    >>> filter_normalized(torch.tensor([1.0, 0.0, 0.0, 5.0, 9.0]), [weight, bias])
    tensor([5., 0., 0., 1., 0.])
    """
    parts = []
    for d, p in zip(direction.split([p.numel() for p in parameters]), parameters, strict=True):
        d = d.reshape(p.shape)
        if p.dim() < 2:
            parts.append(torch.zeros_like(d).flatten())
            continue
        sizes = (p.detach().flatten(1).norm(dim=1) / d.flatten(1).norm(dim=1).clamp_min(1e-30)).to(d)
        parts.append((d * sizes.reshape(-1, *[1] * (p.dim() - 1))).flatten())  # (1)
    return torch.cat(parts)
