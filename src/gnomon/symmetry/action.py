"""Builds lists of input transformations (group actions), such as rotations and shifts, to measure symmetry with.

A move is a function from inputs (n, ...) to inputs of the same shape. `features` says how a move acts on what a layer
makes of the inputs, so that a layer can be asked whether it commutes with it: images of any size turn as images do, and
a shift by s pixels is one by s / 2 if the layer halves the size (features are not compared if s / 2 is not a whole
number).

>>> import torch
>>> x = torch.arange(4.0).reshape(1, 1, 2, 2)
>>> flips().moves[0](x).flatten().tolist()
[1.0, 0.0, 3.0, 2.0]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import torch
from torch import Tensor
from torch.nn import functional

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_seed

__all__ = [
    "GroupAction",
    "action",
    "flips",
    "one_parameter_group",
    "permutations",
    "quarter_turns",
    "rotations",
    "sample_group",
    "scalings",
    "translations",
]

Move = Callable[[Tensor], Tensor]
Features = Callable[[Tensor, int, Tensor], Tensor | None]


@dataclass(frozen=True, slots=True, eq=False)
class GroupAction:
    """A group of named input transformations; ``features(h, i, x)`` applies transformation i to hidden features h.

    ``flow(x, t)`` moves by a strength t, 0 being the identity, if the group is continuous; ``drawn`` says that the
    moves are a random sample of a group, so that intervals count their spread.
    """

    name: str
    labels: tuple[str, ...]
    moves: tuple[Move, ...]
    features: Features | None = None
    flow: Callable[[Tensor, float], Tensor] | None = None
    drawn: bool = False

    @add_call_to_errors
    def __post_init__(self) -> None:
        if not self.moves or len(self.moves) != len(self.labels):
            found = f"there are {len(self.moves)} transformations and {len(self.labels)} names"
            raise InputError(found, accepted="a name for each transformation", fix="Pass at least one transformation")


@add_call_to_errors
def action(
    moves: Mapping[str, Move], *, name: str = "moves", flow: Callable[[Tensor, float], Tensor] | None = None
) -> GroupAction:
    """Builds a group of transformations from your own functions, by name; with a flow (x, t), derivatives can be
    measured.

    >>> action({"negative": lambda x: -x}).labels
    ('negative',)
    """
    return GroupAction(name, tuple(moves), tuple(moves.values()), None, flow)


@add_call_to_errors
def one_parameter_group(generator: Tensor, strengths: Sequence[float] = (0.5, 1.0)) -> GroupAction:
    """Builds the group of transformations x -> exp(t A) x of inputs (n, d), for a matrix A and some strengths t.

    Reference: [gruver2023lie].
    Cost: a matrix exponential of d^3 for each move.

    >>> turn = one_parameter_group(torch.tensor([[0.0, -1.0], [1.0, 0.0]]), [torch.pi / 2])
    >>> turn.moves[0](torch.tensor([[1.0, 0.0]])).round(decimals=4).tolist()
    [[0.0, 1.0]]
    """
    if generator.dim() != 2 or generator.shape[0] != generator.shape[1]:
        found = f"the generator has shape {tuple(generator.shape)}"
        raise InputError(found, accepted="a square matrix", fix="Pass a matrix (d, d)")

    def flow(x: Tensor, t: float) -> Tensor:
        return (x.double() @ torch.linalg.matrix_exp(t * generator.double()).mT).to(x.dtype)

    moves = tuple(_at(flow, float(t)) for t in strengths)
    return GroupAction("generated moves", tuple(f"strength {t:g}" for t in strengths), moves, None, flow)


@add_call_to_errors
def sample_group(group: GroupAction, low: float, high: float, count: int = 16, *, seed: int = 0) -> GroupAction:
    """Draws random transformations from a continuous group; error intervals then include their spread.

    Strengths are times of the group's flow: radians for `rotations`, pixels for `translations`. Features of a layer
    are moved if they are images of the size of the inputs.

    >>> from math import pi
    >>> len(sample_group(rotations(), -pi, pi, 8).moves)
    8
    """
    flow, count = group.flow, check_integer("count", count, least=2)
    if flow is None:
        found = f"'{group.name}' has no flow"
        raise InputError(
            found, accepted="a continuous group", fix="Use rotations(), translations() or one_parameter_group(A)"
        )
    generator = torch.Generator().manual_seed(check_seed(seed))
    strengths = (low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64)).tolist()
    moves = tuple(_at(flow, t) for t in strengths)

    def features(h: Tensor, i: int, x: Tensor) -> Tensor | None:
        return moves[i](h) if h.dim() == x.dim() == 4 and h.shape[2:] == x.shape[2:] else None

    labels = tuple(f"strength {t:.3g}" for t in strengths)
    return GroupAction(group.name, labels, moves, None if group.features is None else features, flow, True)


@add_call_to_errors
def translations(shifts: Sequence[tuple[int, int]] = ((0, 1), (1, 0), (2, 2))) -> GroupAction:
    """Builds the group of circular shifts of images (n, c, h, w) by given numbers of (rows, columns).

    >>> translations([(0, 1)]).moves[0](torch.tensor([[[[1.0, 2.0, 3.0]]]])).flatten().tolist()
    [3.0, 1.0, 2.0]
    """
    moves = tuple(_shift(*shift) for shift in shifts)

    def features(h: Tensor, i: int, x: Tensor) -> Tensor | None:
        if h.dim() != 4 or x.dim() != 4:
            return None
        wanted = [s * h.shape[k] / x.shape[k] for s, k in zip(shifts[i], (2, 3), strict=True)]
        whole = all(v == int(v) for v in wanted)
        return h.roll([int(v) for v in wanted], (2, 3)) if whole else None

    def flow(x: Tensor, t: float) -> Tensor:
        frequency = torch.fft.fftfreq(x.shape[-1], dtype=torch.float64)
        moved = torch.fft.fft(x.double()) * torch.exp(-2j * pi * frequency * t)
        return torch.fft.ifft(moved).real.to(x.dtype)

    return GroupAction("translations", tuple(f"by {shift}" for shift in shifts), moves, features, flow)


@add_call_to_errors
def quarter_turns() -> GroupAction:
    """Builds the group of image rotations by 90, 180 and 270 degrees, which need no interpolation.

    >>> quarter_turns().labels
    ('90 degrees', '180 degrees', '270 degrees')
    """
    moves = tuple(_turn(k) for k in (1, 2, 3))
    return GroupAction("quarter turns", ("90 degrees", "180 degrees", "270 degrees"), moves, _as_images(moves))


@add_call_to_errors
def flips() -> GroupAction:
    """Builds the group of mirror images, left to right and top to bottom.

    >>> flips().labels
    ('left to right', 'top to bottom')
    """
    moves: tuple[Move, ...] = (lambda x: x.flip(-1), lambda x: x.flip(-2))
    return GroupAction("flips", ("left to right", "top to bottom"), moves, _as_images(moves))


@add_call_to_errors
def rotations(degrees: Sequence[float] = (15.0, 45.0, 90.0)) -> GroupAction:
    """Builds rotations of images by any angles, with bilinear interpolation and zeros outside the image.

    >>> x = torch.rand(1, 1, 5, 5)
    >>> torch.allclose(rotations([90.0]).moves[0](x), x.rot90(1, (2, 3)), atol=1e-5)
    True
    """
    moves = tuple(_warp(_rotation(angle)) for angle in degrees)
    return GroupAction("rotations", tuple(f"{a:g} degrees" for a in degrees), moves, _as_images(moves), _rotate)


@add_call_to_errors
def scalings(factors: Sequence[float] = (0.8, 1.25)) -> GroupAction:
    """Builds scalings of images about their center, with bilinear interpolation.

    >>> scalings([2.0]).moves[0](torch.ones(1, 1, 4, 4)).mean().item()
    1.0
    """
    moves = tuple(_warp(((1 / f, 0.0), (0.0, 1 / f))) for f in factors)

    def flow(x: Tensor, t: float) -> Tensor:
        return _warp(((1 / (1 + t), 0.0), (0.0, 1 / (1 + t))))(x)

    return GroupAction("scalings", tuple(f"times {f:g}" for f in factors), moves, _as_images(moves), flow)


@add_call_to_errors
def permutations(size: int, count: int = 4, *, seed: int = 0) -> GroupAction:
    """Builds random permutations of the second axis of inputs (n, size, ...), such as members of a set.

    >>> len(permutations(5, 3).moves)
    3
    """
    size, count = check_integer("size", size), check_integer("count", count)
    generator = torch.Generator().manual_seed(check_seed(seed))
    orders = [torch.randperm(size, generator=generator) for _ in range(count)]
    moves = tuple(_reorder(order) for order in orders)

    def features(h: Tensor, i: int, _x: Tensor) -> Tensor | None:
        return h[:, orders[i]] if h.dim() > 1 and h.shape[1] == size else None

    return GroupAction("permutations", tuple(f"order {i + 1}" for i in range(count)), moves, features)


def _as_images(moves: tuple[Move, ...]) -> Features:
    def features(h: Tensor, i: int, _x: Tensor) -> Tensor | None:
        return moves[i](h) if h.dim() == 4 and h.shape[-1] == h.shape[-2] > 1 else None

    return features


def _shift(rows: int, columns: int) -> Move:
    return lambda x: x.roll((rows, columns), (-2, -1))


def _turn(k: int) -> Move:
    return lambda x: torch.rot90(x, k, (x.dim() - 2, x.dim() - 1))


def _at(flow: Callable[[Tensor, float], Tensor], t: float) -> Move:
    return lambda x: flow(x, t)


def _reorder(order: Tensor) -> Move:
    return lambda x: x[:, order]


Matrix = tuple[tuple[float, float], tuple[float, float]]


def _rotation(degrees: float) -> Matrix:
    angle = degrees * pi / 180
    return (cos(angle), -sin(angle)), (sin(angle), cos(angle))


def _rotate(x: Tensor, t: float) -> Tensor:
    """Rotates images by t radians."""
    return _warp(_rotation(180 * t / pi))(x)


def _warp(matrix: Matrix) -> Move:
    (a, b), (c, d) = matrix

    def move(x: Tensor) -> Tensor:
        if x.dim() != 4:
            found = f"x has shape {tuple(x.shape)}"
            raise InputError(found, accepted="images (n, c, h, w)", fix="Pass images with four axes")
        theta = torch.tensor([[a, b, 0.0], [c, d, 0.0]], dtype=x.dtype, device=x.device)
        grid = functional.affine_grid(theta.expand(len(x), 2, 3), list(x.shape), align_corners=True)
        return functional.grid_sample(x, grid, align_corners=True)

    return move
