"""Computes the tangent kernel of a finite network at its current parameters.

For a network f(w, x) with k outputs and parameters w, the empirical neural tangent kernel is

    Theta(x, x')_{ab} = <d f_a(x) / d w, d f_b(x') / d w>                  (1)

The Jacobian (n x k x p) is never formed for operations that have a rule (`gnomon.tangent.rules`): one forward pass,
one backward pass per output that stops at the results of the layers, and per layer the cheaper of two products.

The computation goes one way: this file checks the input and makes a plan on three examples (`gnomon.tangent.plan`),
`gnomon.tangent.tiles` runs it tile by tile, and `gnomon.tangent.contract` computes the product of
each layer.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_inputs
from gnomon.adapter.fixed_noise import with_fixed_noise
from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs, count_examples, with_channels_last
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_type
from gnomon.core.inputs.source import all_inputs
from gnomon.core.machine.budget import limit_time
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction
from gnomon.tangent.block import ChangedGraph
from gnomon.tangent.checks import check_eval_mode, check_outputs, check_stable_buffers
from gnomon.tangent.plan import NTKPlan, as_one_layer, make_plan, without_terms
from gnomon.tangent.probe import Probe
from gnomon.tangent.tiles import Shares, SmallBatch, TiledKernel

__all__ = ["ntk", "ntk_by_layer"]

OUTPUTS = ("trace", "full", "diagonal", "pseudo")
Progress = Callable[[int, int], None]


@add_call_to_errors
@limit_time
def ntk(
    module: nn.Module,
    data: Any,
    other: Any = None,
    *,
    outputs: str = "trace",
    parameters: str | Sequence[str] | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> Float[Tensor, "n m *k"]:
    """Computes the empirical neural tangent kernel (NTK) of a module between two sets of examples.

        Theta(x, x')_{ab} = <d f_a(x) / d w, d f_b(x') / d w>                                              (1)
        "full"      (n, m, k, k)   Theta_{ab}
        "diagonal"  (n, m, k)      Theta_{aa}
        "trace"     (n, m)         mean_a Theta_{aa}
        "pseudo"    (n, m)         sum_{ab} Theta_{ab}, the kernel of the sum of the outputs

    ``parameters`` chooses by shell-style patterns on names (default: those that require gradients); ``memory`` bounds
    the bytes in use; ``progress(done, total)`` is called after each tile; after ``budget`` seconds the call raises a
    ``TimeLimitError``. At a terminal a kernel that takes long states its cost after the first pass. Inputs are a
    tensor, a tuple of arguments, a dict of named arguments, or a ``Dataset``, ``DataLoader`` or other iterable of
    batches, whose targets are not used; outputs of any shape (n, ...) are flattened to k. Without x2 the kernel of x1
    with itself is exactly symmetric. The module is left unchanged, also when an error is raised.

    Hypotheses: the output for one example is not random and does not depend on the other examples (else `InputError`).
    A module that samples Gaussian noise (a variational autoencoder) is measured for one fixed draw of the noise.
    Reference: [jacot2018neural]; "pseudo" is k times the pNTK of [mohamadi2023fast].
    Cost: one forward and k backward passes without weight gradients, and per layer the cheaper of n m T^2 (d + k o)
    and k d o (n T + n m) multiply-adds, for T positions, d inputs and o units.

    >>> import torch
    >>> net = nn.Linear(3, 2)
    >>> x = torch.randn(4, 3)
    >>> torch.allclose(ntk(net, x), x @ x.T + 1)               # f = W x + b: Theta = (x . x' + 1) identity
    True
    """
    shares = _shares(module, data, other, outputs, parameters, memory, progress, as_one_layer)
    return shares[""]


@add_call_to_errors
@limit_time
def ntk_by_layer(
    module: nn.Module,
    data: Any,
    other: Any = None,
    *,
    outputs: str = "trace",
    parameters: str | Sequence[str] | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> dict[str, Float[Tensor, "n m *k"]]:
    """Computes the contribution of each layer to the empirical neural tangent kernel; the contributions add up to
    `ntk`.

        Theta = sum_l Theta_l,    Theta_l(x, x')_{ab} = <d f_a(x) / d w_l, d f_b(x') / d w_l>              (1)

    Arguments are the same as for `ntk`.

    Hypotheses: as for `ntk`.
    Reference: [jacot2018neural].
    Cost: as for `ntk`, and memory for the result of each layer.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    >>> x = torch.randn(4, 3)
    >>> shares = ntk_by_layer(net, x)
    >>> sorted(shares), torch.allclose(shares["0"] + shares["2"], ntk(net, x))
    (['0', '2'], True)
    """
    return _shares(module, data, other, outputs, parameters, memory, progress, lambda plan: plan)


def _shares(
    module: nn.Module,
    x1: Any,
    x2: Any,
    outputs: str,
    parameters: str | Sequence[str] | None,
    memory: int | None,
    progress: Progress | None,
    grouped: Callable[[NTKPlan], NTKPlan],
) -> Shares:
    """Returns the tangent kernel as one contribution per layer; ``grouped`` decides which parameters form a layer."""
    if isinstance(module, nn.Module):
        x2 = None if x2 is None or x2 is x1 else adapt_inputs(module, x2)[1]
        module, x1 = adapt_inputs(module, x1)
    check_module_is_callable(module)
    if outputs not in OUTPUTS:
        raise out_of_range_error("outputs", f"one of {', '.join(OUTPUTS)}", outputs)
    memory = None if memory is None else check_integer("memory", memory)
    if progress is not None:
        check_type("progress", progress, Callable, fix="Pass a function of (done, total)")
    with preserve(module, mode=None):
        f = PureFunction.of(module, parameters)
        first = all_inputs(x1, module)
        second = None if x2 is None or x2 is x1 else all_inputs(x2, module)
        n, m = count_examples(first), count_examples(first if second is None else second)
        check_eval_mode(module)
        larger = first if second is None or n >= m else second
        probe, channels_last = _probe(f, larger)
        if probe.drew and (fixed := with_fixed_noise(module, larger)) is not module:
            return _shares(fixed, first, second, outputs, parameters, memory, progress, grouped)
        check_outputs(probe)
        check_stable_buffers(f, larger)
        plan = make_plan(probe)
        small = None if probe.single else SmallBatch(second is not None and m > n, probe.outputs.detach())
        del probe  # and its graph
        if channels_last:
            first, second = with_channels_last(first), None if second is None else with_channels_last(second)
        plans = (lambda: plan, lambda: make_plan(Probe(f, larger, shapes=False)), lambda: without_terms(f, plan))
        for attempt in plans:
            with suppress(ChangedGraph):
                return TiledKernel(f, grouped(attempt()), outputs, memory, progress, small).between(first, second)
        raise AssertionError("the plan must have at least one term")


def _probe(f: PureFunction, x: Inputs) -> tuple[Probe, bool]:
    """Runs the network on three examples, with images in channels-last layout if the module accepts it, for speed.

    Convolutions run faster so, and their neighborhoods are runs of channels; a module that calls ``view`` on an image
    may raise, and then gets its inputs as they came.
    """
    if any(isinstance(part, nn.Conv2d) for part in f.module.modules()):
        with suppress(InputError):
            return Probe(f, with_channels_last(x)), True
    return Probe(f, x), False
