"""Trains a GAN, with alternating steps or with extragradient steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_seed, check_type
from gnomon.core.inputs.source import data_source
from gnomon.core.machine.clock import Clock
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import random_state, set_mode
from gnomon.core.results import Axis, Finding, Line, Plot, Result, Value
from gnomon.core.results.animation import animate
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.findings import generative as kinds
from gnomon.generative.game import AbstractGameUpdate, AlternatingUpdate, ExtragradientUpdate, GameField
from gnomon.generative.gan import GAN
from gnomon.training import Adam
from gnomon.training.optimizers import AbstractOptimizer
from gnomon.training.plan import deadline

__all__ = ["GanRun", "gan_gradient_field", "train_gan"]

Slopes = tuple[Tensor, Sequence[Tensor | None]]
Players = Sequence[tuple[list[nn.Parameter], Callable[[Tensor], Tensor]]]
RECORDED_STEPS = 60
"""Approximate number of steps that are recorded."""


@dataclass(frozen=True, slots=True, eq=False)
class GanRun(Result):
    """Result: a trained GAN, and the losses of generator and discriminator at recorded steps.

    ``stopped`` is "finished", "time", "interrupted" or "diverged".

    >>> gan, stats = GAN(nn.Linear(1, 1), nn.Linear(1, 1), latent=1, shape=(1,)), torch.tensor([1.0, 0.5])
    >>> GanRun(gan, torch.tensor([0, 10]), stats, stats, "finished", 0.1).verdict
    'Training ended after 10 steps with losses of 0.5 for the generator, 0.5 for the discriminator.'
    """

    model: GAN = field(repr=False, metadata=HIDDEN_IN_JSON)
    steps: Int[Tensor, " t"] = field(repr=False)
    generator_loss: Float[Tensor, " t"] = field(repr=False)
    discriminator_loss: Float[Tensor, " t"] = field(repr=False)
    stopped: str
    seconds: float

    @property
    def verdict(self) -> str:
        """Says how the training of the GAN ended."""
        last = (
            f"{float(self.generator_loss[-1]):.3g} for the generator, {float(self.discriminator_loss[-1]):.3g} for the"
        )
        ends = {"finished": "", "time": " The time budget was used up.", "interrupted": " It was interrupted."}
        tail = ends.get(self.stopped, " A loss became infinite or NaN: use a smaller learning rate.")
        return f"Training ended after {int(self.steps[-1])} steps with losses of {last} discriminator.{tail}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns a finding if a loss of the GAN became infinite or NaN."""
        if self.stopped != "diverged":
            return ()
        return (Finding(kinds.GAME_DIVERGED, evidence=(Value("steps", int(self.steps[-1])),)),)

    def plots(self) -> tuple[Plot, ...]:
        """Plots the losses of generator and discriminator over the steps."""
        lines = (
            Line("generator", self.steps, self.generator_loss),
            Line("discriminator", self.steps, self.discriminator_loss),
        )
        return (Plot("GAN training", lines, Axis("step"), Axis("loss"), self.verdict),)

    def animate(self, ax: Any = None, *, frames: int = 60) -> Any:
        """Returns a matplotlib animation of generator and discriminator losses; ``.save("run.gif")`` writes it.

        Cost: one drawing of the curves for each frame when it is saved or shown.
        """
        return animate(self.plots()[0], ax, frames=frames)


@add_call_to_errors
def train_gan(
    model: GAN,
    data: Any,
    *,
    steps: int = 1000,
    optimizer: AbstractOptimizer | None = None,
    discriminator_steps: int = 1,
    rule: AbstractGameUpdate | None = None,
    batch: int = 128,
    seed: int = 0,
    budget: float | None = None,
    in_place: bool = False,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock = perf_counter,
) -> GanRun:
    """Trains a copy of a GAN, alternating between the discriminator and the generator.

        d <- d - lr grad_d L_D(d, g),  several times, then    g <- g - lr grad_g L_G(d, g)                 (1)

    Args:
        model: a `GAN`.
        data: examples; targets are not used.
        steps: number of steps of the generator.
        optimizer: for both players, such as ``Adam(1e-3, b1=0.5)``; the default is ``Adam(2e-4, b1=0.5)``.
        discriminator_steps: number of discriminator steps for each step of the generator.
        rule: `AlternatingUpdate()`, as in (1), or `ExtragradientUpdate()`, which steps with the gradients of both
            players after a trial step.
        batch: number of real examples, and of fakes, in a step.
        seed: random seed of batches and noise.
        budget: seconds; training ends with the first step beyond it.
        in_place: train the model itself, not a copy.
        progress: called with (steps done, steps) after each step.
        clock: the clock for ``budget``.

    Hypotheses: none; a game need not converge. References: [goodfellow2014generative], Algorithm 1;
    [gidel2019variational] for extragradient.
    Cost: one gradient of each player for each step, two with extragradient.

    >>> gan = GAN(nn.Linear(1, 1), nn.Linear(1, 1), latent=1, shape=(1,))
    >>> run = train_gan(gan, torch.randn(100, 1) + 4, steps=5)
    >>> run.stopped, len(run.generator_loss) == len(run.steps)
    ('finished', True)
    """
    check_type("model", model, GAN, fix="Pass a generative.GAN; for other models use fit")
    steps, inner = check_integer("steps", steps), check_integer("discriminator_steps", discriminator_steps)
    way = AlternatingUpdate() if rule is None else rule
    if not isinstance(way, AlternatingUpdate | ExtragradientUpdate):
        raise out_of_range_error("rule", "Alternating() or Extragradient()", rule)
    whole = data_source(data).whole().x
    if not isinstance(whole, Tensor):
        raise InputError(
            "an example is several tensors", accepted="one tensor of examples", fix="Pass one tensor per example"
        )
    start = clock()
    late = deadline(clock, start, budget)
    with torch.inference_mode(False), torch.enable_grad(), random_state(check_seed(seed)):
        gan = model if in_place else copy_module(model)
        assert isinstance(gan, GAN)
        table = _Table(gan, gan.points(whole, least=2), optimizer or Adam(2e-4, b1=0.5), inner, way, batch)
        with set_mode(gan, "train"):
            stopped = table.run(steps, late, progress)
    rows = torch.tensor(table.rows, dtype=torch.float64)
    return GanRun(gan, rows[:, 0].long(), rows[:, 1], rows[:, 2], stopped, clock() - start)


class _Table:
    """State of GAN training: generator and discriminator, their optimizers, the examples, and the recorded losses."""

    def __init__(
        self, gan: GAN, x: Tensor, optimizer: AbstractOptimizer, inner: int, rule: AbstractGameUpdate, batch: int
    ) -> None:
        self.gan, self.x, self.optimizer, self.inner, self.rule = gan, x, optimizer, inner, rule
        self.batch = min(check_integer("batch", batch), len(x))
        self.maker, self.judge = list(gan.maker.parameters()), list(gan.judge.parameters())
        self.memories = optimizer.memory(self.maker), optimizer.memory(self.judge)
        self.rows: list[tuple[int, float, float]] = []

    def run(self, steps: int, late: Callable[[], bool], progress: Callable[[int, int], None] | None) -> str:
        every = max(1, steps // RECORDED_STEPS)
        try:
            for step in range(1, steps + 1):
                losses = self._ahead(step) if isinstance(self.rule, ExtragradientUpdate) else self._turns(step)
                over = late()
                if step % every == 0 or step in (1, steps) or over:
                    self.rows.append((step, float(losses[0]), float(losses[1])))
                if not all(bool(one.isfinite()) for one in losses):
                    self.rows.append((step, float(losses[0]), float(losses[1])))
                    return "diverged"
                if progress is not None:
                    progress(step, steps)
                if over:
                    return "time"
        except KeyboardInterrupt:
            self.rows = self.rows or [(0, float("nan"), float("nan"))]
            return "interrupted"
        return "finished"

    def _real(self) -> Tensor:
        return self.x[torch.randint(len(self.x), (self.batch,))]

    def _slope(self, loss: Callable[[], Tensor], moved: list[nn.Parameter]) -> Slopes:
        value = loss()
        return value.detach(), torch.autograd.grad(value, moved, allow_unused=True)

    def _move(self, moved: list[nn.Parameter], loss: Callable[[], Tensor], memory: Any, count: int) -> Tensor:
        kept: list[Tensor] = []

        def slope() -> Slopes:
            with torch.enable_grad():
                value, gradients = self._slope(loss, moved)
            kept.append(value)
            return value, gradients

        self.optimizer.move(moved, slope, memory, count)
        return kept[-1]

    def _turns(self, step: int) -> tuple[Tensor, Tensor]:
        """Takes one alternating step of GAN training: discriminator updates, then one generator update."""
        for i in range(self.inner):
            loss = partial(self.gan.discriminator_loss, self._real())
            judged = self._move(self.judge, loss, self.memories[1], (step - 1) * self.inner + i + 1)
        made = self._move(self.maker, partial(self._generator_loss, self._real()), self.memories[0], step)  # (1)
        return made, judged

    def _generator_loss(self, real: Tensor) -> Tensor:
        return self.gan.losses(real).mean()

    def _ahead(self, step: int) -> tuple[Tensor, Tensor]:
        """Takes one extragradient step of GAN training: a trial step, then a step with the gradients found there."""
        players = ((self.maker, self._generator_loss), (self.judge, self.gan.discriminator_loss))
        before = [[p.detach().clone() for p in moved] for moved, _ in players]
        slopes = self._both(players, self._real())
        self._step(players, slopes, 2 * step - 1)
        ahead = self._both(players, self._real())
        with torch.no_grad():
            for (moved, _), old in zip(players, before, strict=True):
                for p, value in zip(moved, old, strict=True):
                    p.copy_(value)
        self._step(players, ahead, 2 * step)
        return slopes[0][0], slopes[1][0]

    def _both(self, players: Players, real: Tensor) -> list[Slopes]:
        return [self._slope(partial(loss, real), moved) for moved, loss in players]

    def _step(self, players: Players, slopes: list[Slopes], count: int) -> None:
        for (moved, _), slope, memory in zip(players, slopes, self.memories, strict=True):
            self.optimizer.move(moved, partial(_lookup, slope), memory, count)


def _lookup(slope: Slopes) -> Slopes:
    return slope


@add_call_to_errors
def gan_gradient_field(gan: GAN, x: Tensor, *, seed: int = 0) -> tuple[GameField, Float[Tensor, " p"]]:
    """Returns the joint gradient of generator and discriminator as a function of all parameters, on fixed data and
    noise.

        F(g, d) = (grad_g L_G(g, d), grad_d L_D(g, d))                                                     (1)

    Penalties are not included. Hypotheses: none. Reference: [mescheder2017numerics].
    Cost: one gradient of each player for each evaluation.

    >>> field, point = gan_gradient_field(GAN(nn.Linear(1, 1), nn.Linear(1, 1), latent=1, shape=(1,)), torch.zeros(4,
    ...     1))
    >>> field(point).shape
    torch.Size([4])
    """
    x = gan.points(x)
    z = gan.noise(len(x), (gan.latent,), gan.generator(seed))
    named = [(part, dict(part.named_parameters())) for part in (gan.maker, gan.judge)]
    sizes = [[p.numel() for p in own.values()] for _, own in named]
    point = torch.cat([p.detach().flatten() for _, own in named for p in own.values()])
    first = sum(sizes[0])

    def as_parameters(part: Tensor, i: int) -> dict[str, Tensor]:
        own = named[i][1]
        return {n: v.reshape(p.shape) for (n, p), v in zip(own.items(), part.split(sizes[i]), strict=True)}

    def losses(g: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
        fake = functional_call(gan.maker, as_parameters(g, 0), (z,)).reshape(len(z), *gan.shape)
        real, faked = (functional_call(gan.judge, as_parameters(d, 1), (y,)).reshape(len(x)) for y in (x, fake))
        return gan.game.generator(faked).mean(), gan.game.discriminator(real, faked).mean()

    def field(w: Tensor) -> Tensor:
        g, d = w[:first], w[first:]
        return torch.cat(
            [torch.func.grad(lambda g: losses(g, d)[0])(g), torch.func.grad(lambda d: losses(g, d)[1])(d)]
        )  # (1)

    return field, point
