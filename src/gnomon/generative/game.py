"""Training as a game of several players, such as a GAN: why gradient descent circles, and update rules that do not.

All players' parameters form one point w. F(w) contains the gradient of each player's own loss in its own parameters.

    simultaneous     w <- w - lr F(w)                                                                      (1)
    alternating      the same for one player after the other, each seeing what the former did              (2)
    extragradient    w <- w - lr F(w - lr F(w))                                                            (3)

On the game of minimizing and maximizing a b, whose field is (b, -a), (1) multiplies the distance from the solution by
sqrt(1 + lr^2) in each step, (2) keeps it bounded and (3) multiplies it by sqrt(1 - lr^2 + lr^4). Near a solution the
eigenvalues of dF/dw decide: (1) converges if every eigenvalue c has a positive real part and lr < 2 Re c / |c|^2.

Hypotheses: F is differentiable. References: [korpelevich1976extragradient], [mescheder2017numerics],
[gidel2019variational].
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

import torch
from jaxtyping import Complex, Float
from torch import Tensor
from torch.func import jacrev

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results import Axis, Finding, Plot, Reference, Result, Scatter, Value
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import generative as kinds
from gnomon.generative.vectors import check_vectors

__all__ = [
    "AbstractGameUpdate",
    "AlternatingUpdate",
    "ExtragradientUpdate",
    "GameRotation",
    "SimultaneousUpdate",
    "simulate_game",
    "game_rotation",
]

GameField = Callable[[Tensor], Tensor]
"""A function from the parameters of all players in one vector to the gradients of their own losses."""
MAX_ROTATION = 1.0
"""Ratio of imaginary to real part above which a game rotates more than it descends."""
MAX_PARAMETERS = 4000
"""Maximum number of parameters whose Jacobian is computed as a matrix: 128 MB."""


class AbstractGameUpdate(ABC):
    """Interface of update rules for games: how the players change their parameters in one step."""

    @abstractmethod
    def step(self, field: GameField, point: Tensor, lr: float, players: Sequence[slice]) -> Tensor:
        """Returns the parameters of all players of a game after one step of gradient descent."""


@dataclass(frozen=True, slots=True)
class SimultaneousUpdate(AbstractGameUpdate):
    """Updates all players of a game at the same time with their current gradients.

    See equation (1) of the module docstring.

    >>> SimultaneousUpdate().step(lambda w: w, torch.ones(1), 0.5, [slice(0, 1)]).item()
    0.5
    """

    def step(self, field: GameField, point: Tensor, lr: float, players: Sequence[slice]) -> Tensor:  # noqa: D102
        return point - lr * field(point)  # (1)


@dataclass(frozen=True, slots=True)
class AlternatingUpdate(AbstractGameUpdate):
    """Updates the players of a game one after the other; each sees the earlier players' new parameters.

    See equation (2) of the module docstring.

    >>> AlternatingUpdate().step(lambda w: w.flip(0), torch.ones(2), 0.5, [slice(0, 1), slice(1, 2)]).tolist()
    [0.5, 0.75]
    """

    def step(self, field: GameField, point: Tensor, lr: float, players: Sequence[slice]) -> Tensor:  # noqa: D102
        for player in players:
            moved = point.clone()
            moved[player] = point[player] - lr * field(point)[player]  # (2)
            point = moved
        return point


@dataclass(frozen=True, slots=True)
class ExtragradientUpdate(AbstractGameUpdate):
    """Updates all players of a game with the gradients found after a trial step (extragradient method).

    See equation (3) of the module docstring.

    >>> ExtragradientUpdate().step(lambda w: w, torch.ones(1), 0.5, [slice(0, 1)]).item()
    0.75
    """

    def step(self, field: GameField, point: Tensor, lr: float, players: Sequence[slice]) -> Tensor:  # noqa: D102
        return point - lr * field(point - lr * field(point))  # (3)


@add_call_to_errors
def simulate_game(
    field: GameField,
    start: Float[Tensor, " p"],
    *,
    steps: int,
    lr: float,
    rule: AbstractGameUpdate | None = None,
    players: Sequence[slice] | None = None,
) -> Float[Tensor, "t p"]:
    """Returns the parameters of a game's players after each step, including the start.

        w <- w - lr F(w - lr F(w))                                                                         (1)

    Args:
        field: F, the gradients of the players' own losses.
        start: the first point.
        steps: number of steps.
        lr: learning rate.
        rule: `ExtragradientUpdate()` by default, as in (1), `SimultaneousUpdate()` or `AlternatingUpdate()`.
        players: the slice of the point for each player; by default two halves.

    Hypotheses: see the module. Reference: [korpelevich1976extragradient].
    Cost: one evaluation of F for each step; two for (1) and for two alternating players.

    >>> turning = lambda w: torch.stack([w[1], -w[0]])
    >>> path = simulate_game(turning, torch.tensor([1.0, 0.0]).double(), steps=10, lr=0.1, rule=SimultaneousUpdate())
    >>> abs(float(path[-1].norm()) - (1 + 0.1**2) ** 5) < 1e-12
    True
    """
    lr, steps = check_number("lr", lr, above=0), check_integer("steps", steps)
    if start.dim() != 1 or not bool(start.isfinite().all()):
        found = f"start has shape {tuple(start.shape)}or is not finite"
        raise InputError(found, accepted="the parameters of all players as one vector", fix="Pass finite numbers (p,)")
    check_vectors(field(start), start)
    half = len(start) // 2
    parts = [slice(0, half), slice(half, len(start))] if players is None else players
    path, way = [start], ExtragradientUpdate() if rule is None else rule
    for _ in range(steps):
        path.append(way.step(field, path[-1], lr, parts))
    return torch.stack(path)


@dataclass(frozen=True, slots=True, eq=False)
class GameRotation(Result):
    """Result: eigenvalues of the Jacobian of a game's gradients at one point, and whether simultaneous descent
    converges.

    ``rotation`` is the largest imaginary part relative to the real part. ``largest_lr`` is the learning rate below
    which simultaneous descent converges near the point (0 if there is none).

    >>> GameRotation(torch.tensor([1j, -1j]), 9.0, 0.0).verdict
    'Simultaneous gradient descent diverges from this point at every learning rate: the players circle around it.'
    """

    eigenvalues: Complex[Tensor, " p"] = field(repr=False, metadata=HIDDEN_IN_JSON)
    rotation: float
    largest_lr: float

    @property
    def verdict(self) -> str:
        """Says whether simultaneous gradient descent of the game's players converges at this point."""
        if self.largest_lr <= 0:
            return (
                "Simultaneous gradient descent diverges from this point at every learning rate: the players circle "
                "around it."
            )
        turns = "circle more than they descend" if self.rotation > MAX_ROTATION else "descend more than they circle"
        return f"The game {turns} here; simultaneous descent converges below a learning rate of {self.largest_lr:.3g}."

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if gradient descent of the game's players circles instead of converging."""
        if self.largest_lr > 0 and self.rotation <= MAX_ROTATION:
            return ()

        evidence = (Value("rotation", self.rotation), Value("largest learning rate", self.largest_lr))
        return (Finding(kinds.ROTATING_GAME, values={"rotation": self.rotation}, evidence=evidence),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the eigenvalues of the Jacobian of a game's gradients in the complex plane."""
        marks = (Scatter("eigenvalues", self.eigenvalues.real, self.eigenvalues.imag), Reference("0", 0.0, True))
        return (Plot("Game Jacobian", marks, Axis("real part"), Axis("imaginary part"), self.verdict),)


@add_call_to_errors
def game_rotation(field: GameField, point: Float[Tensor, " p"]) -> GameRotation:
    """Measures how much gradient descent in a game circles around a point, from the Jacobian of the players' gradients.

        c = eigenvalues of dF/dw,    simultaneous descent converges for lr < min 2 Re c / |c|^2            (1)

    Args:
        field: F, the gradients of the players' own losses in one vector; `gan_field` returns it for a GAN.
        point: the point at which the Jacobian is computed.

    Hypotheses: the point is a solution, F = 0; elsewhere the numbers describe only the linear part.
    Reference: [mescheder2017numerics].
    Cost: the Jacobian, p gradients, and its eigenvalues, p^3; at most 4000 parameters.

    >>> game_rotation(lambda w: torch.stack([w[1], -w[0]]), torch.zeros(2)).largest_lr          # eigenvalues i, -i
    0.0
    """
    if point.dim() != 1 or not 0 < len(point) <= MAX_PARAMETERS or not bool(point.isfinite().all()):
        fix = "Pass the parameters that matter, such as the last layers"
        found = f"the point has shape {tuple(point.shape)}, or is not finite"
        raise InputError(found, accepted=f"1 to {MAX_PARAMETERS} finite numbers", fix=fix)
    matrix = jacrev(field)(point.detach())
    if matrix.shape != (len(point), len(point)) or not bool(matrix.isfinite().all()):
        fix = "Let the field return one finite number for each parameter"
        raise InputError(f"the Jacobian has shape {tuple(matrix.shape)}", accepted="a square matrix", fix=fix)
    values = torch.linalg.eigvals(matrix)
    small = torch.finfo(matrix.dtype).eps * len(point) * float(values.abs().max())
    real, size = values.real.double(), values.abs().double()
    moving = size > small
    ratio = values.imag.double().abs()[moving] / real.abs()[moving].clamp(min=small or 1.0)
    steps = torch.where(real[moving] > small, 2 * real[moving] / size[moving].square(), torch.zeros(()).double())
    largest = float(steps.min()) if len(steps) else inf
    return GameRotation(values, float(ratio.max()) if len(ratio) else 0.0, largest)
