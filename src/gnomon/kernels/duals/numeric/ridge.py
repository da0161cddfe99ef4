"""The double integral for strongly correlated pairs, whose mass lies on a ridge.

For unit variables x, y of correlation rho >= 0, p = (x + y) / 2 and q = (x - y) / 2 are independent, of variances
P = (1 + rho) / 2 and Q = (1 - rho) / 2:

    G(q) = E_p[f(sqrt(a) (p + q)) g(sqrt(b) (p - q))]                                            (1)
    E[f(u) g(v)] = G(0) + E_q[G(q) - G(0)]                                                       (2)

(1) is cut where p + q or p - q meets a cut of f or g. As a function of q it is smooth but where a corner of f passes
one of g; (2) is cut there, and elsewhere halved until Legendre coefficients have decayed. The closer rho is to one, the
smaller is G(q) - G(0), and the less work is needed. For rho < 0, v is replaced by -v.

Hypotheses: those of pieces.
Cost: some 5000 evaluations per pair; more when features of f are much narrower than its spread.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.kernels.duals.numeric.functions import Elementwise
from gnomon.kernels.duals.numeric.legendre import SAMPLE, SAMPLES, TRANSFORM, panels
from gnomon.kernels.duals.numeric.line import Sampler, positions

SPREAD = 8  # deviations to which p and q run, unless the functions grow fast
PANEL = 4.0  # width of panels in p
TOLERANCE = 1e-8  # of sqrt(E[f^2] E[g^2]), per interval of q
BULK = 2.5  # deviations of q that are resolved apart from the tails, to begin with
LEAST_GAIN = 0.01  # of the highest coefficient: no smaller error is believed
DEPTH = 40  # halvings
AT_ONCE = 2**17  # nodes


def ridge(
    f: Sampler,
    g: Sampler,
    root_a: Float[Tensor, " n"],
    root_b: Float[Tensor, " n"],
    rho: Float[Tensor, " n"],
    scale: Float[Tensor, " n"],
) -> Float[Tensor, " n"]:
    """E[f(u) g(v)] for pairs of standard deviations and correlations, to a small part of ``scale``; equation (2).

    Hypotheses and cost: see the module.

    >>> one = torch.ones(1, dtype=torch.float64)
    >>> step = Sampler(lambda x: (x > 0).double(), one.device)
    >>> rho = torch.cos(0.01 * one)
    >>> float(ridge(step, step, one, 2 * one, rho, one) - (pi - 0.01) / (2 * pi)) < 1e-9
    True
    """
    result = torch.empty_like(rho)
    for top_a, top_b, sign, rows in _groups(root_a, root_b, rho):
        strip = _strip(f, g, top_a, top_b, sign, root_a[rows], root_b[rows], rho[rows].abs())
        result[rows] = _across(strip, scale[rows])
    return result


@dataclass(frozen=True, slots=True)
class _Strip:
    """Pairs of one magnitude and one sign of correlation, with the cuts of both functions in units of deviations."""

    f: Elementwise
    g: Elementwise
    root_a: Tensor
    root_b: Tensor
    along: Tensor
    across: Tensor
    cuts_f: Float[Tensor, "n cuts_f"]
    cuts_g: Float[Tensor, "n cuts_g"]
    crossings: Float[Tensor, "n crossings"]
    grid: Float[Tensor, " edges"]

    def inner(self, row: Int[Tensor, " m"], q: Float[Tensor, " m"]) -> Float[Tensor, " m"]:
        """G(q) of the pairs at ``row``; equation (1)."""
        deviation = self.along[row][:, None]
        edges = self.grid * deviation
        moving = torch.cat([self.cuts_f[row] - q[:, None], self.cuts_g[row] + q[:, None]], 1)
        moving = torch.minimum(torch.maximum(moving, edges[:, :1]), edges[:, -1:])
        p, weight = panels(torch.cat([edges, moving], 1).sort(1).values, SAMPLE)
        left = self.f(self.root_a[row][:, None] * (p + q[:, None]))
        right = self.g(self.root_b[row][:, None] * (p - q[:, None]))
        density = torch.exp((p / deviation).square() * -0.5)
        return (left * right * density * weight).sum(1) / (deviation[:, 0] * (2 * pi) ** 0.5)

    def nodes(self) -> int:
        """Evaluations of (1) at one q."""
        return SAMPLES * (len(self.grid) + self.cuts_f.shape[1] + self.cuts_g.shape[1])


def _groups(root_a: Tensor, root_b: Tensor, rho: Tensor) -> Iterator[tuple[float, float, int, Tensor]]:
    """Pairs whose standard deviations lie in one octave each, and whose correlation has one sign."""
    key = torch.stack([torch.frexp(root_a).exponent, torch.frexp(root_b).exponent, (rho >= 0).to(torch.int32)], 1)
    kinds, kind = key.unique(dim=0, return_inverse=True)
    for k, (octave_a, octave_b, positive) in enumerate(kinds.tolist()):
        yield 2.0**octave_a, 2.0**octave_b, 1 if positive else -1, (kind == k).nonzero()[:, 0]


def _strip(f: Sampler, g: Sampler, top_a: float, top_b: float, sign: int, *pair: Tensor) -> _Strip:
    root_a, root_b, rho = pair
    radius = max(f.radius(top_a), g.radius(top_b))
    spread = SPREAD if radius <= 10 else radius
    pieces_f, pieces_g = f.pieces(radius * top_a), g.pieces(radius * top_b)
    cuts_f = positions(pieces_f.within(spread * top_a, PANEL * top_a), root_a, 2 * radius)
    cuts_g = positions(sign * pieces_g.within(spread * top_b, PANEL * top_b), root_b, 2 * radius)
    hard_f = positions(pieces_f.within(spread * top_a, 0.0), root_a, 2 * radius)
    hard_g = positions(sign * pieces_g.within(spread * top_b, 0.0), root_b, 2 * radius)
    return _Strip(
        f.function,
        g.function if sign > 0 else lambda v: g.function(-v),
        root_a,
        root_b,
        ((1 + rho) / 2).sqrt(),
        ((1 - rho) / 2).sqrt(),
        cuts_f,
        cuts_g,
        (hard_f[:, :, None] - hard_g[:, None, :]).flatten(1) / 2,
        torch.arange(-spread, spread + PANEL / 2, PANEL, dtype=torch.float64, device=rho.device),
    )


def _across(strip: _Strip, scale: Tensor) -> Tensor:
    """Equation (2): the outer integral, by intervals that are halved until they are resolved."""
    rows = torch.arange(len(scale), device=scale.device)
    many = max(1, AT_ONCE // strip.nodes())
    center = torch.cat([strip.inner(part, torch.zeros_like(scale[part])) for part in rows.split(many)])
    total = center.clone()
    row, left, right = _intervals(strip)
    for _ in range(DEPTH):
        again = []
        for part in torch.arange(len(row), device=row.device).split(max(1, many // SAMPLES)):
            value, error = _interval(strip, center, row[part], left[part], right[part])
            done = error <= TOLERANCE * scale[row[part]]
            total.index_add_(0, row[part][done], value[done])
            again.append(part[~done])
        rest = torch.cat(again)
        if not len(rest):
            return total
        middle = (left[rest] + right[rest]) / 2
        row = row[rest].repeat(2)
        left, right = torch.cat([left[rest], middle]), torch.cat([middle, right[rest]])
    return total


def _intervals(strip: _Strip) -> tuple[Tensor, Tensor, Tensor]:
    """Where to begin in q: cut at crossings of corners."""
    end = strip.across[:, None] * strip.grid[-1]
    bulk = strip.across[:, None] * BULK
    crossings = strip.crossings if strip.crossings.shape[1] else torch.zeros_like(end)
    crossings = torch.minimum(torch.maximum(crossings, -end), end)
    edges = torch.cat([-end, -bulk, crossings, bulk, end], 1).sort(1).values
    row = torch.arange(len(edges), device=edges.device)[:, None].expand(-1, edges.shape[1] - 1)
    left, right = edges[:, :-1], edges[:, 1:]
    wide = right - left > 1e-12 * end
    return row[wide], left[wide], right[wide]


def _interval(strip: _Strip, center: Tensor, row: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Integral of (G(q) - G(0)) N(q) over intervals, and an estimate of its error.

    The first coefficient that the rule of Gauss misses is about the square of the highest that it shows.
    """
    q, weight = panels(torch.stack([left, right], 1), SAMPLE)
    inner = strip.inner(row.repeat_interleave(SAMPLES), q.flatten()).view_as(q) - center[row][:, None]
    deviation = strip.across[row][:, None]
    value = inner * torch.exp((q / deviation).square() * -0.5) / (deviation * (2 * pi) ** 0.5)
    coefficients = (value @ TRANSFORM.to(value)).abs()
    largest, highest = coefficients.amax(1), coefficients[:, -4:].amax(1)
    error = highest * (highest / largest.clamp(min=1e-300)).clamp(min=LEAST_GAIN) * (right - left)
    return (value * weight).sum(1), error
