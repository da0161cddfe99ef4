"""A module as a function of its parameters, and the promise to leave it as it was found.

The module is never written to: it is called with detached twins of its parameters and with copies of its buffers,
under the caller's random state, which is put back afterwards, also when an error is raised.

>>> import torch
>>> net = torch.nn.Linear(3, 2)
>>> with undisturbed(net):
...     f = Pure.of(net)
...     y = f(torch.zeros(4, 3))
>>> y.shape, net.weight.grad, list(f.leaves)
(torch.Size([4, 2]), None, ['weight', 'bias'])
"""

import copy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from gnomon.core.errors import InputError, NotFiniteError, lesson
from gnomon.core.inputs.arguments import Inputs, blamed, count, spread, table

__all__ = ["Pure", "check_finite", "evaluating", "plain_kernels", "random_state", "twin", "undisturbed"]


@dataclass(frozen=True, slots=True)
class Pure:
    """f(w, x): a module whose chosen parameters are leaves of the graph and whose other state is out of reach.

    ``call`` is what the caller called, for messages.
    """

    module: nn.Module
    leaves: dict[str, Tensor]
    others: dict[str, Tensor]
    call: str = "module(x)"

    @classmethod
    def of(cls, module: nn.Module, parameters: str | Sequence[str] | None = None, *, call: str = "module(x)") -> "Pure":
        """Choose parameters: those that require gradients, or those whose name matches a shell-style pattern.

        A pattern also takes frozen parameters: it names what to differentiate, not what is being trained.

        >>> list(Pure.of(nn.Linear(1, 1), "b*").leaves)
        ['bias']
        """
        named = dict(module.named_parameters())
        patterns = (parameters,) if isinstance(parameters, str) else parameters
        if patterns is not None and not (
            isinstance(patterns, Sequence) and all(isinstance(pattern, str) for pattern in patterns)
        ):
            cure = "Pass a pattern such as '*.weight', or a list of patterns"
            raise InputError(lesson(call, f"parameters is {parameters!r}"[:80], "names of parameters", cure))
        chosen = {
            name: p.detach().requires_grad_()
            for name, p in named.items()
            if (p.requires_grad if patterns is None else any(fnmatchcase(name, s) for s in patterns))
        }
        if not chosen:
            found = "no parameter requires a gradient" if patterns is None else f"no parameter matches {parameters!r}"
            cure = "Choose by name with parameters='*' or a pattern among: " + ", ".join([*named][:20])
            if not named:
                found, cure = "the module has no parameters", "Pass a module with layers that are trained"
            raise InputError(lesson(call, found, "a function of some parameter", cure))
        others = {name: p.detach() for name, p in named.items() if name not in chosen}
        return cls(module, chosen, others, call)

    def __call__(
        self, x: Inputs, leaves: dict[str, Tensor] | None = None, *, state: dict[str, Tensor] | None = None
    ) -> Tensor:
        """Outputs as an (n, k) matrix, whatever their shape (n, ...) was."""
        return table(self.returned(x, leaves, state=state), count(x), self.call)

    def returned(
        self, x: Inputs, leaves: dict[str, Tensor] | None = None, *, state: dict[str, Tensor] | None = None
    ) -> Any:
        """What the module returns, as it is; it may write into ``state``, by default copies of its buffers."""
        if state is None:
            state = {name: b.detach().clone() for name, b in self.module.named_buffers()}
        return self._run({**(self.leaves if leaves is None else leaves), **self.others, **state}, x)

    def _run(self, state: dict[str, Tensor], x: Inputs) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            return functional_call(self.module, state, args, kwargs)

        with blamed(self.module, x, call=self.call):
            return spread(run, x)


def twin(module: nn.Module, *, call: str) -> nn.Module:
    """A copy of a module, also of one that keeps computed tensors, as ``torch.nn.utils.weight_norm`` makes it do.

    Cost: a copy of the parameters and buffers.

    >>> net = nn.Linear(2, 1)
    >>> twin(net, call="linearize(module)").weight is net.weight
    False
    """
    values = (value for part in module.modules() for value in vars(part).values())
    made = {id(t): t.detach().clone() for t in values if isinstance(t, Tensor) and t.grad_fn is not None}
    try:
        return copy.deepcopy(module, made)
    except Exception as error:
        found = f"the module cannot be copied ({type(error).__name__}: {str(error)[:100]})"
        cure = "Let copy.deepcopy(module) work: keep no open files, locks or graphs in it"
        raise InputError(lesson(call, found, "a module that deepcopy copies", cure)) from error


@contextmanager
def evaluating(module: nn.Module, *, training: bool = False) -> Iterator[None]:
    """The module in eval mode, or all of it in training mode; afterwards each part is in the mode it was in.

    Cost: a walk over the parts of the module.

    >>> net = nn.Sequential(nn.Dropout(), nn.Linear(1, 1))
    >>> with evaluating(net):
    ...     net.training, net[0].training
    (False, False)
    >>> net[0].training
    True
    """
    modes = [(part, part.training) for part in module.modules()]
    for part, _ in modes:
        object.__setattr__(part, "training", training)  # past torch's search for parameters, which takes long
    try:
        yield
    finally:
        for part, mode in modes:
            object.__setattr__(part, "training", mode)


@contextmanager
def random_state(seed: int | None = None) -> Iterator[None]:
    """Torch's random states are put back at the end; inside they may start from a seed.

    Cost: a copy of the random states.

    >>> before = torch.get_rng_state()
    >>> with random_state(0):
    ...     _ = torch.rand(3)
    >>> bool((before == torch.get_rng_state()).all())
    True
    """
    state = torch.get_rng_state()
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    try:
        if seed is not None:
            torch.manual_seed(seed)
        yield
    finally:
        torch.set_rng_state(state)
        if devices is not None:
            torch.cuda.set_rng_state_all(devices)


@contextmanager
def undisturbed(module: nn.Module) -> Iterator[None]:
    """Gradients on inside; at the end torch's random states and the module's attributes are restored.

    Cost: a walk over the parts of the module, and a copy of the random states.

    >>> net, before = nn.Linear(1, 1), torch.get_rng_state()
    >>> with undisturbed(net):
    ...     net.note, _ = "written during the call", torch.rand(3)
    >>> bool((before == torch.get_rng_state()).all()), hasattr(net, "note")
    (True, False)
    """
    attributes = [(vars(part), dict(vars(part))) for part in module.modules()]
    try:
        with random_state(), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        for now, before in attributes:
            _restore(now, before)


@contextmanager
def plain_kernels(module: nn.Module) -> Iterator[None]:
    """Attention, recurrent and normalization layers in their plain forms, which have every derivative.

    The fused ones have no forward mode, or no second derivative, or, for layer norm, a wrong third one.

    Cost: that of the slower forms of these layers inside.

    >>> with plain_kernels(nn.Linear(1, 1)):
    ...     pass
    """
    with ExitStack() as stack:
        stack.enter_context(_PlainLayerNorm())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=".*torch.jit.script")  # torch's forward mode loads itself by it
        warnings.filterwarnings("ignore", message="TF32 acceleration")  # torch sets a flag it then warns about
        if any(isinstance(part, nn.RNNBase) for part in module.modules()):
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        yield


def check_finite(y: Tensor, start: int = 0, *, call: str = "module(x)") -> None:
    """Refuse outputs that are not finite, naming the first such example.

    Cost: one pass over y.

    >>> check_finite(torch.zeros(2, 1))
    """
    bad = ~torch.isfinite(y).all(dim=1)
    if bad.any():
        where = start + int(bad.nonzero()[0])
        found = f"the output for example {where} is not finite ({int(bad.sum())} such examples)"
        cure = "Look for NaN in the inputs or the weights, or lower the scale of the weights"
        raise NotFiniteError(lesson(call, found, "finite outputs", cure))


class _PlainLayerNorm(TorchFunctionMode):
    """Layer norm from its definition, instead of a kernel that saves mean and scale as if they were constants."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (_layer_norm if func is nn.functional.layer_norm else func)(*args, **(kwargs or {}))


def _layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    centered = input - input.mean(axes, keepdim=True)
    found = centered * (centered.square().mean(axes, keepdim=True) + eps).rsqrt()
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


def _restore(now: dict[str, object], before: dict[str, object]) -> None:
    for key in now.keys() - before.keys():
        del now[key]
    for key, value in before.items():
        if now.get(key, now) is not value:
            now[key] = value
