"""Prepares the kernels of a module: reads its layers, chooses their formulas, and decides between compiled loops and
torch.

A module is prepared once for each shape of inputs, and again when anything about it has changed.

Reading traces the module, which takes a millisecond or two per layer: more than the kernel of a few hundred points.
"""

import warnings
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.kernels.cost import torch_seconds
from gnomon.kernels.duals import Erf, LeakyReLU, ReLU, ScaledDual, Sign
from gnomon.kernels.duals.base import AbstractDual
from gnomon.kernels.fused import CompiledPlan, accepts_points, dense, images, pairs
from gnomon.kernels.fused.background import LoopType, background_compiler
from gnomon.kernels.plan import LimitPlan, plan
from gnomon.kernels.rules.activation import ActivationRule
from gnomon.program.laws import Init
from gnomon.program.read import read_program
from gnomon.program.trace import global_hooks

MAX_COMPARED_ENTRIES = 4096
"""Maximum size of tensors with compared values; larger ones are weights, which only init="measured" reads."""
LOAD_SECONDS = 1.0
"""Seconds to import numba and load compiled loops from the cache: torch is faster for anything shorter."""
BACKGROUND_SECONDS = 0.2
"""Seconds of torch, in all kernels of a process, after which another process compiles the loops for later kernels."""
SHORT_LAYER_ENTRIES = 2**13
"""Covariances of a layer for one pair of images up to which torch works in the processor's caches."""
MAX_PLANS = 16
"""Maximum number of cached plans."""
PLAIN = (int, float, complex, bool, str, bytes, type(None), torch.Size, torch.dtype)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The kernel formulas of a module's layers, and the compiled loops that can run them (None: torch runs them)."""

    plan: LimitPlan
    compiled: CompiledPlan | None

    def compile_seconds(self, sample: Tensor, dtype: torch.dtype) -> float:
        """Returns the approximate seconds to compile kernel loops for points like the sample; 0 if the loops are
        cached.
        """
        if self.compiled is None or not accepts_points((sample, sample), dtype):
            return 0.0
        return self.compiled.compile_seconds(dtype)

    def workspace(self, sample: Tensor, count: int, dtype: torch.dtype) -> int | None:
        """Returns the workspace in bytes of compiled kernel loops for ``count`` points; None if torch computes the
        kernel.
        """
        if self.compiled is None or not accepts_points((sample, sample), dtype):
            return None
        return self.compiled.workspace(sample, count, dtype)


def compiled_loops(plan: LimitPlan) -> CompiledPlan | None:
    """Returns the compiled kernel loops for a network; None if the loops do not support it, or if numba is missing.

    Loops are compiled by their first run.

    >>> from gnomon.program.laws import InitializationLaw
    >>> net, x = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)), torch.eye(2, dtype=torch.float64)
    >>> chain = compiled_loops(PlanCache(net, InitializationLaw(2**0.5), standard=False).plan(x))
    >>> chain.run((x, x), ("nngp",), torch.float64)["nngp"]  # the arc-cosine kernel: 1 and 1 / pi
    tensor([[1.0000, 0.3183],
            [0.3183, 1.0000]], dtype=torch.float64)
    """
    if dense.covers(plan):
        return dense.CompiledChain(plan) if _numba_is_installed() else None
    planes = images.lower(plan)
    return pairs.CompiledImages(planes) if planes is not None and _numba_is_installed() else None


def loops_are_faster(plan: LimitPlan, loops: CompiledPlan) -> bool:
    """Whether compiled loops in memory are faster than torch for this network.

    They are not for convolutions with activations such as GELU or SiLU, of which they sum long power series for each
    pair of pixels, unless images are so large that torch works outside the processor's caches.

    >>> from gnomon.program.laws import InitializationLaw
    >>> net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GELU(), nn.Flatten(), nn.Linear(64, 1))
    >>> made = PlanCache(net, InitializationLaw(1.0), standard=True).plan(torch.zeros(2, 1, 6, 6))
    >>> loops_are_faster(made, compiled_loops(made))
    False
    """
    if not isinstance(loops, pairs.CompiledImages):
        return True
    duals = [rule.dual for rule in plan.rules if isinstance(rule, ActivationRule)]
    inner = [dual.inner if isinstance(dual, ScaledDual) else dual for dual in duals]
    return all(isinstance(dual, ReLU | LeakyReLU | Erf | Sign) for dual in inner) or (
        plan.activation_entries() > SHORT_LAYER_ENTRIES * len(duals)
    )


@cache
def torch_seconds_so_far() -> dict[tuple[LoopType, ...], float]:
    """Returns the estimated seconds that torch has spent in this process on kernels, by the loops that would do it.

    >>> torch_seconds_so_far() is torch_seconds_so_far()
    True
    """
    return {}


@cache
def _numba_is_installed() -> bool:
    """Whether numba is installed; warns once if it is not."""
    if find_spec("numba") is not None:
        return True
    what = "numba is not installed, so kernels are computed by torch, 10 to 100 times slower"
    warnings.warn(f"{what}. Install numba to speed them up", stacklevel=2)
    return False


@dataclass(slots=True)
class PlanCache:
    """Caches the kernel formulas chosen for one module and one initialization, by input shape.

    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> cache = PlanCache(net, "torch", standard=True)
    >>> first = cache.plan(torch.zeros(3, 2))
    >>> cache.plan(torch.ones(3, 2)) is first
    True
    >>> net[1] = nn.Tanh()
    >>> cache.plan(torch.ones(3, 2)) is first
    False
    """

    net: nn.Module
    init: Init
    standard: bool
    _seen: "_Snapshot | None" = None
    _prepared: dict[tuple[Any, ...], Prepared] = field(default_factory=dict)
    _duals: dict[Any, AbstractDual] = field(default_factory=dict)
    torch_seconds: dict[tuple[LoopType, ...], float] = field(default_factory=torch_seconds_so_far, repr=False)

    def plan(self, x: Tensor) -> LimitPlan:
        """Returns the kernel formula of each layer for inputs like x; only the shape of x matters."""
        return self.prepare(x).plan

    def prepare(self, x: Tensor) -> Prepared:
        """Returns the kernel formula of each layer for inputs like x, with compiled loops if they support the
        network.
        """
        if self.init == "measured":  # Not cached, because any weight may have changed since the last call.
            return self._prepare(x)
        now = _Snapshot.of(self.net)
        if self._seen is None or not now.same(self._seen):
            self._seen = now
            self._prepared.clear()
            self._duals.clear()
        key = (tuple(x.shape), x.device)
        if key not in self._prepared:
            while len(self._prepared) >= MAX_PLANS:
                del self._prepared[next(iter(self._prepared))]
            self._prepared[key] = self._prepare(x)
        return self._prepared[key]

    def engine(
        self, points: tuple[Tensor, Tensor], dtype: torch.dtype, *, compiled: bool | None, tentative: bool = False
    ) -> Prepared:
        """Decides whether compiled loops or torch compute the kernel of these points; compiled loops if they save time.

        Torch computes kernels until that has taken about as long, in all kernels of this process, as loading or
        compiling loops takes. Long before, another process begins to compile the loops, so that the kernels after
        that only load them. The times are estimates from sizes, so they do not depend on the machine. ``tentative``
        calls do not count and compile nothing. ``compiled`` forces the choice.
        """
        prepared = self.prepare(points[0])
        if prepared.compiled is None or compiled is True or not accepts_points(points, dtype):
            return prepared
        if compiled is False or not loops_are_faster(prepared.plan, prepared.compiled):
            return Prepared(prepared.plan, None)
        if prepared.compiled.is_loaded(dtype):
            return prepared
        if not self._are_loops_faster(prepared, points, dtype, tentative=tentative):
            return Prepared(prepared.plan, None)
        return prepared

    def _are_loops_faster(
        self, prepared: Prepared, points: tuple[Tensor, Tensor], dtype: torch.dtype, *, tentative: bool
    ) -> bool:
        """Whether torch would take longer, in all, than loading or compiling the loops that are not in memory."""
        assert prepared.compiled is not None  # Callers choose between torch and loops only if there are loops.
        loops, compiler = prepared.compiled.loops(dtype), background_compiler()
        own = torch_seconds(prepared.plan, len(points[0]), len(points[1]))
        seconds = self.torch_seconds.get(loops, 0.0) + own
        wait = 0.0
        if seconds > LOAD_SECONDS:
            wait = prepared.compiled.compile_seconds(dtype)
            # What another process is compiling already is compiled here only for a kernel that is very large.
            if (own if compiler.is_running() else seconds) > wait:
                return True
        if not tentative:
            self.torch_seconds[loops] = seconds
            if seconds > BACKGROUND_SECONDS and (wait > 0 or not prepared.compiled.is_compiled_code_cached()):
                compiler.request(loops)
        return False

    def __reduce__(self) -> tuple[Any, ...]:
        """Leaves out cached kernel formulas when pickled; another process reads the module again."""
        return PlanCache, (self.net, self.init, self.standard)

    def _prepare(self, x: Tensor) -> Prepared:
        made = plan(read_program(self.net, x), self.net, self.init, standard=self.standard, duals=self._duals)
        return Prepared(made, compiled_loops(made))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All properties of a module on which its kernel formulas depend, kept to notice when the module changes."""

    objects: tuple[Any, ...]
    plain: tuple[Any, ...]
    values: tuple[Tensor, ...]

    @staticmethod
    def of(net: nn.Module) -> "_Snapshot":
        objects: list[Any] = list(global_hooks())
        plain: list[Any] = []
        values: list[Tensor] = []
        for name, module in net.named_modules():
            plain.append(name)
            objects += (module, type(module), type(module).forward)
            for key, value in vars(module).items():
                if isinstance(value, PLAIN):
                    plain += (key, value)
                elif key in ("_parameters", "_buffers"):
                    for tensor in value.values():
                        _tensor(tensor, objects, plain, values)
                elif isinstance(value, Tensor):
                    _tensor(value, objects, plain, values)
                elif isinstance(value, dict | list | tuple | set):
                    if value and key != "_modules":
                        plain += (key, repr(value))
                else:
                    objects.append(value)
        return _Snapshot(tuple(objects), tuple(plain), tuple(values))

    def same(self, other: "_Snapshot") -> bool:
        return (
            len(self.objects) == len(other.objects)
            and all(a is b for a, b in zip(self.objects, other.objects, strict=True))
            and self.plain == other.plain
            and all(torch.equal(a, b) for a, b in zip(self.values, other.values, strict=True))
        )


def _tensor(tensor: Tensor | None, objects: list[Any], plain: list[Any], values: list[Tensor]) -> None:
    objects.append(tensor)
    if tensor is not None:
        plain += (tensor._version, tensor.shape, tensor.requires_grad)
        if tensor.numel() <= MAX_COMPARED_ENTRIES and not tensor.is_meta:
            values.append(tensor.detach().clone())
