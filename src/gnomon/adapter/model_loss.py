"""Handles models that compute their own loss in ``forward``, from inputs that may include the targets.

>>> class Copier(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.fc = nn.Linear(2, 2)
...     def forward(self, x):
...         return (self.fc(x) - x).square().mean()
>>> net, (x, y) = adapt_model_loss(Copier(), torch.ones(4, 2))
>>> returned = net.train()(x)
>>> returned["logits"].shape, bool(loss_from_model_output(returned, y) == returned["loss"])
(torch.Size([4, 1]), True)
"""

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples, to_device_and_dtype_of
from gnomon.core.inputs.batch import Batch
from gnomon.core.inputs.signature import TARGET_ARGUMENT_NAMES, inputs_with_targets
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import call_with_inputs, run_module

__all__ = [
    "adapt_model_loss",
    "computes_binary_loss",
    "find_loss_in_output",
    "loss_from_model_output",
    "takes_targets",
    "with_model_loss",
]


def loss_from_model_output(returned: Any, y: Tensor) -> Tensor:
    """Returns the loss that the model itself computed; ignores the targets y, because the model has already used them.

    >>> float(loss_from_model_output({"loss": torch.tensor(2.0)}, torch.zeros(1)))
    2.0
    """
    if not isinstance(returned, Mapping) or "loss" not in returned:
        problem = "the model computes its loss itself, and only its predictions were passed"
        raise InputError(
            problem,
            accepted="everything that the model returned",
            fix="Pass the return value of model(inputs) to the loss",
        )
    return returned["loss"]


class LossView(ModuleView):
    """Wraps a module that computes its own loss: returns a dict with the predictions ("logits") and the loss.

    A module that returns nothing but its loss has no predictions. Then they are the losses of single examples in eval
    mode, and the loss of the batch for each example in train mode, which takes one pass. With ``pairs`` the predictions
    are a table (n, n) that compares all pairs of a batch, as CLIP returns; of these only the diagonal, the score of
    each example's own pair, does not depend on the other examples.
    """

    def __init__(self, module: nn.Module, *, pairs: bool = False) -> None:
        super().__init__(module)
        self.pairs = pairs

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Runs a module that computes its own loss; returns its predictions with one row per example, and its mean
        loss.
        """
        module, x = self.module_of_view, kwargs or args
        returned = module(*args, **kwargs)
        loss = find_loss_in_output(returned)
        if loss is None:
            problem = f"the model returned a {type(returned).__name__} without a loss"
            raise InputError(problem, accepted="a loss", fix="Return the loss in eval mode as well")
        n = count_examples(x)
        rows = None if isinstance(returned, Tensor) else _predictions(returned, n)
        if rows is not None and self.pairs:
            rows = rows.diagonal().unsqueeze(1)
        if rows is None and self.training:
            rows = loss.expand(n, 1)
        if rows is None:
            singles = [call_with_inputs(module, take_examples(x, slice(i, i + 1))) for i in range(n)]
            rows = torch.stack([one for single in singles if (one := find_loss_in_output(single)) is not None])[:, None]
        return {"logits": rows, "loss": loss}


def find_loss_in_output(returned: Any) -> Tensor | None:
    """Finds the loss in a module's return value: the entry ``loss``, or the only single number; None if there is none.

    >>> float(find_loss_in_output((torch.zeros(2, 3), torch.tensor(4.0)))), find_loss_in_output(torch.zeros(2))
    (4.0, None)
    """
    named = returned.get("loss") if isinstance(returned, Mapping) else getattr(returned, "loss", None)
    if _is_number(named):
        return named
    if _is_number(returned):
        return returned
    numbers = [t for t in returned if _is_number(t)] if isinstance(returned, tuple | list) else []
    return numbers[0] if len(numbers) == 1 else None


def adapt_model_loss(module: nn.Module, *data: Any) -> tuple[nn.Module, *tuple[Any, ...]] | None:
    """Wraps a module that computes its own loss, and adds the targets to its inputs; returns None for other modules.

    The targets that remain are zeros, because only the module knows what it compares.
    Cost: a forward pass on two examples, and a copy of the data in memory.

    >>> adapt_model_loss(nn.Linear(1, 1), torch.zeros(2, 1)) is None
    True
    """
    try:
        first = data_source(data[0]).first(2)
        with preserve(module, grad=False, seed=0):
            returned = run_module(module, to_device_and_dtype_of(_with_all(first, module), module))
    except InputError:
        return None
    if find_loss_in_output(returned) is None:
        return None
    found = [None if part is None else _pair(data_source(part).whole(), module) for part in data]
    return LossView(module, pairs=_compares_pairs(module, data[0])), *found


def _compares_pairs(module: nn.Module, data: Any) -> bool:
    """Returns whether n examples give predictions of shape (n, n), for 2 and for 3 examples."""
    for n in (2, 3):
        first = data_source(data).first(n)
        with preserve(module, grad=False, seed=0):
            rows = _predictions(
                run_module(module, to_device_and_dtype_of(_with_all(first, module), module)), len(first)
            )
        if rows is None or tuple(rows.shape) != (n, n):
            return False
    return True


def with_model_loss(module: nn.Module) -> nn.Module:
    """Wraps a module that computes its own loss so that its return value has predictions and loss under fixed names.

    >>> class Own(nn.Module):
    ...     def forward(self, x):
    ...         return x.square().mean()
    >>> float(with_model_loss(Own())(torch.ones(4, 2))["loss"])
    1.0
    """
    return LossView(module)


def takes_targets(module: nn.Module) -> str | None:
    """Returns the name of the ``forward`` argument that takes targets ("labels", "targets" or "target"), or None.

    >>> takes_targets(nn.Linear(1, 1)) is None
    True
    """
    known = inspect.signature(module.forward).parameters
    return next((name for name in TARGET_ARGUMENT_NAMES if name in known), None)


def computes_binary_loss(module: nn.Module, train: Any) -> bool:
    """Checks whether the loss that a module computes itself is binary cross-entropy with targets between 0 and 1.

    Cost: none if ``forward`` has no argument for targets, else a forward pass on four examples.

    >>> computes_binary_loss(nn.Linear(1, 1), (torch.zeros(2, 1), torch.ones(2, 1)))
    False
    """
    if takes_targets(module) is None:
        return False
    try:
        few = data_source(train).first(4)
        if few.y is None or not few.y.is_floating_point() or not bool(((few.y >= 0) & (few.y <= 1)).all()):
            return False
        with preserve(module, grad=False, seed=0):
            returned = run_module(module, to_device_and_dtype_of(_with_all(few, module), module))
        loss, outputs = find_loss_in_output(returned), output_tensor(returned)
    except InputError:  # The data cannot be read; the function that uses the data reports the error.
        return False
    if loss is None or outputs.shape != few.y.shape:
        return False
    return torch.allclose(loss, F.binary_cross_entropy_with_logits(outputs, few.y.to(outputs)))


def _pair(batch: Batch, module: nn.Module) -> tuple[Inputs, Tensor]:
    return _with_all(batch, module), torch.zeros(len(batch), 1, dtype=torch.long)


def _with_all(batch: Batch, module: nn.Module) -> Inputs:
    """Returns the inputs of a batch; adds the targets if ``forward`` has an argument such as ``labels`` for them."""
    name = takes_targets(module)
    return batch.x if name is None or batch.y is None else inputs_with_targets(batch.x, batch.y, name, module)


def _predictions(returned: Any, n: int) -> Tensor | None:
    try:
        found = output_tensor(returned)
    except InputError:
        return None
    return found if found.dim() and len(found) == n else None


def _is_number(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() == 0 and value.is_floating_point()
