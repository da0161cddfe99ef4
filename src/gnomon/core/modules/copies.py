"""Makes copies of a module that share no parameters with the original.

``copy.deepcopy`` copies a module but no functions. A module that keeps ``self.mlp = lambda x: block.proj(block.fc(x))``
therefore has copies that still run the layers of the original: training such a copy changes the original, and the
copy's own layers get no gradient. `copy_module` makes new functions that refer to the layers of the copy.

>>> import torch
>>> class Block(nn.Module):
...     def __init__(self):
...         super().__init__()
...         fc = self.fc = nn.Linear(2, 2)
...         self.run = lambda x: fc(x)
...     def forward(self, x):
...         return self.run(x)
>>> net, x = Block(), torch.ones(1, 2)
>>> copy = copy_module(net)
>>> _ = nn.init.zeros_(copy.fc.weight), nn.init.zeros_(copy.fc.bias)
>>> copy(x).tolist(), bool(net(x).any())
([[0.0, 0.0]], True)
"""

import copy
import functools
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from gnomon.core.errors import InputError

__all__ = ["copy_module", "copy_to_train", "names_of_shared_parameters"]

Memo = dict[int, Any]


def copy_module(module: nn.Module) -> nn.Module:
    """Copies a module so that the copy shares nothing with it, even if the module stores computed tensors or functions.

    ``torch.nn.utils.weight_norm`` keeps computed tensors. Functions that a module keeps, such as lambdas and hooks, are
    made anew if they refer to layers of the module.
    Cost: a copy of the parameters and buffers.

    >>> net = nn.Linear(2, 1)
    >>> copy_module(net).weight is net.weight
    False
    """
    values = (value for part in module.modules() for value in vars(part).values())
    memo: Memo = {id(t): t.detach().clone() for t in values if isinstance(t, Tensor) and t.grad_fn is not None}
    try:
        made = copy.deepcopy(module, memo)
        if made is not module:
            rebind = _Rebind(module, memo)
            for part in made.modules():
                rebind.attributes(vars(part))
            _copy_parameter_hooks(module, memo)
        return made
    except Exception as error:
        found = f"the module cannot be copied ({type(error).__name__}: {str(error)[:100]})"
        fix = "Make copy.deepcopy(module) work: store no open files, locks or autograd graphs in the module"
        raise InputError(found, accepted="a module that deepcopy copies", fix=fix) from error


def _copy_parameter_hooks(module: nn.Module, memo: Memo) -> None:
    """Copies the gradient hooks of a module's parameters to its copy, because deepcopy drops them."""
    for p in module.parameters():
        hooks, copied = p._backward_hooks, memo.get(id(p))
        if hooks and isinstance(copied, Tensor) and copied is not p:
            copied._backward_hooks = OrderedDict(hooks)


def copy_to_train(module: nn.Module) -> nn.Module:
    """Copies a module for training; the first forward pass raises an error if the copy still uses the original's
    parameters.

    Cost: a copy of the parameters and buffers.

    >>> import torch
    >>> copy_to_train(nn.Linear(2, 1))(torch.zeros(1, 2)).shape
    torch.Size([1, 1])
    """
    made = copy_module(module)
    # Scripted modules cannot have hooks. They contain all their code, so no check of the copy is needed.
    if not isinstance(made, torch.jit.ScriptModule):
        _check_first_pass(made, module)
    return made


def _check_first_pass(made: nn.Module, original: nn.Module) -> None:
    """Makes the first forward pass of a copy raise an error if the copy still uses layers of the original module."""
    recorded = _Recorded(_others(made, original))
    handles: list[RemovableHandle] = []

    def before(*_: Any) -> None:
        handles[0].remove()
        recorded.__enter__()

    def after(*_: Any) -> None:
        handles[1].remove()
        recorded.__exit__(None, None, None)
        shared = recorded.used_names()
        if shared:
            found = f"a copy of the module still uses {len(shared)} of its parameters, such as '{shared[0]}'"
            fix = "Use layers through self in forward, not through a global name or another object"
            raise InputError(found, accepted="a module that deepcopy copies", fix=fix)

    handles += [made.register_forward_pre_hook(before), made.register_forward_hook(after, always_call=True)]


def names_of_shared_parameters(made: nn.Module, original: nn.Module, forward: Callable[[], Any]) -> tuple[str, ...]:
    """Returns names of the original module's parameters that a forward pass of its copy uses; empty if the copy is
    independent.

    Cost: the forward pass.

    >>> import torch
    >>> net = nn.Linear(1, 1)
    >>> names_of_shared_parameters(net, nn.Linear(1, 1), lambda: net(torch.zeros(1, 1)))
    ()
    """
    with _Recorded(_others(made, original)) as recorded:
        forward()
    return recorded.used_names()


def _others(made: nn.Module, original: nn.Module) -> dict[str, Tensor]:
    own = {id(p) for p in made.parameters()}
    return {name: p for name, p in original.named_parameters() if id(p) not in own}


class _Rebind:
    """Rewrites functions that a copied module stores, so that they refer to the copy instead of the original module."""

    def __init__(self, module: nn.Module, memo: Memo) -> None:
        self.memo = memo
        self.visited: set[int] = set()
        self.own = {id(part) for part in module.modules()}
        self.own |= {id(t) for part in module.modules() for t in (*part._parameters.values(), *part._buffers.values())}
        self.own.discard(id(None))

    def attributes(self, values: dict[str, Any]) -> None:
        self.visited.add(id(values))
        for name, value in list(values.items()):
            changed = self.value(value)
            if changed is not value:
                values[name] = changed

    def value(self, value: Any) -> Any:
        """Replaces references to the original module in a value by references to its copy; returns other values
        unchanged.
        """
        if isinstance(value, types.FunctionType):
            return self.function(value) if self.refers(value, set()) else value
        if isinstance(value, weakref.ref) and id(value()) in self.own:
            return weakref.ref(self.memo[id(value())])
        if isinstance(value, functools.partial):
            function = self.value(value.func)
            return value if function is value.func else functools.partial(function, *value.args, **value.keywords)
        if isinstance(value, types.MethodType) and id(value.__self__) in self.own:
            return types.MethodType(value.__func__, self.memo[id(value.__self__)])
        if isinstance(value, dict) and id(value) not in self.visited:
            self.attributes(value)
        elif isinstance(value, list) and id(value) not in self.visited:
            self.visited.add(id(value))
            value[:] = [self.value(one) for one in value]
        elif type(value) is tuple:
            changed = tuple(self.value(one) for one in value)
            return value if all(a is b for a, b in zip(changed, value, strict=True)) else changed
        return value

    def refers(self, value: Any, seen: set[int]) -> bool:
        """Checks whether a function or container refers to the original module or one of its layers."""
        if id(value) in self.own:
            return True
        if id(value) in seen:
            return False
        seen.add(id(value))
        return any(self.refers(one, seen) for one in _contents(value))

    def function(self, old: types.FunctionType) -> types.FunctionType:
        if id(old) in self.memo:
            return self.memo[id(old)]
        cells = tuple(types.CellType() for _ in old.__closure__ or ())
        new = types.FunctionType(old.__code__, old.__globals__, old.__name__, None, cells or None)
        self.memo[id(old)] = new  # Stored before its closure is copied, because a function may refer to itself.
        new.__defaults__ = self.for_copy(old.__defaults__)
        new.__kwdefaults__ = self.for_copy(old.__kwdefaults__)
        new.__qualname__, new.__module__, new.__doc__ = old.__qualname__, old.__module__, old.__doc__
        vars(new).update(vars(old))
        for cell, before in zip(cells, old.__closure__ or (), strict=True):
            if not _is_empty(before):
                cell.cell_contents = self.for_copy(before.cell_contents)
        return new

    def for_copy(self, value: Any) -> Any:
        """Copies a value so that all its references to the original module become references to the copy."""
        return self.value(copy.deepcopy(value, self.memo)) if self.refers(value, set()) else value


class _Recorded(TorchFunctionMode):
    """Context manager that records which of some given tensors torch functions use in its block."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        super().__init__()
        self.tensors = tensors  # Keeping the tensors alive ensures that no new tensor gets the id of an old one.
        self.known, self.seen = {id(t) for t in tensors.values()}, set[int]()

    def used_names(self) -> tuple[str, ...]:
        return tuple(name for name, t in self.tensors.items() if id(t) in self.seen)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.update(id(t) for t in _flat((args, kwargs or {})) if id(t) in self.known)
        return func(*args, **(kwargs or {}))


def _flat(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))


def _contents(value: Any) -> Iterator[Any]:
    if isinstance(value, types.FunctionType):
        yield from (cell.cell_contents for cell in value.__closure__ or () if not _is_empty(cell))
        yield from (value.__defaults__, value.__kwdefaults__)
    elif isinstance(value, types.MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    elif isinstance(value, weakref.ref):
        yield value()
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, tuple | list | set | frozenset):
        yield from value


def _is_empty(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False
