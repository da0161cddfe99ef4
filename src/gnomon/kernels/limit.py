"""Computes the infinite-width kernels (NNGP and NTK) of a module.

    NNGP(x, x') = E[f(x) f(x')]        over the initialization, per output                (1)
    NTK(x, x')  = E[grad f(x) . grad f(x')]                                               (2)

as all hidden widths go to infinity; with the standard parametrization (2) is the leading order in the actual widths.
"""

from dataclasses import dataclass, field, replace
from math import isqrt, sqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.checks import check_integer, check_module_is_callable
from gnomon.core.modules.wrappers import inner_module
from gnomon.core.results.record import Record
from gnomon.kernels import store
from gnomon.kernels.cost import IMPORT_SECONDS, LOOPS_SHARE_OF_TORCH_SECONDS, KernelCost, Needs, needs, seconds
from gnomon.kernels.inputs import points, second, takes_tokens
from gnomon.kernels.layers_compile_time import layers_compile_seconds
from gnomon.kernels.options import Parametrization, check_options
from gnomon.kernels.plan import LimitPlan
from gnomon.kernels.prepare import PlanCache, Prepared
from gnomon.kernels.record import Kernels
from gnomon.kernels.run import compute_kernels, independent_features
from gnomon.kernels.samples import sample_points
from gnomon.program.laws import Init
from gnomon.program.steps import Program

MAX_TILE_SECONDS = 10.0
"""Maximum seconds per tile on disk, which is the most work that an interruption can lose."""
MAX_TILE_POINTS = 2048
"""Maximum side of a tile on disk, in points."""
TILE_COPIES = 4  # maximum number of copies of a tile in memory while the tile is written to disk
ENGINE_TRIAL_POINTS = 16
"""Number of points used to choose the engine."""


@add_call_to_errors
def limit(
    module: nn.Module,
    *,
    init: Init = "torch",
    parametrization: Parametrization = "standard",
    dtype: torch.dtype = torch.float64,
    memory: int | None = None,
) -> "Limit":
    """Returns an object that computes the infinite-width kernels (NNGP and NTK) of a module.

    For a fully connected network with activation phi, layer by layer:

        K_1 = w^2 x.x'/d + b^2,   K_{l+1} = w^2 E[phi(u) phi(v)] + b^2,   (u, v) ~ N(0, K_l)             (1)
        T_1 = A x.x'/d + B,       T_{l+1} = A E[phi(u) phi(v)] + B + w^2 E[phi'(u) phi'(v)] T_l          (2)

    with A = w^2, B = b^2 for ``parametrization="ntk"`` and A = fan_in, B = 1 for ``"standard"``, the NTK of the
    parameters that PyTorch really trains.

    Args:
        module: the module; it is neither run on data nor changed.
        init: ``"torch"`` (each layer's own constructor), ``"measured"`` (the present weights), an ``InitializationLaw``
            or a dict from module path to ``InitializationLaw``.
        parametrization: see (2).
        dtype: of the result; float32 arithmetic is used only if it stays within 2e-5 of float64.
        memory: bytes that a computation may use; by default what is free.

    A module without a limit in closed form is refused with the reason; `sampled_limit` takes any module.
    Hypotheses: nonlinearities follow affine layers, no weight is used twice, hidden widths grow; see docs/limits.md.
    Reference: [lee2018deep], [jacot2018neural], [sohl2020infinite], [yang2019tensor].
    Cost: of the call, none; ``limit(module).cost(n1, n2)`` estimates the cost of a kernel.

    >>> import math
    >>> net = nn.Sequential(nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, 1))
    >>> from gnomon.program import InitializationLaw
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> k = limit(net, init=InitializationLaw(math.sqrt(2)), parametrization="ntk").nngp(x)
    >>> bool((k[0, 1] - 1 / math.pi).abs() < 1e-15)  # arc-cosine kernel of orthogonal inputs
    True
    """
    check_options(parametrization, dtype)
    module = inner_module(module)
    check_module_is_callable(module)
    memory = None if memory is None else check_integer("memory", memory)
    return Limit(module, init, parametrization, dtype, memory)


@dataclass(frozen=True, slots=True)
class Limit(Record):
    """The exact infinite-width kernels of a module; made by ``gnomon.limit``.

    ``compiled`` chooses compiled loops (True) or torch (False). By default torch computes small kernels, because
    compiling the loops would take longer; the results agree to 1e-10.

    >>> net = nn.Sequential(nn.Linear(3, 100), nn.Tanh(), nn.Linear(100, 1))
    >>> Limit(net).ntk(torch.eye(3)).shape
    torch.Size([3, 3])
    """

    module: nn.Module
    init: Init = "torch"
    parametrization: Parametrization = "standard"
    dtype: torch.dtype = torch.float64
    memory: int | None = None
    compiled: bool | None = None
    _plans: PlanCache = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plans = PlanCache(self.module, self.init, standard=self.parametrization == "standard")
        object.__setattr__(self, "_plans", plans)

    @add_call_to_errors("limit(module).nngp(x)")
    def nngp(self, x1: Any, x2: Any = None) -> Tensor:
        """Returns the NNGP kernel E[f(x1) f(x2)] of each output f at initialization as a matrix (n1, n2)."""
        return self._kernels(x1, x2, ("nngp",))["nngp"]

    @add_call_to_errors("limit(module).ntk(x)")
    def ntk(self, x1: Any, x2: Any = None) -> Tensor:
        """Returns the NTK E[grad f(x1) . grad f(x2)] of each output f (gradients over parameters) as a matrix (n1,
        n2).
        """
        return self._kernels(x1, x2, ("ntk",))["ntk"]

    @add_call_to_errors("limit(module)(x)")
    def __call__(self, x1: Any, x2: Any = None) -> Kernels:
        """Returns both infinite-width kernels, computed together, as a record with ``.nngp`` and ``.ntk``."""
        both = self._kernels(x1, x2, ("nngp", "ntk"))
        return Kernels(both["nngp"], both["ntk"])

    @add_call_to_errors("limit(module).to_zarr(path, x1)")
    def to_zarr(
        self,
        path: str | Path,
        x1: Any,
        x2: Any = None,
        kind: tuple[str, ...] = ("nngp", "ntk"),
        *,
        tile: int | None = None,
    ) -> Any:
        """Writes kernel matrices to a Zarr store on disk, tile by tile; a second call after an interruption continues
        the first.

        Returns the open group, with one array per kind. ``tile`` is the side of a tile; by default it takes seconds,
        and four times its bytes fit the memory: it is computed, mirrored, packed and written, which takes 1.15 times
        the memory and 32 MiB at most. Finished tiles are not computed again, and other data or another network are
        refused. Needs the extra ``zarr``.
        """
        _check_kinds(kind)
        if self.dtype not in (torch.float64, torch.float32, torch.float16):
            fix = "Pass dtype=torch.float32 to limit"
            raise InputError(f"dtype is {self.dtype}", accepted="a dtype that numpy supports", fix=fix)
        x = points(x1, "x1", tokens=takes_tokens(self.module)).detach()
        y = None if x2 is None else second(x, x2).detach()
        side = None if tile is None else check_integer("tile", tile)
        made = self.plan(x)
        data = [independent_features(made, one) for one in ((x,) if y is None else (x, y))]
        mark = store.fingerprint(str(made.program), made.rules, data, y is None, kind, str(self.dtype))
        side = side or self._tile_side(x, len(kind) * self.dtype.itemsize)
        task = store.StoreTask(x, y, tuple(kind), self.dtype, side, mark)
        return store.write(path, task, lambda a, b: self._kernels(a, b, tuple(kind)))

    @add_call_to_errors("limit(module).program(x)")
    def program(self, x: Any) -> Program:
        """Returns the list of layers that gnomon reads from the module, for inputs like x."""
        return self.plan(points(x, "x", tokens=takes_tokens(self.module))).program

    def plan(self, x: Tensor) -> LimitPlan:
        """Returns the layers of the module with a kernel formula for each, for inputs like x; cached until the module
        changes.
        """
        return self._plans.plan(x)

    @add_call_to_errors("limit(module).cost(n1)")
    def cost(
        self,
        n1: Any,
        n2: Any = None,
        *,
        shape: tuple[int, ...] | None = None,
        kind: tuple[str, ...] = ("nngp", "ntk"),
    ) -> KernelCost:
        """Estimates the memory and the time of kernel matrices between n1 and n2 points; takes a few seconds.

        Pass the points themselves if you have them: activations without a closed form take longer at large
        variances and for nearly parallel points. Numbers of points stand for standard normal inputs, of the ``shape``
        of one, which may be left out if the first layer is Linear. Time is measured on fewer points. Loops of
        kernels are not compiled for that: ``KernelCost`` says what compiling them will add.
        """
        _check_kinds(kind)
        symmetric, start = n2 is None, perf_counter()
        left = sample_points(n1, "n1", self.module, shape)
        right = left if symmetric else sample_points(n2, "n2", self.module, shape)

        some = left.some(min(left.count, ENGINE_TRIAL_POINTS))
        made, uses_loops = self.plan(some), self._uses_loops(some, (left.count, right.count))
        ready = uses_loops and self._loops_wait(some) == 0
        timed = replace(self, compiled=ready)

        def run(k1: int, k2: int) -> dict[str, Tensor]:
            return timed._kernels(left.some(k1), None if symmetric else right.some(k2), kind)

        with torch.no_grad():
            run(1, 1)
            setup = perf_counter() - start + IMPORT_SECONDS
            time = seconds(run, left.count, right.count, symmetric=symmetric)
            time *= LOOPS_SHARE_OF_TORCH_SECONDS if uses_loops and not ready else 1.0
            points = left.count if symmetric else left.count + right.count
            fast = self._prepare(some).workspace(some, points, self.dtype) if ready else None
        need = needs(made, left.count, right.count, kinds=kind, word=self.dtype.itemsize, memory=self.memory)
        compilation = self._loops_wait(some) if uses_loops else _series_wait(made, need)
        room, tile = (need.workspace, need.tile) if fast is None else (fast, left.count * right.count)
        return KernelCost(left.count, right.count, need.result, room, tile, time, compilation, setup, need.free)

    @add_call_to_errors("limit(module).compile_seconds(x)")
    def compile_seconds(self, x: Any) -> float:
        """Returns the approximate compilation seconds before the first kernel of these inputs; 0 if nothing must be
        compiled.

        Small kernels need no compiled loops. What this process or an earlier one has compiled is not counted: it is
        kept on disk.
        """
        some = points(x, "x", tokens=takes_tokens(self.module))
        made, n = self.plan(some), len(some)
        if self._uses_loops(some, (n, n)):
            return self._loops_wait(some)
        need = needs(made, n, n, kinds=("ntk",), word=self.dtype.itemsize, memory=self.memory)
        return _series_wait(made, need)

    def _loops_wait(self, x: Tensor) -> float:
        """Returns the seconds to compile the loops that would compute this kernel faster than torch."""
        return self._prepare(x).compile_seconds(x, self.dtype)

    def _uses_loops(self, x: Tensor, size: tuple[int, int]) -> bool:
        """Whether compiled loops, and not torch, would compute a kernel of this size for inputs like x."""
        sides = (x[:1].expand(size[0], *x.shape[1:]), x[:1].expand(size[1], *x.shape[1:]))
        engine = self._plans.engine(sides, self.dtype, compiled=self.compiled, tentative=True)
        return engine.compiled is not None

    def _prepare(self, x: Tensor) -> Prepared:
        return Prepared(self.plan(x), None) if self.compiled is False else self._plans.prepare(x)

    def _tile_side(self, x: Tensor, word: int) -> int:
        """Returns the side of the tiles in which a kernel is stored, chosen such that each tile takes a few seconds."""
        room = len(x) if self.memory is None else isqrt(self.memory // (TILE_COPIES * word))
        most = max(1, min(len(x), MAX_TILE_POINTS, room))
        time = seconds(lambda k1, k2: self._kernels(x[:k1], None, ("ntk",)), most, most, symmetric=True)
        return max(1, min(most, int(most * sqrt(MAX_TILE_SECONDS / time))))

    def _kernels(self, x1: Any, x2: Any, kinds: tuple[str, ...]) -> dict[str, Tensor]:
        return compute_kernels(self._plans, x1, x2, kinds, self.dtype, self.memory, compiled=self.compiled)


def _series_wait(made: LimitPlan, need: Needs) -> float:
    """Returns the compilation seconds of the series for activations without a closed form, of which torch computes one
    tile at a time.
    """
    return layers_compile_seconds(made.program, need.tile * made.activation_entries(numeric=True))


def _check_kinds(kind: tuple[str, ...]) -> None:
    if not isinstance(kind, tuple | list) or not kind or set(kind) - {"nngp", "ntk"}:
        raise out_of_range_error("kind", '("nngp",), ("ntk",) or both', kind)
