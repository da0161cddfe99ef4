"""Simulates the discovered equation from the first measured time, and compares the simulation with the data.

    d/dt F[u] = L(w) F[u] + F[N(u)],    L the terms that are linear in u and its derivatives                    (1)

L is integrated exactly and N by the classical Runge-Kutta rule (integrating factor), in Fourier space, with the
highest third of the frequencies of N left out.
Hypotheses: periodic in space, which is checked at the ends of every axis.
Reference: [trefethen2000spectral], chapter 10.
Cost: four fast Fourier transforms of each factor for each step; steps follow the fastest wave.

>>> Simulation({"u": np.ones((4, 3))}, {"u": np.ones((4, 3))}, (0.0, 0.1, 0.2)).error
0.0
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.results import Axis, Image, Line, Plot, Result
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.discovery.equation import Equation
from gnomon.discovery.grid import GridData
from gnomon.discovery.term import Term, parse_term

__all__ = ["Simulation", "simulate"]

COURANT_NUMBER = 0.4
"""Largest Courant number of a step."""
MAX_JUMP_IN_STEPS = 8.0
"""A field whose ends differ by more than this many typical steps is not periodic."""
MAX_STEPS_PER_TIME = 200
"""Maximum number of steps between two times of the data."""
MAX_SHOWN_POINTS = 64
"""Maximum number of points of a plot along each axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Simulation(Result):
    """Result: simulated and measured fields at the same times."""

    simulated: dict[str, np.ndarray] = field(repr=False, metadata=HIDDEN_IN_JSON)
    measured: dict[str, np.ndarray] = field(repr=False, metadata=HIDDEN_IN_JSON)
    times: tuple[float, ...] = field(repr=False)

    @property
    def errors(self) -> np.ndarray:
        """Returns the relative error of the simulation at each time; infinite after it blows up.

        Distance and size are root mean squares (RMS), the size over all places and times: a field that crosses zero at
        some time has no small size. Of several fields, each is divided by its own size.
        """
        pairs = [(self.simulated[k], self.measured[k]) for k in self.measured]
        axes = tuple(range(pairs[0][1].ndim - 1))
        sizes = [max(float(np.mean(np.abs(m) ** 2)), 1e-300) for _, m in pairs]
        apart = [np.mean(np.abs(s - m) ** 2, axis=axes) / size for (s, m), size in zip(pairs, sizes, strict=True)]
        return np.nan_to_num(np.sqrt(np.mean(apart, axis=0)), nan=np.inf, posinf=np.inf)

    @property
    def error(self) -> float:
        """Returns the largest relative error of the simulation over all times."""
        return float(self.errors.max())

    @property
    def verdict(self) -> str:
        """States in one sentence how far the simulation is from the data."""
        if not np.isfinite(self.error):
            first = self.times[int(np.argmax(~np.isfinite(self.errors)))]
            return f"The simulated equation blows up at time {first:.3g}: it is wrong, or the data are not periodic."
        return (
            f"Simulated from the first time of the data, the equation stays within {self.error:.2%} of the root mean "
            f"square of the data."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots data and simulation as images over space and time, and their difference over time."""
        lines = Line("distance", self.times, np.minimum(self.errors, 1e6))
        curve = Plot("Simulation against data", (lines,), Axis("time"), Axis("distance / RMS of the data"))
        name = next(iter(self.measured))
        if self.measured[name].ndim != 2:
            return (curve,)
        signed = bool(self.measured[name].min() < 0 < self.measured[name].max())
        pictures = [("Data", self.measured[name]), ("Simulation of the found equation", self.simulated[name])]
        return (
            *(
                Plot(
                    title,
                    (Image(name, _thin(values), centered=signed),),
                    Axis("index of the time"),
                    Axis("index of the place"),
                )
                for title, values in pictures
            ),
            curve,
        )


@add_call_to_errors
def simulate(equations: Sequence[Equation], data: GridData | None) -> Simulation:
    """Simulates discovered equations from the first time of the data to the last.

    See equation (1) of the module docstring.
    Hypotheses: periodic in space; first order in time.
    Reference: [trefethen2000spectral].
    Cost: see the module.

    >>> from gnomon.discovery.equation import Residuals
    >>> x, t = np.linspace(0, 2 * np.pi, 16, endpoint=False), np.linspace(0, 1, 5)
    >>> data = GridData({"u": np.sin(x[:, None]) * np.exp(-0.5 * t)}, {"x": x[1], "t": 0.25})
    >>> heat = Equation("u_t", ("u_xx",), (0.5,), (0.0,), {}, (), Residuals(0, 0, "", 0))
    >>> simulate((heat,), data).error < 1e-12
    True
    """
    if data is None:
        raise InputError(
            "this Discovery was loaded without its data", accepted="data to start from", fix="Call discover again"
        )
    if any(e.target != f"{name}_t" for e, name in zip(equations, data.fields, strict=True)):
        fix = "Write it as a system with the velocity as a second field"
        raise InputError(f"the equation is for {equations[0].target}", accepted="first order in time", fix=fix)
    _check_periodic(data)
    machine = _Machine(equations, data)
    state = {name: np.fft.fftn(values[..., 0]) for name, values in data.fields.items()}
    frames = {name: [values[..., 0]] for name, values in data.fields.items()}
    h = data.steps["t"]
    with np.errstate(all="ignore"):
        for i in range(1, data.shape[-1]):
            state = machine.advance(state, h, i)
            for name in frames:
                now = np.fft.ifftn(state[name])
                frames[name].append(now if np.iscomplexobj(data.fields[name]) else now.real)
    times = tuple(h * i for i in range(data.shape[-1]))
    return Simulation({name: np.stack(f, -1) for name, f in frames.items()}, dict(data.fields), times)


class _Machine:
    """Advances simulated fields in time, treating linear and nonlinear terms of the equations separately."""

    def __init__(self, equations: Sequence[Equation], data: GridData) -> None:
        self.data, shape = data, data.shape[:-1]
        grids = [
            2 * np.pi * np.fft.fftfreq(n, data.steps[letter]) for n, letter in zip(shape, data.letters, strict=False)
        ]
        mesh = np.meshgrid(*grids, indexing="ij") if grids else []
        self.waves = dict(zip(data.letters, mesh, strict=False))
        self.smooth = np.ones(shape)
        for wave in self.waves.values():
            self.smooth = self.smooth * (np.abs(wave) <= 2 / 3 * np.abs(wave).max())
        self.linear = {name: np.zeros(shape, dtype=complex) for name in data.fields}
        self.rest: dict[str, list[tuple[complex, Term]]] = {name: [] for name in data.fields}
        for name, equation in zip(data.fields, equations, strict=True):
            for text, c in zip(equation.terms, equation.coefficients, strict=True):
                term = parse_term(text)
                one = term.factors[0] if len(term.factors) == 1 else None
                if one is not None and one.symbol == name and one.power == 1:
                    self.linear[name] += c * self._symbol(one.derivative)
                else:
                    self.rest[name].append((c, term))

    def _symbol(self, by: str) -> np.ndarray:
        return np.prod([1j * self.waves[letter] for letter in by], axis=0) if by else np.ones_like(self.smooth)

    def advance(self, state: dict[str, np.ndarray], h: float, i: int) -> dict[str, np.ndarray]:
        """Advances the simulated fields from one time of the data to the next, in sufficiently short steps."""
        size = max(float(np.abs(np.fft.ifftn(v)).max()) for v in state.values())
        top = max([float(np.abs(w).max()) for w in self.waves.values()], default=1.0)
        rate = max((abs(c) * _speed(term, size, top) for terms in self.rest.values() for c, term in terms), default=0.0)
        steps = int(min(max(1, np.ceil(h * rate / COURANT_NUMBER)), MAX_STEPS_PER_TIME)) if np.isfinite(rate) else 1
        for _ in range(steps):
            state = self._step(state, h / steps, i)
        return state

    def _step(self, v: dict[str, np.ndarray], h: float, i: int) -> dict[str, np.ndarray]:
        half = {k: np.exp(self.linear[k] * h / 2) for k in v}
        a = self._nonlinear(v, i)
        b = self._nonlinear({k: half[k] * (v[k] + h / 2 * a[k]) for k in v}, i)
        c = self._nonlinear({k: half[k] * v[k] + h / 2 * b[k] for k in v}, i)
        d = self._nonlinear({k: half[k] ** 2 * v[k] + h * half[k] * c[k] for k in v}, i)
        return {
            k: half[k] ** 2 * v[k] + h / 6 * (half[k] ** 2 * a[k] + 2 * half[k] * (b[k] + c[k]) + d[k]) for k in v
        }  # (1)

    def _nonlinear(self, v: dict[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
        real = {k: not np.iscomplexobj(f) for k, f in self.data.fields.items()}
        fields = {k: np.fft.ifftn(v[k]).real if real[k] else np.fft.ifftn(v[k]) for k in v}
        now = GridData(fields, self.data.steps, {k: f[..., i] for k, f in self.data.known.items()}, self.data.functions)
        found = {}
        for name, terms in self.rest.items():
            total = np.zeros_like(self.smooth, dtype=complex)
            for c, term in terms:
                value = np.full(self.smooth.shape, c, dtype=complex)
                for factor in term.factors:
                    if factor.derivative and factor.symbol in v:
                        inner: Any = np.fft.ifftn(self._symbol(factor.derivative) * v[factor.symbol])
                        inner = inner.real if real[factor.symbol] else inner
                    else:
                        inner = now.value(factor.symbol)
                    value = value * inner**factor.power
                total = total + value
            found[name] = np.fft.fftn(total) * self.smooth
        return found


def _speed(term: Term, size: float, top: float) -> float:
    """Returns how fast a term of the equation can change a field, which limits the time step of the simulation."""
    degree = sum(factor.power for factor in term.factors)
    order = sum(len(factor.derivative) * factor.power for factor in term.factors)
    return float(size ** max(degree - 1, 0) * (2 / 3 * top) ** order)


def _check_periodic(data: GridData) -> None:
    for name, values in data.fields.items():
        for axis, letter in enumerate(data.letters[:-1]):
            ends = np.abs(np.take(values, 0, axis) - np.take(values, -1, axis))
            typical = np.sqrt(np.mean(np.abs(np.diff(values, axis=axis)) ** 2)) + 1e-9 * np.abs(values).max()
            jump = np.sqrt(np.mean(ends**2)) / max(typical, 1e-300)  # 1e-300 avoids 0 / 0 for a zero field
            if jump > MAX_JUMP_IN_STEPS:
                found = f"'{name}' differs between the ends of {letter} by {jump:.0f} typical steps"
                fix = "Simulate such data with a solver that knows their boundary conditions"
                raise InputError(found, accepted="a field that is periodic in space", fix=fix)


def _thin(values: np.ndarray) -> np.ndarray:
    rows, columns = (max(1, n // MAX_SHOWN_POINTS) for n in values.shape)
    shown = values[::rows, ::columns]
    return np.nan_to_num(np.clip(np.abs(shown) if np.iscomplexobj(shown) else shown, -1e6, 1e6))
