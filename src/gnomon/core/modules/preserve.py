"""Restores a user's module after use: mode, weights, buffers, gradients and hooks; restores torch's random state too.

>>> import torch
>>> net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
>>> with preserve(net):
...     net.training, net[1].training
(False, False)
>>> net.training, net[1].training
(True, True)
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from operator import is_
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gnomon.core.modules.kernels import use_differentiable_layers

__all__ = ["ModuleMode", "preserve", "random_state", "seed_generators", "set_mode"]

ModuleMode = Literal["eval", "train"]
"""Mode of a module, as in ``module.eval()`` and ``module.train()``."""

HOOKS = tuple(name for name, value in vars(nn.Module()).items() if "hooks" in name and isinstance(value, dict))
"""Attributes in which torch keeps the hooks of a module."""


@contextmanager
def preserve(
    module: nn.Module,
    *,
    mode: ModuleMode | None = "eval",
    grad: bool = True,
    seed: int | None = None,
    weights: bool = False,
    all_derivatives: bool = False,
) -> Iterator[None]:
    """Context manager that restores a module's mode, weights, buffers and gradients at the end, even after an error.

    Restores the mode of each part, buffers, gradients, attributes, hooks, parameters as objects, and the random states
    of torch, numpy and Python. Autocast and inference mode are off inside.

    Args:
        module: the module to restore.
        mode: mode of all parts inside; None leaves each part in its own mode.
        grad: whether gradients are recorded inside.
        seed: random seed of torch inside; None continues with the caller's random numbers.
        weights: whether the values of the parameters are restored as well, and whether they require gradients.
        all_derivatives: whether layers run in plain forms that have every derivative, see `use_differentiable_layers`.

    Cost: a copy of the buffers and, with ``weights``, of the parameters.

    >>> net, before = nn.BatchNorm1d(2), torch.get_rng_state()
    >>> with preserve(net):
    ...     net.running_mean += torch.rand(2)
    >>> net.running_mean.tolist(), bool((before == torch.get_rng_state()).all())
    ([0.0, 0.0], True)
    """
    python_state, numpy_state = random.getstate(), np.random.get_state()
    saved = _Saved(module, weights=weights)
    try:
        with ExitStack() as stack:
            stack.enter_context(random_state(seed))
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.set_grad_enabled(grad))
            if mode is not None:
                stack.enter_context(set_mode(module, mode))
            stack.enter_context(torch.autocast(saved.device, enabled=False))
            if all_derivatives:
                stack.enter_context(use_differentiable_layers(module))
            yield
    finally:
        saved.restore()
        np.random.set_state(numpy_state)
        random.setstate(python_state)


@contextmanager
def set_mode(module: nn.Module, mode: ModuleMode) -> Iterator[None]:
    """Context manager that sets all submodules to train or eval mode, and restores the mode of each at the end.

    Cost: a walk over the parts of the module.

    >>> net = nn.Sequential(nn.Dropout(), nn.Linear(1, 1))
    >>> with set_mode(net, "eval"):
    ...     net.training, net[0].training
    (False, False)
    >>> net[0].training
    True
    """
    modes = [(part, part.training) for part in module.modules()]
    for part, _ in modes:
        # Sets the attribute without nn.Module's own assignment, which searches the parameters first and is slow.
        object.__setattr__(part, "training", mode == "train")
    try:
        yield
    finally:
        for part, before in modes:
            object.__setattr__(part, "training", before)


@contextmanager
def random_state(seed: int | None = None) -> Iterator[None]:
    """Context manager that seeds torch's random generators, and restores their states at the end.

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
            seed_generators(seed)
        yield
    finally:
        torch.set_rng_state(state)
        if devices is not None:
            torch.cuda.set_rng_state_all(devices)


def seed_generators(seed: int) -> None:
    """Seeds torch's random generators on the CPU and on the accelerator, if there is one.

    Without an accelerator, ``torch.manual_seed`` stores a formatted stack trace for each kind of accelerator at every
    call: this takes milliseconds and memory that is never freed.

    >>> seed_generators(0)
    >>> first = torch.rand(1)
    >>> seed_generators(0)
    >>> bool(torch.rand(1) == first)
    True
    """
    if torch.accelerator.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


class _Saved:
    """Stores the complete state of a module, and restores it later."""

    def __init__(self, module: nn.Module, *, weights: bool) -> None:
        parts = list(module.modules())
        self.attributes = [(vars(part), dict(vars(part))) for part in parts]
        self.tables = [(table, dict(table)) for part in parts for table in _tables(part)]
        # One walk over the parts: module.buffers() and module.parameters() would each take another.
        buffers, parameters = (
            _distinct(tables) for tables in ([p._buffers for p in parts], [p._parameters for p in parts])
        )
        copied = [t for t in (*buffers, *(parameters if weights else ())) if not (t.is_inference() or is_lazy(t))]
        self.grads = [(p, p.grad) for p in parameters]
        self.required = [(p, p.requires_grad) for p in parameters] if weights else []
        self.values = [(t, t._version, t.detach().clone()) for t in copied]
        kind = parameters[0].device.type if parameters else "cpu"
        self.device = "cpu" if kind == "meta" else kind  # torch.autocast does not know the device 'meta'; uses cpu.

    def restore(self) -> None:
        for now, before in self.attributes:
            _restore_dict(now, before)
        for table, before in self.tables:
            if (table or before) and not _is_unchanged(table, before):
                table.clear()
                table.update(before)
        _rewrite(self.values)
        for p, required in self.required:
            if p.requires_grad != required:
                p.requires_grad_(required)
        for p, grad in self.grads:
            if p.grad is not grad:
                p.grad = grad


def _distinct(tables: Sequence[Mapping[str, Tensor | None]]) -> list[Tensor]:
    """Returns the tensors of several tables, each once."""
    found = {id(t): t for table in tables for t in table.values() if t is not None}
    return list(found.values())


def _tables(part: nn.Module) -> Iterator[dict[Any, Any]]:
    own = vars(part)
    yield from (table for table in (part._parameters, part._buffers, part._modules) if isinstance(table, dict))
    yield from (own[name] for name in HOOKS if name in own)


def _is_unchanged(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether a dict holds the same objects in the same order as before; most dicts of a module do, so this is fast."""
    return len(now) == len(before) and all(map(is_, now, before)) and all(map(is_, now.values(), before.values()))


def _restore_dict(now: dict[str, object], before: dict[str, object]) -> None:
    if _is_unchanged(now, before):
        return
    for key in now.keys() - before.keys():
        del now[key]
    for key, value in before.items():
        if now.get(key, now) is not value:
            now[key] = value


@torch.no_grad()
def _rewrite(values: list[tuple[Tensor, int, Tensor]]) -> None:
    for now, version, before in values:
        # Compares values in addition to versions, because batch norm changes its buffers without a new version number.
        if now._version != version or not torch.equal(now, before):
            now.copy_(before)
