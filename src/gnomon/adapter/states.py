"""Adapts recurrent models that require an initial hidden state, and models whose inputs have time as the first
dimension.

>>> class Words(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.words, self.rnn = nn.Embedding(5, 3), nn.RNN(3, 5)
...     def forward(self, words, hidden):
...         out, hidden = self.rnn(self.words(words), hidden)
...         return out.reshape(-1, 5), hidden
>>> words = torch.randint(0, 5, (7, 4))                       # 7 steps of 4 texts
>>> net, (x, y) = adapt_text_columns(Words(), [(words, words.flatten())])
>>> x.shape, y.shape, net(x).shape
(torch.Size([4, 7]), torch.Size([4, 7]), torch.Size([4, 7, 5]))
"""

import inspect
from collections import Counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from gnomon.adapter.view import ModuleView
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve

__all__ = ["adapt_text_columns", "texts_per_batch", "with_initial_hidden_state"]

STATE_ARGUMENTS = ("hidden", "state", "states", "hx", "h0", "hidden_state")
"""Names of arguments of ``forward`` that take the state of a recurrent network."""
STATE_METHODS = ("init_hidden", "initial_state", "init_state", "zero_state")
"""Names of methods that return the first state for a number of examples."""


class StateView(ModuleView):
    """Wraps a recurrent module so that it gets its initial hidden state in each call; ``axis`` is the batch dimension
    of inputs.
    """

    def __init__(self, module: nn.Module, axis: int) -> None:
        super().__init__(module)
        self.axis = axis

    def forward(self, *args: Any) -> Any:
        """Calls the wrapped module with the initial hidden state; returns its outputs and last hidden state."""
        module = self.module_of_view
        method = next((name for name in STATE_METHODS if hasattr(module, name)), None)
        first = None if method is None else getattr(module, method)(args[0].shape[self.axis])
        return module(*args, first)


class ColumnsView(ModuleView):
    """Wraps a module that expects one text per column: takes one text per row instead, shape (examples, positions).

    ``axis`` counts examples in the inputs of the module.
    """

    def __init__(self, module: nn.Module, axis: int) -> None:
        super().__init__(module)
        self.axis = axis

    def forward(self, x: Tensor) -> Tensor:
        """Transposes inputs with one text per row, runs the wrapped module, and returns outputs with one text per
        row.
        """
        given = x.transpose(0, 1) if self.axis else x
        found = output_tensor(self.module_of_view(given))
        rows = found.reshape(given.shape[0], given.shape[1], -1)
        return rows.transpose(0, 1) if self.axis else rows


def with_initial_hidden_state(module: nn.Module, x: Any) -> nn.Module:
    """Wraps a recurrent module so that it gets its initial hidden state; returns the module unchanged if it needs none.

    Cost: one or two forward passes if there is such an argument.

    >>> with_initial_hidden_state(nn.Linear(1, 1), torch.zeros(1, 1))
    Linear(in_features=1, out_features=1, bias=True)
    """
    args = x if isinstance(x, tuple) else (x,)
    if not all(isinstance(t, Tensor) and t.dim() > 1 for t in args):
        return module
    try:
        arguments = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):  # Modules traced by torch.jit have no signature.
        return module
    required = [p.name for p in arguments if p.default is p.empty]
    if len(required) != len(args) + 1 or required[-1] not in STATE_ARGUMENTS:
        return module
    for axis in (0, 1):
        view = StateView(module, axis)
        if _runs(view, args):
            return view
    return module


def adapt_text_columns(module: nn.Module, *data: Any) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Wraps a module that expects one text per column, and transposes its data to one text per row; None for other
    data.

    Data are batches (x, y) with x (a, b) and y (a b), one target for each place of x in its order. Which axis counts
    texts is found by changing one text: the outputs of all others stay as they are.
    Cost: two forward passes and a copy of the data.

    >>> adapt_text_columns(nn.Linear(1, 1), (torch.zeros(3, 1), torch.zeros(3))) is None
    True
    """
    batches = _flat_batches(data[0]) if data else None
    if batches is None:
        return None
    x = batches[0][0]
    inner = with_initial_hidden_state(module, x)
    axis = next((axis for axis in (1, 0) if _independent(inner, x, axis)), None)
    if axis is None:
        return None
    found = [None if part is None else _rows(_flat_batches(part) or [], axis) for part in data]
    return ColumnsView(inner, axis), *found


def texts_per_batch(view: nn.Module, data: Any) -> int | None:
    """Returns the number of texts in the first batch, for data whose texts are stored in columns.

    >>> texts_per_batch(ColumnsView(nn.Identity(), 1), [(torch.zeros(7, 4), torch.zeros(28))])
    4
    """
    batches = _flat_batches(data)
    return batches[0][0].shape[view.axis] if batches and isinstance(view, ColumnsView) else None


def _flat_batches(data: Any) -> list[tuple[Tensor, Tensor]] | None:
    """Returns batches whose inputs are a matrix and whose targets are flattened, one per entry of the matrix; None for
    other data.
    """
    if isinstance(data, tuple):
        data = [data]
    if not isinstance(data, list | DataLoader) or not _has_batches(data):
        return None
    first = next(iter(data))
    if not (isinstance(first, tuple | list) and len(first) == 2 and all(isinstance(t, Tensor) for t in first)):
        return None
    x, y = first
    if x.is_nested or y.is_nested:
        return None
    flat = x.dim() == 2 and y.dim() == 1 and len(y) == x.numel() and len(y) != len(x)
    return [(a, b) for a, b in data] if flat else None


def _has_batches(data: Any) -> bool:
    """Checks whether the data consist of at least one batch; returns False for streams, which have no length."""
    try:
        return len(data) > 0
    except TypeError:
        return False


def _rows(batches: list[tuple[Tensor, Tensor]], axis: int) -> tuple[Tensor, Tensor]:
    """Joins batches of texts to one text per row, with targets; keeps only texts of the most common length."""
    length = Counter(x.shape[1 - axis] for x, _ in batches).most_common(1)[0][0]
    kept = [(x, y.reshape(x.shape)) for x, y in batches if x.shape[1 - axis] == length]
    rows = [(x.T, y.T) if axis else (x, y) for x, y in kept]
    return torch.cat([x for x, _ in rows]), torch.cat([y for _, y in rows])


def _independent(module: nn.Module, x: Tensor, axis: int) -> bool:
    """Checks whether a module processes texts separately: changing one text must not change the outputs of the
    others.
    """
    if x.shape[axis] < 2:
        return False
    changed = x.clone()
    one = changed.select(axis, 0)
    one.copy_(one.roll(1) if one.is_floating_point() else (one + 1) % (int(x.max()) + 1))
    with preserve(module, grad=False, seed=0):
        try:
            first, second = (output_tensor(module(part)).reshape(*x.shape, -1) for part in (x, changed))
        except (RuntimeError, TypeError, ValueError, IndexError):
            return False
    same = torch.isclose(first, second, rtol=1e-4, atol=1e-5).all(-1).transpose(0, axis)
    return bool(same[1:].all()) and not bool(same[0].all())


def _runs(module: nn.Module, args: tuple[Tensor, ...]) -> bool:
    try:
        with preserve(module, grad=False, seed=0):
            module(*args)
    except Exception:  # The user's module may raise any error if the state has a shape that it does not accept.
        return False
    return True
