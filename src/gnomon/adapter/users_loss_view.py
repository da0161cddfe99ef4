"""Makes a user's loss a part of the module if outputs or targets are not one tensor with a row for each example.

Networks of reinforcement learning have several targets (actions and returns), normalizing flows return a distribution,
and spiking networks return one output for each time step, with the steps first. Only the user's loss can compare these.
A view of the module takes inputs and targets and returns the loss, so that everything else handles tensors.

>>> class Policy(nn.Linear):
...     def forward(self, x):
...         return super().forward(x).softmax(1), x.sum(1)
>>> def loss(outputs, targets):
...     return -outputs[0].gather(1, targets[0][:, None]).log().mean() + (outputs[1] - targets[1]).square().mean()
>>> data = torch.zeros(4, 3), (torch.zeros(4, dtype=torch.long), torch.zeros(4))
>>> view, (inputs, y) = adapt_users_loss(Policy(3, 2), loss, data)
>>> sorted(inputs), sorted(view(**inputs))
(['targets', 'x'], ['logits', 'loss'])
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.distributions import Distribution
from torch.utils.data import DataLoader

from gnomon.adapter.model_loss import LossView, loss_from_model_output
from gnomon.adapter.users_loss import call_user_loss
from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, take_examples, to_device_and_dtype_of
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import call_with_inputs, run_module

__all__ = ["NamedModelLoss", "adapt_users_loss", "is_pair_with_several_targets"]

EXAMPLES_TO_TRY = 3
"""Number of examples with which the form of outputs is determined; few networks have three outputs or steps."""
INPUTS_NAME = "x"
"""Name of the input of the view that holds the inputs of the network."""
TARGETS_NAME = "targets"
"""Name of the input of the view that holds the targets."""

Rows = Literal["outputs", "likelihoods"] | None
"""What has one row for each example: the first output, the log-probability of the targets, or nothing."""


class UsersLossView(ModuleView):
    """Wraps a module and the user's loss: takes inputs and targets, returns the loss and predictions if there are any.

    If the module returns a distribution, the predictions are the log-probabilities of the targets.
    """

    def __init__(self, module: nn.Module, loss: Callable[[Any, Any], Any], rows: Rows) -> None:
        super().__init__(module)
        # A loss can be a module with parameters, which must not become parameters of the network.
        vars(self)["users_loss"], vars(self)["rows"] = loss, rows

    def forward(self, **given: Any) -> dict[str, Tensor]:
        """Runs the wrapped module on the inputs, and returns the user's loss of its return value and the targets."""
        returned = call_with_inputs(self.module_of_view, given[INPUTS_NAME])
        found = {"loss": call_user_loss(vars(self)["users_loss"], returned, given[TARGETS_NAME])}
        if vars(self)["rows"] == "outputs":
            found["prediction"] = output_tensor(returned)
        elif vars(self)["rows"] == "likelihoods":
            found["prediction"] = returned.log_prob(given[TARGETS_NAME]).reshape(count_examples(given), -1)
        return found


class NamedModelLoss:
    """Returns the loss that a module computed, as `loss_from_model_output`, under the name of the user's loss.

    >>> NamedModelLoss("elbo").name
    'elbo'
    """

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = name

    def __call__(self, returned: Any, y: Tensor) -> Tensor:
        """Returns the loss in a module's return value."""
        return loss_from_model_output(returned, y)


def adapt_users_loss(
    module: nn.Module, loss: Callable[[Any, Any], Any], *data: Any
) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Wraps a module together with the user's loss, and adds the targets to its inputs; None if this is not needed.

    It is needed if the targets are a tuple or dict of tensors, or if the module returns a distribution or tensors in
    which no axis counts examples. The targets that remain are zeros, because only the loss knows what it compares.
    Cost: two forward passes on a few examples, and a copy of the data in memory.

    >>> adapt_users_loss(nn.Linear(1, 1), nn.MSELoss(), (torch.zeros(3, 1), torch.zeros(3, 1))) is None
    True
    """
    try:
        x, y = _first_inputs_and_targets(data[0])
        with preserve(module, grad=False, seed=0):
            returned = run_module(module, to_device_and_dtype_of(x, module))
    except InputError:
        return None  # The function that uses the data reports the error.
    if y is None or count_examples(x) != EXAMPLES_TO_TRY:
        return None
    rows = _rows_of(returned, y)
    if rows == "outputs" and isinstance(y, Tensor):
        return None  # One tensor of outputs and one of targets need no view.
    parts = [None if part is None else _with_targets_as_inputs(part) for part in data]
    return LossView(UsersLossView(module, loss, rows)), *parts


def _rows_of(returned: Any, y: Any) -> Rows:
    n = count_examples(y)
    if isinstance(returned, Distribution):
        chances = returned.log_prob(y) if isinstance(y, Tensor) else None
        return "likelihoods" if chances is not None and chances.dim() and len(chances) == n else None
    try:
        found = output_tensor(returned)
    except InputError:
        return None
    return "outputs" if found.dim() and len(found) == n else None


def _with_targets_as_inputs(part: Any) -> tuple[Inputs, Tensor]:
    x, y = _inputs_and_targets(part)
    return {INPUTS_NAME: x, TARGETS_NAME: y}, torch.zeros(count_examples(x), 1, dtype=torch.long)


def _first_inputs_and_targets(data: Any) -> tuple[Any, Any]:
    first: Any = next(iter(data), None) if isinstance(data, list | DataLoader) else data
    if is_pair_with_several_targets(data) or (first is not data and _has_several_targets(first)):
        return take_examples(first[0], slice(EXAMPLES_TO_TRY)), take_examples(first[1], slice(EXAMPLES_TO_TRY))
    few = data_source(data).first(EXAMPLES_TO_TRY)
    return few.x, few.y


def _inputs_and_targets(data: Any) -> tuple[Any, Any]:
    """Returns all inputs and all targets of some data; the targets may be tuples and dicts of tensors."""
    if is_pair_with_several_targets(data):
        return data[0], data[1]
    if isinstance(data, list | DataLoader) and _has_several_targets(next(iter(data), None)):
        pairs = list(data)
        return _concatenate([pair[0] for pair in pairs]), _concatenate([pair[1] for pair in pairs])
    whole = data_source(data).whole()
    return whole.x, whole.y


def is_pair_with_several_targets(data: Any) -> bool:
    """Checks whether data are a pair whose targets are a tuple or dict of tensors, with a row for each example.

    >>> x = torch.zeros(3, 1)
    >>> is_pair_with_several_targets((x, (x, x))), is_pair_with_several_targets((x, x))
    (True, False)
    """
    return isinstance(data, tuple) and _has_several_targets(data)


def _has_several_targets(pair: Any) -> bool:
    """Checks the same for a batch of a loader, which can be a list. A list of data is a list of batches."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return False
    y = pair[1]
    values = list(y.values()) if isinstance(y, Mapping) else list(y) if isinstance(y, tuple | list) else []
    first = next(iter(input_tensors(pair[0])), None) if values else None
    if first is None or first.is_nested or not first.dim():
        return False
    return all(isinstance(t, Tensor) and not t.is_nested and t.dim() and len(t) == len(first) for t in values)


def _concatenate(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, Tensor):
        return torch.cat(list(parts))
    if isinstance(first, Mapping):
        return {name: _concatenate([part[name] for part in parts]) for name in first}
    if isinstance(first, tuple | list):
        return tuple(_concatenate(group) for group in zip(*parts, strict=True))
    return first
