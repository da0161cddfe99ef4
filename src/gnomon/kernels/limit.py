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
from gnomon.core.memory import human
from gnomon.core.record import Record
from gnomon.kernels import fused, propagate, reference, store
from gnomon.kernels.cost import Cost, Needs, needs, seconds
from gnomon.kernels.inputs import points, second
from gnomon.kernels.montecarlo import Sampled
from gnomon.kernels.plan import Plan
from gnomon.kernels.reading import Reading
from gnomon.kernels.record import Kernels
from gnomon.kernels.rules.data import DataRule
from gnomon.program.laws import Init
from gnomon.program.steps import Program

TILE_SECONDS, LARGEST_TILE = 10.0, 2048  # of a tile on disk, at most: what a kill may lose
TILE_COPIES = 4  # of a tile in memory while it is written, at most; more than it takes while it is computed
SAMPLE = 16  # points on which it is tried which engine runs
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
        _require_known(kind, call)
        if self.dtype not in (torch.float64, torch.float32, torch.float16):
            cure = "Pass dtype=torch.float32 to limit"
            raise InputError(lesson(call, f"dtype is {self.dtype}", "numbers that numpy knows", cure))
        x = points(x1, "x1", call).detach()
        y = None if x2 is None else second(x, x2, call).detach()
        side = None if tile is None else integer("tile", tile, call=call)
        made = self.plan(x)
        data = [_require_independent(made, one) for one in ((x,) if y is None else (x, y))]
        mark = store.fingerprint(str(made.program), made.rules, data, y is None, kind, str(self.dtype))
        side = side or self._tile_side(x, len(kind) * self.dtype.itemsize)
        task = store.Task(x, y, tuple(kind), self.dtype, side, mark)
        return store.write(path, task, lambda a, b: self._kernels(a, b, tuple(kind)))

    def program(self, x: Any) -> Program:
        """The module as the limit reads it, for inputs like x."""
        return self.plan(points(x, "x", "limit(net).program(x)")).program

    def plan(self, x: Tensor) -> Plan:
        """The program with its rules, for inputs like x; remembered until the module changes."""
        return self._reading.plan(x)

    def cost(
        self,
        n1: Any,
        n2: Any = None,
        *,
        shape: tuple[int, ...] | None = None,
        kind: tuple[str, ...] = ("nngp", "ntk"),
    ) -> Cost:
        """Memory and time of kernels between n1 and n2 points, before they are computed; takes about a second.

        Pass the points themselves where you have them: activations without a closed form take longer at large
        variances and for nearly parallel points. Numbers of points stand for standard normal inputs, of the ``shape``
        of one, which may be left out where the first layer is Linear. Time is measured on fewer points and counts no
        compilation; see ``Cost``.
        """
        call = f"limit({type(self.net).__name__}).cost(n1, n2)"
        _require_known(kind, call)
        symmetric = n2 is None
        left = _asked(n1, "n1", call, self.net, shape)
        right = left if symmetric else _asked(n2, "n2", call, self.net, shape)

        def run(k1: int, k2: int) -> dict[str, Tensor]:
            return self._kernels(left.some(k1), None if symmetric else right.some(k2), kind)

        with torch.no_grad():
            time, compilation = seconds(run, left.count, right.count, symmetric=symmetric)
            some = left.some(min(left.count, SAMPLE))
            made = self.plan(some)
            points = left.count if symmetric else left.count + right.count
            fast = fused.workspace(made, some, points, self.dtype)
        need = needs(made, left.count, right.count, kinds=kind, word=self.dtype.itemsize, memory=self.memory)
        room, tile = (need.workspace, need.tile) if fast is None else (fast, left.count * right.count)
        return Cost(left.count, right.count, need.result, room, tile, time, compilation, need.free)

    def _tile_side(self, x: Tensor, word: int) -> int:
        """The side of tiles of some seconds each, of so many bytes a pair."""
        room = len(x) if self.memory is None else isqrt(self.memory // (TILE_COPIES * word))
        most = max(1, min(len(x), LARGEST_TILE, room))
        time, _ = seconds(lambda k1, k2: self._kernels(x[:k1], None, ("ntk",)), most, most, symmetric=True)
        return max(1, min(most, int(most * sqrt(TILE_SECONDS / time))))

    def _kernels(self, x1: Any, x2: Any, kinds: tuple[str, ...]) -> dict[str, Tensor]:
        call = f"limit({type(self.net).__name__}).{kinds[-1]}(x1, x2)"
        x = points(x1, "x1", call)
        y = x if x2 is None else second(x, x2, call)
        made = self.plan(x)
        need = needs(made, len(x), len(y), kinds=kinds, word=self.dtype.itemsize, memory=self.memory)
        _refuse_if_too_large(need, (len(x), len(y)), self.memory, call)
        grad = torch.is_grad_enabled() and (x.requires_grad or y.requires_grad)
        with torch.set_grad_enabled(grad):
            for side in (x,) if x2 is None else (x, y):
                _require_independent(made, side)
            fast = fused.kernels(made, (x, y), kinds, self.dtype)
            if fast is not None:
                return fast
            left = propagate.features(made, x)
            data = (left, left if x2 is None else propagate.features(made, y))
            result = reference.run(made, data, need.tile, kinds, self.dtype)
        _check_finite(result, call)
        return result


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


def _require_known(kind: tuple[str, ...], call: str) -> None:
    if not isinstance(kind, tuple | list) or not kind or set(kind) - {"nngp", "ntk"}:
        raise InputError(lesson(call, f"kind is {kind!r}", "known kernels", 'Pass ("nngp",), ("ntk",) or both'))


def _refuse_if_too_large(need: Needs, size: tuple[int, int], memory: int | None, call: str) -> None:
    room = need.free if memory is None else min(memory, need.free)
    if need.memory > room:
        raise BudgetError(
            lesson(
                call,
                f"the {size[0]} x {size[1]} kernel needs {human(need.memory)} "
                f"({human(need.result)} for the result) and {human(room)} may be used",
                "the result and one tile fit in memory",
                "Compute fewer rows at a time (x1[:k] against x2), ask for nngp alone, or use dtype=torch.float32",
            )
        )


def _check_finite(result: dict[str, Tensor], call: str) -> None:
    for name, k in result.items():
        if not all(bool(torch.isfinite(end)) for end in torch.aminmax(k.detach())):
            raise NotFiniteError(
                lesson(
                    call,
                    f"the {name} is not finite: variances leave the range of {k.dtype} on the way through the network",
                    "variances stay bounded from layer to layer",
                    "Use a smaller weight_std, smaller inputs, or normalization layers",
                )
            )


@dataclass(frozen=True, slots=True)
class _Points:
    """Points that a cost is asked for: given ones, or so many of one shape."""

    count: int
    shape: tuple[int, ...]
    given: Tensor | None

    def some(self, k: int) -> Tensor:
        """k of them, from all over; standard normal numbers where only their count is known."""
        if self.given is None:
            return torch.randn(k, *self.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        return self.given[torch.linspace(0, self.count - 1, k, dtype=torch.float64).long()]


def _asked(n: Any, name: str, call: str, net: nn.Module, shape: tuple[int, ...] | None) -> _Points:
    if hasattr(n, "__len__") and not isinstance(n, str | bytes) and getattr(n, "ndim", 1) != 0:
        given = points(n, name, call).detach()
        return _Points(len(given), tuple(given.shape[1:]), given)
    count = integer(name, n, call=call)
    if shape is not None and not isinstance(shape, tuple | list):
        cure = "Pass shape=(c, h, w), the shape of one input"
        raise InputError(lesson(call, f"shape is {shape!r}"[:80], "a tuple of sizes", cure))
    known = _first_shape(net) if shape is None else shape
    return _Points(count, tuple(integer("shape", size, call=call) for size in known), None)


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
