"""Converts the user's model and data to the form that gnomon's analyses need: one row of inputs and outputs per
example.

Instruments take a module that returns one row per example, and inputs whose first axis counts examples.
`adapt_model_and_data` turns other models and data into that form. It never changes the user's module: it returns a
view of it, or a copy.

>>> import torch
>>> adapted = adapt_model_and_data(nn.Linear(2, 1), (torch.zeros(3, 2), torch.zeros(3, 1)))
>>> adapted.loss is None, adapted.module
(True, Linear(in_features=2, out_features=1, bias=True))
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader

from gnomon.adapter.complex_parameters import with_real_parameters
from gnomon.adapter.example_axis import ExampleAxis, find_example_axis, with_examples_first
from gnomon.adapter.fixed_noise import with_fixed_noise
from gnomon.adapter.graph_view import adapt_graph_network
from gnomon.adapter.model_loss import adapt_model_loss, computes_binary_loss, loss_from_model_output, takes_targets
from gnomon.adapter.objects import adapt_detection_model
from gnomon.adapter.read import read_output_meaning
from gnomon.adapter.states import adapt_text_columns, texts_per_batch, with_initial_hidden_state
from gnomon.adapter.users_loss_view import NamedModelLoss, adapt_users_loss
from gnomon.adapter.view import OutputSelection, select_output
from gnomon.core.errors import InputError
from gnomon.core.inputs.source import data_source
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.run import run_module
from gnomon.core.modules.wrappers import inner_module

__all__ = ["AdaptedModel", "adapt_model_and_data", "adapt_examples", "adapt_inputs"]


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedModel:
    """A module with its training and test data, converted so that inputs and outputs have one row per example.

    ``loss`` is the loss if the module computes its own. ``batch`` is the size of the user's batches if they were
    joined to tensors. ``axis`` says which axis of the outputs counted examples before it was moved to the front.
    """

    module: nn.Module
    train: Any
    test: Any = None
    loss: Callable[[Any, Tensor], Tensor] | None = None
    batch: int | None = None
    axis: ExampleAxis | None = None


def adapt_model_and_data(
    module: nn.Module,
    train: Any,
    test: Any = None,
    *,
    reading: str | None = None,
    own_loss: bool = False,
    users_loss: Callable[[Any, Any], Any] | None = None,
) -> AdaptedModel:
    """Converts a module and its data so that inputs and outputs have one row per example; changes nothing if they
    already do.

    Graphs and batches of graphs become rows of padded tensors, or of nodes if there is one graph with masks. Texts in
    columns become rows, and lists of dicts, as detectors take them, numbers. Outputs get one row per example. A first
    state is passed to modules that require one. Complex parameters become pairs of reals.
    If the data have no targets, or targets that do not fit the outputs, and the module returns a loss, the loss is the
    module's; so is the binary cross-entropy of targets between 0 and 1. With ``own_loss`` the user passed a loss, and
    all that the module returns is left to it; with ``reading`` the user named the task. ``users_loss`` is this loss if
    gnomon does not know it: it becomes a part of the module if outputs or targets are not one tensor.
    Cost: a few forward passes on two examples.

    >>> import torch
    >>> adapt_model_and_data(nn.GRU(2, 3, batch_first=True), (torch.zeros(4, 5, 2), torch.zeros(4, 5, 3))).batch is None
    True
    """
    module = with_real_parameters(inner_module(module))
    size = train.batch_size if isinstance(train, DataLoader) else None
    objects = None if own_loss else adapt_detection_model(module, train, test)
    if objects is not None:
        module, train, test = objects
    found = adapt_graph_network(module, train, test)
    if found is not None:
        return AdaptedModel(*found, batch=size)
    columns = adapt_text_columns(module, train, test)
    if columns is not None:
        return AdaptedModel(*columns, batch=size or texts_per_batch(columns[0], train))
    module = _with_state(module, train)
    axis = _example_axis(module, train)
    found = None if users_loss is None or axis is not None else adapt_users_loss(module, users_loss, train, test)
    if found is not None:
        name = getattr(users_loss, "__name__", type(users_loss).__name__)
        return AdaptedModel(*found, loss=NamedModelLoss(name), batch=size)
    module = with_examples_first(module, axis)
    if own_loss:
        return AdaptedModel(module, train, test, axis=axis)
    if reading is None and _needs_own_loss(module, train):
        found = adapt_model_loss(module, train, test)
        if found is not None:
            return AdaptedModel(*found, loss=loss_from_model_output, batch=size)
    loss = binary_cross_entropy_with_logits if reading is None and computes_binary_loss(module, train) else None
    return AdaptedModel(select_output(module, fitting_output(module, train)), train, test, loss=loss, axis=axis)


def adapt_examples(module: nn.Module, data: Any) -> tuple[nn.Module, Any]:
    """Converts a module and its data to one row per example; handles graphs, text in columns, hidden states and random
    noise.

    A module that samples gets one fixed draw of noise, so that its outputs are a function of its inputs. Losses that
    the module computes itself are left to the caller.
    Cost: one forward pass on two examples; more for graphs, columns and modules that sample.

    >>> import torch
    >>> adapt_examples(nn.Linear(2, 1), (torch.zeros(3, 2), torch.zeros(3, 1)))[0]
    Linear(in_features=2, out_features=1, bias=True)
    """
    module, data = with_real_parameters(inner_module(module)), list(data) if isinstance(data, Iterator) else data
    with random_state(0):  # The seed is fixed, because reading from a loader may draw random numbers.
        found = adapt_graph_network(module, data) or adapt_text_columns(module, data)
        module, data = (found[0], found[1]) if found is not None else (_with_state(module, data), data)
        try:
            few = data_source(data, module=module).first(2)
        except InputError:
            return module, data  # The data cannot be read; the function that uses the data reports the error.
        return with_fixed_noise(module, few.x), data


def adapt_inputs(module: nn.Module, x: Any) -> tuple[nn.Module, Any]:
    """Converts a module and its inputs (without targets) so that inputs and outputs have one row per example.

    Cost: two forward passes on at most three examples, and one if ``forward`` requires a state.

    >>> import torch
    >>> adapt_inputs(nn.Linear(2, 1), torch.zeros(3, 2))[1].shape
    torch.Size([3, 2])
    """
    module = with_real_parameters(inner_module(module))
    found = adapt_graph_network(module, x)
    if found is not None:
        part = found[1]
        return found[0], part[0] if isinstance(part, tuple) else part
    module = with_initial_hidden_state(module, x)
    return with_examples_first(module, find_example_axis(module, x)), x


def fitting_output(module: nn.Module, train: Any) -> OutputSelection | None:
    """Chooses which of several outputs of a module to use: returns the key or index of the one that has the shape of
    the targets.

    Cost: a forward pass on two examples.
    """
    try:
        few = data_source(train, module=module).first(2)
        if few.y is None or not few.y.is_floating_point():
            return None
        with preserve(module, grad=False, seed=0):
            returned = run_module(module, few.x)
        if isinstance(returned, Tensor) or output_tensor(returned).numel() == few.y.numel():
            return None
    except InputError:
        return None  # The data cannot be read; the function that uses the data reports the error.
    parts: Mapping[Any, Any]
    if isinstance(returned, Mapping):
        parts = returned
    else:
        parts = vars(returned) if is_dataclass(returned) else dict(enumerate(returned))
    return next((name for name, t in parts.items() if isinstance(t, Tensor) and t.shape == few.y.shape), None)


def _with_state(module: nn.Module, train: Any) -> nn.Module:
    try:
        return with_initial_hidden_state(module, data_source(train).first(2).x)
    except InputError:
        return module  # The data cannot be read; the function that uses the data reports the error.


def _example_axis(module: nn.Module, train: Any) -> ExampleAxis | None:
    """Returns the batch dimension of a module's outputs if it is not the first dimension; None if it is, or if the data
    are unreadable.
    """
    try:
        return find_example_axis(module, data_source(train, module=module).first(3).x)
    except InputError:
        return None  # The function that uses the data reports the error.


def _needs_own_loss(module: nn.Module, train: Any) -> bool:
    """Checks whether only the module itself can compute the loss, because the data have no targets or their shape does
    not fit the outputs.
    """
    try:
        few = data_source(train).first(2)
    except InputError:
        return False  # The data cannot be read; the function that uses the data reports the error.
    if few.y is None:
        return True
    if few.y.is_floating_point() or few.y.dim() < 2 or not takes_targets(module):
        return False
    try:
        few = data_source(train, module=module).first(2)
        assert few.y is not None  # as above
        with preserve(module, grad=False, seed=0):
            read_output_meaning(output_tensor(run_module(module, few.x)), few.y, x=few.x)
    except InputError:
        return True
    return False
