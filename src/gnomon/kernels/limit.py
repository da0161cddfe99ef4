"""The front door of the infinite-width limit: from a module to its kernels.

    NNGP(x, x') = E[f(x) f(x')]        over the initialization, per output                (1)
    NTK(x, x')  = E[grad f(x) . grad f(x')]                                               (2)

as all hidden widths go to infinity; with the standard parametrization (2) is the leading order in the actual widths.
"""

from dataclasses import dataclass, field
from math import isqrt, sqrt
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.core.checks import check_readable, integer
from gnomon.core.errors import BudgetError, InputError, NotFiniteError, lesson
from gnomon.core.memory import human, tiles
from gnomon.core.record import Record
from gnomon.kernels import fused, propagate, store
from gnomon.kernels.cost import Cost, cost
from gnomon.kernels.inputs import points, second
from gnomon.kernels.montecarlo import Sampled
from gnomon.kernels.plan import Plan
from gnomon.kernels.reading import Reading
from gnomon.kernels.record import Kernels
from gnomon.kernels.rules.data import DataRule
from gnomon.program.laws import Init
from gnomon.program.steps import Program

TILE_SECONDS = 10.0  # of a tile on disk, at most: what a kill may lose
TILE_COPIES = 4  # of a tile in memory while it is written, at most; more than it takes while it is computed
Parametrization = Literal["standard", "ntk"]


def limit(
    net: nn.Module,
    *,
    init: Init = "torch",
    parametrization: Parametrization = "standard",
    dtype: torch.dtype = torch.float64,
    memory: int | None = None,
    method: Literal["exact", "monte-carlo"] = "exact",
    samples: int = 64,
    width: int | None = None,
    seed: int = 0,
) -> "Limit | Sampled":
    """The infinite-width kernels of a module, read off the module itself.

    For a fully connected network with activation phi, layer by layer:

        K_1 = w^2 x.x'/d + b^2,   K_{l+1} = w^2 E[phi(u) phi(v)] + b^2,   (u, v) ~ N(0, K_l)             (1)
        T_1 = A x.x'/d + B,       T_{l+1} = A E[phi(u) phi(v)] + B + w^2 E[phi'(u) phi'(v)] T_l          (2)

    with A = w^2, B = b^2 for ``parametrization="ntk"`` and A = fan_in, B = 1 for ``"standard"``, the NTK of the
    parameters that PyTorch really trains.

    Args:
        net: the module; it is neither run on data nor changed.
        init: ``"torch"`` (each layer's own constructor), ``"measured"`` (the present weights), a ``Law`` or a dict from
            module path to ``Law``.
        parametrization: see (2).
        dtype: of the result; float32 arithmetic is used only where it stays within 2e-5 of float64.
        memory: bytes that a computation may use; by default what is free.
        method: ``"monte-carlo"`` averages over ``samples`` freshly initialized copies and returns standard errors; it
            takes any module. ``width`` widens all hidden layers of the copies to at least that many units.
        samples: copies to average over.
        width: of the widened copies; None keeps the module as wide as it is.
        seed: of the Monte-Carlo draws.

    Hypotheses: nonlinearities follow affine layers, no weight is used twice, hidden widths grow; see docs/limits.md.
    Reference: [lee2018deep], [jacot2018neural], [sohl2020infinite], [yang2019tensor].
    Cost: of the call, none; ``limit(net).cost(n1, n2)`` says that of a kernel.

    >>> import math
    >>> net = nn.Sequential(nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, 1))
    >>> from gnomon.program import Law
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> k = limit(net, init=Law(math.sqrt(2)), parametrization="ntk").nngp(x)
    >>> bool((k[0, 1] - 1 / math.pi).abs() < 1e-15)  # arc-cosine kernel of orthogonal inputs
    True
    """
    if parametrization not in ("standard", "ntk"):
        found = f"parametrization is {parametrization!r}"
        raise InputError(
            lesson("limit(net, parametrization=...)", found, "a known parametrization", 'Pass "standard" or "ntk"')
        )
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point or dtype.itemsize == 1:
        raise InputError(
            lesson("limit(net, dtype=...)", f"dtype is {dtype}", "a real kernel", "Pass torch.float64 or torch.float32")
        )
    check_readable(net, call="limit(net)")
    memory = None if memory is None else integer("memory", memory, call="limit(net, memory=...)")
    if method == "monte-carlo":
        return Sampled(net, init, parametrization == "standard", dtype, samples, width, seed)
    if method != "exact":
        raise InputError(
            lesson("limit(net, method=...)", f"method is {method!r}", "a known method", 'Pass "exact" or "monte-carlo"')
        )
    return Limit(net, init, parametrization, dtype, memory)


@dataclass(frozen=True, slots=True)
class Limit(Record):
    """The exact infinite-width kernels of a module; made by ``gnomon.limit``.

    >>> net = nn.Sequential(nn.Linear(3, 100), nn.Tanh(), nn.Linear(100, 1))
    >>> Limit(net).ntk(torch.eye(3)).shape
    torch.Size([3, 3])
    """

    net: nn.Module
    init: Init = "torch"
    parametrization: Parametrization = "standard"
    dtype: torch.dtype = torch.float64
    memory: int | None = None
    _reading: Reading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        reading = Reading(self.net, self.init, standard=self.parametrization == "standard")
        object.__setattr__(self, "_reading", reading)

    def nngp(self, x1: Any, x2: Any = None) -> Tensor:
        """E[f(x1) f(x2)] per output: (n1, n2), exactly symmetric for ``x2=None``."""
        return self._kernels(x1, x2, ("nngp",))["nngp"]

    def ntk(self, x1: Any, x2: Any = None) -> Tensor:
        """E[grad f(x1) . grad f(x2)] per output: (n1, n2), exactly symmetric for ``x2=None``."""
        return self._kernels(x1, x2, ("ntk",))["ntk"]

    def __call__(self, x1: Any, x2: Any = None) -> Kernels:
        """Both kernels in one pass, as a record with ``.nngp`` and ``.ntk``."""
        both = self._kernels(x1, x2, ("nngp", "ntk"))
        return Kernels(both["nngp"], both["ntk"])

    def to_zarr(
        self,
        path: str | Path,
        x1: Any,
        x2: Any = None,
        kind: tuple[str, ...] = ("nngp", "ntk"),
        *,
        tile: int | None = None,
    ) -> Any:
        """Write kernels to a Zarr store, tile by tile; a second call after an interruption continues the first.

        Returns the open group, with one array per kind. ``tile`` is the side of a tile; by default it takes seconds,
        and four times its bytes fit the memory: it is computed, mirrored, packed and written, which takes 1.15 times
        the memory and 32 MiB at most. Finished tiles are not computed again, and other data or another network are
        refused. Needs the extra ``zarr``.
        """
        call = f"limit({type(self.net).__name__}).to_zarr(path, x1, x2)"
        if not isinstance(kind, tuple | list) or not kind or set(kind) - {"nngp", "ntk"}:
            raise InputError(lesson(call, f"kind is {kind!r}", "known kernels", 'Pass ("nngp",), ("ntk",) or both'))
        if self.dtype not in (torch.float64, torch.float32, torch.float16):
            cure = "Pass dtype=torch.float32 to limit"
            raise InputError(lesson(call, f"dtype is {self.dtype}", "numbers that numpy knows", cure))
        x = points(x1, "x1", call).detach()
        y = None if x2 is None else second(x, x2, call).detach()
        side = None if tile is None else integer("tile", tile, call=call)
        made = self.plan(x)
        data = [_require_independent(made, one) for one in ((x,) if y is None else (x, y))]
        mark = store.fingerprint(str(made.program), made.rules, data, y is None, kind, str(self.dtype))
        side = side or _tile_side(made, len(x), len(kind) * self.dtype.itemsize, self.memory)
        task = store.Task(x, y, tuple(kind), self.dtype, side, mark)
        return store.write(path, task, lambda a, b: self._kernels(a, b, tuple(kind)))

    def program(self, x: Any) -> Program:
        """The module as the limit reads it, for inputs like x."""
        return self.plan(points(x, "x", "limit(net).program(x)")).program

    def plan(self, x: Tensor) -> Plan:
        """The program with its rules, for inputs like x; remembered until the module changes."""
        return self._reading.plan(x)

    def cost(self, n1: int, n2: int | None = None, *, shape: tuple[int, ...] | None = None) -> Cost:
        """Memory and estimated time of both kernels between n1 and n2 points, before anything is allocated.

        ``shape`` is that of one input; it may be left out where the first layer is Linear.
        """
        call = "limit(net).cost(n1, n2)"
        n1, n2 = integer("n1", n1, call=call), None if n2 is None else integer("n2", n2, call=call)
        if shape is not None and not isinstance(shape, tuple | list):
            cure = "Pass shape=(c, h, w), the shape of one input"
            raise InputError(lesson(call, f"shape is {shape!r}"[:80], "a tuple of sizes", cure))
        known = _first_shape(self.net) if shape is None else shape
        shape = tuple(integer("shape", size, call=call) for size in known)
        example = torch.empty((1, *shape), device="meta")
        made = self.plan(example)
        return cost(made, n1, n1 if n2 is None else n2, kinds=2, word=self.dtype.itemsize, memory=self.memory)

    def _kernels(self, x1: Any, x2: Any, kinds: tuple[str, ...]) -> dict[str, Tensor]:
        call = f"limit({type(self.net).__name__}).{kinds[-1]}(x1, x2)"
        x = points(x1, "x1", call)
        y = x if x2 is None else second(x, x2, call)
        made = self.plan(x)
        estimate = cost(made, len(x), len(y), kinds=len(kinds), word=self.dtype.itemsize, memory=self.memory)
        _refuse_if_too_large(estimate, self.memory, call)
        grad = torch.is_grad_enabled() and (x.requires_grad or y.requires_grad)
        with torch.set_grad_enabled(grad):
            for side in (x,) if x2 is None else (x, y):
                _require_independent(made, side)
            fast = fused.kernels(made, (x, y), kinds, self.dtype)
            if fast is not None:
                return fast
            left = propagate.features(made, x)
            data = (left, left if x2 is None else propagate.features(made, y))
            result = _run(made, data, estimate, kinds, self.dtype)
        _check_finite(result, call)
        return result


def _run(
    made: Plan,
    data: tuple[propagate.Features, propagate.Features],
    estimate: Cost,
    kinds: tuple[str, ...],
    dtype: torch.dtype,
) -> dict[str, Tensor]:
    """Statistics of the points, then tile after tile of pairs."""
    symmetric = data[1] is data[0]
    left = _measured(made, data[0])
    right = left if symmetric else _measured(made, data[1])
    n, m, device = _count(data[0]), _count(data[1]), _device(data[0])
    out = {kind: torch.empty(n, m, dtype=dtype, device=device) for kind in kinds}
    for t in tiles(n, m, pair_bytes=1, budget=estimate.tile, symmetric=symmetric):
        rows, cols = slice(t.row, t.row_end), slice(t.col, t.col_end)
        same = torch.zeros(t.shape, dtype=torch.bool, device=device)
        if symmetric:
            same = torch.arange(t.row, t.row_end, device=device)[:, None] == torch.arange(
                t.col, t.col_end, device=device
            )
        parts = (_part(data[0], rows), _part(data[1], cols))
        stats = (_part(left, rows), _part(right, cols))
        pair = propagate.pairs(made, parts, stats, tangent="ntk" in kinds, same=same)
        for kind, target in out.items():
            tile = pair.nngp if kind == "nngp" else pair.ntk
            assert tile is not None
            if symmetric:
                tile = _mirrored(tile, t.row, t.col)
                target[cols, rows] = tile.T.to(dtype)
            target[rows, cols] = tile.to(dtype)
    return out


def _tile_side(made: Plan, n: int, word: int, memory: int | None) -> int:
    """The side of tiles of some seconds each, by the reference's speed, of so many bytes a pair."""
    pair = cost(made, 1, 1, kinds=2, word=word, memory=None).seconds
    room = n if memory is None else isqrt(memory // (TILE_COPIES * word))
    return max(1, min(n, 2048, room, int(sqrt(TILE_SECONDS / pair))))


def _mirrored(tile: Tensor, row: int, col: int) -> Tensor:
    """A tile on the diagonal, exactly symmetric; others as they are."""
    return tile.tril() + tile.tril(-1).T if row == col else tile


def _measured(made: Plan, data: propagate.Features) -> propagate.Statistics:
    """Statistics of all points, in chunks that keep full self-covariances small."""
    chunk = max(1, (1 << 24) // made.point_entries())
    parts = [propagate.statistics(made, _part(data, slice(i, i + chunk))) for i in range(0, _count(data), chunk)]
    return tuple(
        None if column[0] is None else torch.cat([c for c in column if c is not None])
        for column in zip(*parts, strict=True)
    )


def _count(data: propagate.Features) -> int:
    return next(len(f) for f in data if f is not None)


def _device(data: propagate.Features) -> torch.device:
    return next(f.device for f in data if f is not None)


def _part(values: tuple[Tensor | None, ...], rows: slice) -> tuple[Tensor | None, ...]:
    return tuple(None if v is None else v[rows] for v in values)


def _require_independent(made: Plan, x: Tensor) -> list[Tensor]:
    """The data as they enter the first layers; what happens to one input before must not depend on the others."""
    functions = [rule.op.function for rule in made.rules if isinstance(rule, DataRule)]
    data = [function(x) for function in functions]
    for function, whole in zip(functions, data, strict=True):
        alone = function(x[:1])
        if not torch.allclose(whole[:1], alone, rtol=1e-10, atol=1e-300):
            raise InputError(
                lesson(
                    f"limit({made.program.name})",
                    "the preprocessing inside forward gives an input another value when it stands in another batch",
                    "outputs for one input do not depend on the rest of the batch",
                    "Normalize the data before calling, with fixed statistics",
                )
            )
    return data


def _refuse_if_too_large(estimate: Cost, memory: int | None, call: str) -> None:
    room = estimate.free if memory is None else min(memory, estimate.free)
    if estimate.memory > room:
        raise BudgetError(
            lesson(
                call,
                f"the {estimate.n1} x {estimate.n2} kernel needs {human(estimate.memory)} "
                f"({human(estimate.result)} for the result) and {human(room)} may be used",
                "the result and one tile fit in memory",
                "Compute fewer rows at a time (x1[:k] against x2), ask for nngp alone, or use dtype=torch.float32",
            )
        )


def _check_finite(result: dict[str, Tensor], call: str) -> None:
    for name, k in result.items():
        if not bool(torch.isfinite(k.detach()).all()):
            raise NotFiniteError(
                lesson(
                    call,
                    f"the {name} is not finite: variances leave the range of {k.dtype} on the way through the network",
                    "variances stay bounded from layer to layer",
                    "Use a smaller weight_std, smaller inputs, or normalization layers",
                )
            )


def _first_shape(net: nn.Module) -> tuple[int, ...]:
    """The shape of one input, where the first layer tells it."""
    first = next((m for m in net.modules() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d)), None)
    if isinstance(first, nn.Linear):
        return (first.in_features,)
    raise InputError(
        lesson(
            "limit(net).cost(n1, n2)",
            "the shape of one input cannot be told from the module",
            "a known input shape",
            "Pass shape=(c, h, w)",
        )
    )
