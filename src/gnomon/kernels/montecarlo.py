"""Estimates NNGP and NTK kernels by averaging over newly initialized copies of a module, with standard errors.

    NNGP ~ mean over copies of f(x) f(x')              NTK ~ mean over copies of grad f(x) . grad f(x')        (1)
    standard error = standard deviation over copies / sqrt(draws)                                            (2)

Both are averaged over the outputs: the NTK over all of them, or if there are many over one random combination of
outputs for each copy, whose mean is the same,

    NTK ~ mean over copies of grad (s . f(x)) . grad (s . f(x')) / k,    s = +-1 at random                    (3)

This needs no limit to exist: it takes MaxPool, BatchNorm, softmax, recurrence.
Reference of (3): [mohamadi2023fast].
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_inputs
from gnomon.adapter.graphs import list_graphs
from gnomon.core.errors import InputError, NotFiniteError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, take_examples
from gnomon.core.inputs.batch import join_batches
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_seed
from gnomon.core.inputs.source import as_input_source
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import LINEAR_OR_CONVOLUTION
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import seed_generators
from gnomon.core.modules.run import run_module
from gnomon.core.modules.wrappers import inner_module
from gnomon.core.results.record import Record
from gnomon.kernels.inputs import points, second, takes_tokens
from gnomon.kernels.options import Parametrization, check_options
from gnomon.kernels.record import Kernels
from gnomon.kernels.widen import widen_layers
from gnomon.program.laws import Init, InitializationLaw, torch_initialization_law
from gnomon.program.trace import REPARAMETRIZATION_HOOKS

MAX_OUTPUTS_ONE_BY_ONE = 64
"""Outputs whose gradients are computed one by one; more outputs are combined at random, equation (3)."""

SMALLEST_RELATIVE_ERROR = 1e-7
"""Relative standard error below which all draws are the same network: rounding in single precision makes as much."""

Build = Callable[[], nn.Module]
"""A function that builds a module with random weights."""


@add_call_to_errors
def sampled_limit(
    module: nn.Module | Build,
    *,
    init: Init = "torch",
    parametrization: Parametrization = "standard",
    dtype: torch.dtype = torch.float64,
    draws: int = 64,
    width: int | None = None,
    seed: int = 0,
) -> "SampledLimit":
    """Returns an object that estimates NNGP and NTK kernels of any module, by averaging over newly initialized copies.

    Args:
        module: the module; it is neither run nor changed, copies of it are. Or a function that builds a module: each
            draw is what it builds, in eval mode, with the initialization of its own. This takes any module.
        init: as for ``limit``.
        parametrization: as for ``limit``.
        dtype: of the result.
        draws: copies to average over.
        width: widens all hidden layers of the copies to at least that many units; None keeps the module as it is.
        seed: of the draws.

    Hypotheses: as for `SampledLimit`.
    Reference: [novak2019bayesian].
    Cost: for each copy one forward pass, and one backward pass per input and output (at most 64 outputs; of more, one
    random combination).

    >>> net = nn.Sequential(nn.Linear(2, 64), nn.MaxPool1d(2), nn.Linear(32, 1))
    >>> sampled_limit(net, draws=4).ntk(torch.eye(2)).shape
    torch.Size([2, 2])
    """
    check_options(parametrization, dtype)
    return SampledLimit(module, init, parametrization == "standard", dtype, draws, width, seed)


@dataclass(frozen=True, slots=True)
class SampledLimit(Record):
    """Kernels estimated by averaging over ``draws`` newly initialized copies of a module; made by
    ``gnomon.sampled_limit``.

    Inputs are a tensor, a tuple of arguments, a dict of named arguments, or graphs.
    Hypotheses: the module has ``reset_parameters`` wherever it has parameters (all layers of torch.nn do), or a law is
    given for its Linear and Conv layers, or it is a function that builds modules.
    Cost: for each copy one forward pass and one backward pass per input and output; the memory of one Jacobian of one
    output, (n1 + n2) x parameters.

    >>> net = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
    >>> k = SampledLimit(net, draws=16)(torch.eye(2))
    >>> bool((k.ntk_error > 0).all())
    True
    """

    module: nn.Module | Build
    init: Init = "torch"
    standard: bool = True
    dtype: torch.dtype = torch.float64
    draws: int = 64
    width: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises an error if a setting of the kernel estimate has the wrong type or range."""
        if isinstance(self.module, nn.Module):
            object.__setattr__(self, "module", inner_module(self.module))
        if isinstance(self.module, nn.Module) or not callable(self.module):
            check_module_is_callable(self.module)
        elif self.init != "torch" or not self.standard or self.width is not None:
            found = "init, parametrization or width is given with a function that builds the module"
            raise InputError(
                found, accepted="the function alone", fix="Set the initialization and width inside that function"
            )
        draws = check_integer("draws", self.draws, least=2)  # A standard error needs at least two random draws.
        width = None if self.width is None else check_integer("width", self.width)
        for name, value in (("draws", draws), ("width", width), ("seed", check_seed(self.seed))):
            object.__setattr__(self, name, value)
        if isinstance(self.module, nn.Module) and any(p.is_meta for p in self.module.parameters()):
            fix = "Build the module on a real device"
            raise InputError("the parameters have no values (device 'meta')", accepted="a module with values", fix=fix)

    @add_call_to_errors("sampled_limit(module).nngp(x)")
    def nngp(self, x1: Any, x2: Any = None) -> Tensor:
        """Returns the NNGP kernel estimated from newly initialized copies; ``__call__`` also gives its standard
        error.
        """
        return self(x1, x2).nngp

    @add_call_to_errors("sampled_limit(module).ntk(x)")
    def ntk(self, x1: Any, x2: Any = None) -> Tensor:
        """Returns the NTK estimated from newly initialized copies; ``__call__`` also gives its standard error."""
        result = self(x1, x2).ntk
        assert result is not None  # always estimated
        return result

    @add_call_to_errors("sampled_limit(module)(x)")
    def __call__(self, x1: Any, x2: Any = None) -> Kernels:
        """Returns the NNGP and NTK kernels, estimated from newly initialized copies, with their standard errors.

        See equations (1) and (2) of the module docstring.
        """
        module = self.module if isinstance(self.module, nn.Module) else self.module()
        inputs, batch = _join(module, x1, x2)
        first = next(input_tensors(batch))
        real = next(
            (t for t in input_tensors(batch) if t.is_floating_point()), first.new_zeros((), dtype=torch.float64)
        )
        prepared = None if module is not self.module else copy_module(module).to(real)
        # The weights' variances are measured before the loop, because drawing new weights overwrites them.
        laws = _measure(prepared) if self.init == "measured" and prepared is not None else self.init
        if self.width is not None and prepared is not None:
            prepared = widen_layers(prepared, take_examples(batch, slice(0, 2)), self.width)
        columns = slice(0, None) if x2 is None else slice(inputs, None)
        mean, spread = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
        devices = [first.device] if first.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            for i in range(self.draws):
                seed_generators(self.seed + i)
                if prepared is None:
                    net, scales = self.module().to(real).eval(), {}
                else:
                    net = prepared
                    scales = _initialize(net, laws, standard=self.standard, keep=self.init == "measured")
                draw = _kernels(_adapt(net, x1), batch, scales)[:, :inputs, columns]
                delta = draw - mean  # Welford's update gives mean and squared spread without storing all draws.
                mean = mean + delta / (i + 1)
                spread = spread + delta * (draw - mean)
        error = (spread / (self.draws - 1)).sqrt() / sqrt(self.draws)  # (2)
        if prepared is None and bool((error <= SMALLEST_RELATIVE_ERROR * mean.abs()).all()):
            found, fix = "the function builds the same network at every call", "Set no random seed inside the function"
            raise InputError(found, accepted="networks with random weights", fix=fix)
        if not bool(torch.isfinite(mean).all()):
            raise NotFiniteError(
                "the outputs or gradients of a randomly initialized copy are not finite",
                accepted="finite outputs",
                fix="Use smaller inputs or smaller initial weights",
            )
        result = [t.to(self.dtype) for t in (*mean, *error)]
        return Kernels(*result)


def _measure(net: nn.Module) -> dict[str, InitializationLaw]:
    """Returns the root mean squares of the current weights and biases of each layer, by the path of the layer."""
    found = {}
    for path, module in net.named_modules():
        if isinstance(module, LINEAR_OR_CONVOLUTION):
            rms = [0.0 if t is None else float(t.detach().square().mean().sqrt()) for t in (module.weight, module.bias)]
            found[path] = InitializationLaw(rms[0] * sqrt(module.weight[0].numel()), rms[1])
    return found


def _initialize(net: nn.Module, init: Init, *, standard: bool, keep: bool) -> dict[str, float]:
    """Draws all parameters of a network anew; returns the squared scale of each parameter in the NTK parametrization.

    With ``keep`` a module that cannot be drawn stays as it is.
    """
    scales: dict[str, float] = {}
    for path, module in net.named_modules():
        own = dict(module.named_parameters(recurse=False))
        if not own:
            continue
        if any(isinstance(hook, REPARAMETRIZATION_HOOKS) for hook in module._forward_pre_hooks.values()):
            found = f"'{path}' ({type(module).__name__}) computes its weight from others (weight_norm, spectral_norm)"
            fix = "Remove it: torch.nn.utils.remove_weight_norm or remove_spectral_norm"
            raise InputError(found, accepted="layers whose weights can be drawn", fix=fix)
        if isinstance(module, LINEAR_OR_CONVOLUTION) and init != "torch":
            _draw(module, _law(path, module, init))
        elif callable(getattr(module, "reset_parameters", None)):
            module.reset_parameters()
        elif callable(getattr(module, "_reset_parameters", None)):
            module._reset_parameters()
        elif not keep:
            names = ", ".join(f"'{path}.{n}'" if path else f"'{n}'" for n in own)
            raise InputError(
                f"{type(module).__name__} has parameters {names} and no reset_parameters()",
                accepted="a law for every parameter",
                fix="Pass a function that builds the module, or give the class a reset_parameters() method",
            )
        for name, tensor in own.items():
            scale = 1.0 if standard else _ntk_scale(path, module, name, init)
            scales[f"{path}.{name}" if path else name] = scale * tensor.requires_grad
    return scales


def _law(path: str, module: Any, init: Init) -> InitializationLaw:
    if isinstance(init, InitializationLaw):
        return init
    if init == "torch":
        return torch_initialization_law(module.weight[0].numel())
    if isinstance(init, str) or path not in init:
        raise InputError(
            f"init has no weight distribution (law) for '{path}'",
            accepted="a law for every affine layer",
            fix=f'Add "{path}" to init',
        )
    return init[path]


def _draw(module: Any, law: InitializationLaw) -> None:
    fan_in = module.weight[0].numel()
    with torch.no_grad():
        module.weight.normal_(0.0, law.weight_std / sqrt(fan_in))
        if module.bias is not None:
            module.bias.normal_(0.0, law.bias_std)


def _ntk_scale(path: str, module: Any, name: str, init: Init) -> float:
    """Returns the squared scale s^2 of a parameter written as s theta, if theta has variance one (NTK
    parametrization).
    """
    if not isinstance(module, LINEAR_OR_CONVOLUTION):
        if isinstance(getattr(module, name), nn.Parameter) and getattr(module, name).dim() < 2:
            return 1.0
        found = f"'{path}' ({type(module).__name__}) has weight matrices and is neither Linear nor Conv"
        raise InputError(
            found, accepted="Linear and Conv layers for the NTK parametrization", fix='Use parametrization="standard"'
        )
    law = _law(path, module, init)
    return law.weight_std**2 / module.weight[0].numel() if name == "weight" else law.bias_std**2


def _join(module: nn.Module, x1: Any, x2: Any) -> tuple[int, Inputs]:
    """Returns the number of inputs in the first set x1, and both sets joined to one batch."""
    if not _is_structured(x1):
        x = points(x1, "x1", tokens=takes_tokens(module)).detach()
        return len(x), x if x2 is None else torch.cat([x, second(x, x2).detach()])
    adapted = [adapt_inputs(module, x) for x in (x1, x2) if x is not None]
    parts = [as_input_source(x, view).whole() for view, x in adapted]
    return len(parts[0]), join_batches(parts).x


def _is_structured(x: Any) -> bool:
    """Returns whether inputs are named arguments, several arguments or graphs, and not one tensor."""
    several = isinstance(x, tuple) and any(isinstance(t, Tensor) and t.dim() for t in x)
    return isinstance(x, Mapping) or several or list_graphs(x) is not None


def _adapt(net: nn.Module, x: Any) -> nn.Module:
    """Wraps a network that takes several arguments, such that it accepts both input sets joined in one batch."""
    return adapt_inputs(net, x)[0] if _is_structured(x) else net


def _kernels(net: nn.Module, x: Inputs, scales: dict[str, float]) -> Tensor:
    """Returns NNGP and NTK of one finite network as (2, n, n), averaged over outputs, one Jacobian in memory at a
    time.
    """
    n = count_examples(x)
    out = run_module(net, x)
    out = out if isinstance(out, Tensor) else output_tensor(out)
    if out.shape[:1] != (n,):
        found = f"forward returns a tensor of shape {tuple(out.shape)} for {n} inputs"
        fix = "Wrap the module so that it returns one row for each input"
        raise InputError(found, accepted="a forward that returns (n, ...)", fix=fix)
    flat = out.reshape(n, -1)
    nngp = (flat.detach() @ flat.detach().T / flat.shape[1]).double()
    named = [(name, p) for name, p in net.named_parameters() if p.requires_grad and scales.get(name, 1.0) > 0]
    ntk = torch.zeros_like(nngp)
    if flat.shape[1] > MAX_OUTPUTS_ONE_BY_ONE:
        signs = torch.randint(0, 2, flat.shape[1:], device=flat.device).to(flat) * 2 - 1
        seen = (flat @ signs / sqrt(flat.shape[1]))[:, None]  # (3)
    else:
        seen = flat / sqrt(flat.shape[1])
    for k in range(seen.shape[1] if named else 0):  # Without trained parameters the NTK stays zero.
        rows = [
            torch.autograd.grad(seen[i, k], [p for _, p in named], retain_graph=True, allow_unused=True)
            for i in range(n)
        ]
        for j, (name, p) in enumerate(named):
            jacobian = torch.stack([(torch.zeros_like(p) if r[j] is None else r[j]).reshape(-1) for r in rows])
            ntk += scales.get(name, 1.0) * (jacobian @ jacobian.T).double()  # (1)
    return torch.stack([nngp, ntk])
