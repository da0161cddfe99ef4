"""Predicts a training run of a network from its tangent kernel on the data.

A module f(w, x) is replaced by its linearization at the current parameters w_0, with the kernel K of all its outputs,

    f(w, x) = f(w_0, x) + J(x) (w - w_0),    K(x, x') = J(x) J(x')^T                              (1)

and `gnomon.dynamics.predict_from_kernel` computes the run.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter import read_output_meaning
from gnomon.adapter.adapt import adapt_examples
from gnomon.adapter.losses import AbstractLossWithAxes
from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs, take_examples
from gnomon.core.inputs.arrays import Array, as_tensor
from gnomon.core.inputs.checks import as_inputs, as_numbers, as_targets, check_module_is_callable, check_type
from gnomon.core.inputs.signature import add_none_for_optional_arguments, inputs_with_targets, target_argument
from gnomon.core.inputs.source import as_input_source, data_source
from gnomon.core.losses import AbstractLoss
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.outputs import output_tensor, run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module, wrap_user_errors
from gnomon.dynamics import GradientFlow, error_decay
from gnomon.dynamics.predict import ACCEPTED_LOSSES, predict_from_kernel
from gnomon.dynamics.trajectory import Trajectory
from gnomon.kernels import Limit, limit
from gnomon.tangent import ntk
from gnomon.training import SGD
from gnomon.training.evaluate import loss_for_targets
from gnomon.training.torch_optimizers import OptimizerChoice, as_gradient_descent, resolve_optimizer

__all__ = ["predict"]

KERNELS = ("empirical", "infinite")
"""Accepted values of ``kernel``."""
OUTPUTS = ("auto", "full", "trace")
"""Accepted values of ``outputs``."""
OWN_KERNEL = "its own kernel"
"""How verdicts name the network's own kernel."""
INFINITE_KERNEL = "the kernel of infinite width"
"""How verdicts name the limit kernel."""
UNCOUPLED = f"the mean over outputs of {OWN_KERNEL} (an approximation: outputs are taken as uncoupled)"
MAX_COUPLED_ENTRIES = 3000
"""Examples times outputs up to which the coupling of the outputs is computed: a matrix of 72 MB."""

Kernel = Callable[[Any, Any], Tensor]
"""A function of two sets of points that returns their kernel matrix."""


@add_call_to_errors
def predict(
    module: nn.Module | Limit | Kernel,
    data: Any,
    *,
    test: Any = None,
    loss: AbstractLoss | None = None,
    optimizer: GradientFlow | OptimizerChoice | None = None,
    times: Array | list[float] | tuple[float, ...] | None = None,
    penalty: float = 0.0,
    kernel: str = "empirical",
    outputs: str = "auto",
    f0: Array | None = None,
    f0_test: Array | None = None,
) -> Trajectory:
    """Predicts losses and outputs of a network during training on given data, without training the network.

        f' = -(1 / n) K dl/df - alpha (f - f_0),    K = J J^T of the module at its present parameters     (1)

    ``predict(module, data, test=...)`` computes K, starts from the module's own outputs f_0, and leaves the module
    unchanged; ``predict(limit(net), data)`` and ``predict(k, data)`` with a function k(x, x') start from zero. For a
    Gram matrix there is `gnomon.dynamics.predict_from_kernel`. The trajectory can be plotted with a measured run:
    ``predict(net, data).plot(measured=gnomon.train(net, data, optimizer=SGD(0.1)))``.

    Args:
        module: a module, a limit, or a kernel function.
        data: training data: a pair (inputs, targets), a ``Dataset``, a ``DataLoader`` or other batches, held in memory.
        test: points to predict at: inputs, or data with targets in the forms of ``data``, which give the test loss.
        loss: by default cross-entropy for integer targets and squared loss for real ones, as in `gnomon.train`.
        optimizer: ``GradientFlow()`` by default, or descent as in `gnomon.train`: ``SGD(lr)``, ``torch.optim.SGD``.
        times: from 0 to infinity, learning rate times steps; ``run.times`` of a measured run.
        penalty: alpha, of (alpha / 2) |w - w_0|^2.
        kernel: kernel of a module: "empirical", at its current parameters in float64; or "infinite", the kernel of
            infinite width for PyTorch's initialization, the same for all outputs.
        outputs: for the empirical kernel: "full" couples outputs, "trace" uses the mean kernel for each output without
            coupling, which is exact at infinite width; "auto" is full up to 3000 examples times outputs.
        f0: outputs before training, in place of the module's own or of zero.
        f0_test: the same at the test points.

    Hypotheses: the kernel stays constant: (1) is exact for a model that is linear in its parameters, and errs like
    width^(-1/2) for wide networks; training uses all points at each step, with dropout off.
    Reference: [jacot2018neural], [lee2019wide].
    Cost: the kernel, `gnomon.ntk`; then one eigendecomposition, (n k)^3 for coupled outputs.

    >>> from gnomon.training import train
    >>> net = nn.Linear(2, 1, bias=False)                              # linear: the prediction is exact
    >>> x, y = torch.eye(2), torch.tensor([1.0, -1.0])
    >>> predicted = predict(net, (x, y), optimizer=SGD(0.5), times=[0.0, 5.0])
    >>> run = train(net, (x, y), optimizer=SGD(0.5), steps=10, record=[10])
    >>> torch.allclose(predicted.loss, run.loss)
    True
    """
    rule = _rule(optimizer, module if isinstance(module, nn.Module) else None)
    if isinstance(module, Array):
        fix = "Call gnomon.dynamics.predict_from_kernel(K, y, test=K_test)"
        raise InputError("a Gram matrix was passed", accepted="a module, a limit or a kernel function", fix=fix)
    if isinstance(module, nn.Module):
        module, data = adapt_examples(module, data)
    points, labels = data_source(data).pair()
    points = _complete(points, labels, module) if isinstance(module, nn.Module) else points
    parts = _kernels(module, points, test, kernel, outputs)
    start, start_test = (parts.f0, parts.f0_test) if f0 is None else (as_numbers(f0, "f0"), f0_test)
    axes = _axes_loss(module, points, labels) if isinstance(module, nn.Module) and loss is None else None
    loss, targets = _loss_targets(loss, labels, len(parts.gram), start, axes)
    run = predict_from_kernel(
        parts.gram, targets, test=parts.between, y_test=parts.y_test, f0=start, f0_test=start_test,
        times=times, loss=loss, optimizer=rule, penalty=penalty,
    )  # fmt: skip
    return replace(run, kernel=parts.name)


@dataclass(frozen=True, slots=True)
class _Kernels:
    """The kernel matrices of training and test examples, with the network's outputs before training.

    ``y_test`` are the targets of the test points, if their data contain them.
    """

    gram: Tensor
    between: Tensor | None
    f0: Tensor | None
    f0_test: Tensor | None
    name: str
    y_test: Tensor | None = None


def _kernels(model: nn.Module | Limit | Kernel, x: Any, x_test: Any, kernel: str, outputs: str) -> _Kernels:
    if isinstance(model, nn.Module):
        return _of_module(model, x, x_test, kernel, outputs)
    return _of_kernel(model, x, x_test)


def _of_kernel(model: Limit | Kernel, x: Any, test: Any) -> _Kernels:
    if not callable(model):
        raise out_of_range_error("module", "a module, a limit, or a function of two sets of points", model)
    tested = None if test is None else data_source(test).whole()
    x_test, y_test = (None, None) if tested is None else (tested.x, tested.y)
    if isinstance(model, Limit):
        between = None if x_test is None else model.ntk(x_test, x)
        return _Kernels(model.ntk(x), between, None, None, INFINITE_KERNEL, y_test)
    with wrap_user_errors(None, x, what="the kernel"):
        between = None if x_test is None else model(x_test, x)
        return _Kernels(model(x, x), between, None, None, "", y_test)


def _of_module(module: nn.Module, x: Any, x_test: Any, kernel: str, outputs: str) -> _Kernels:
    for name, value, accepted in (("kernel", kernel, KERNELS), ("outputs", outputs, OUTPUTS)):
        if value not in accepted:
            raise out_of_range_error(name, f"one of {', '.join(map(repr, accepted))}", value)
    check_module_is_callable(module)
    wide = _double(module, x)
    inputs = as_inputs(x, wide)
    tested = None if x_test is None else as_input_source(x_test, wide).whole()
    f0 = _outputs(wide, inputs)
    f0_test, y_test = (None, None) if tested is None else (_outputs(wide, tested.x), tested.y)
    if kernel == "infinite":
        exact = limit(module)
        between = None if tested is None else exact.ntk(tested.x, inputs)
        return _Kernels(exact.ntk(inputs), between, f0, f0_test, INFINITE_KERNEL, y_test)
    n, k = f0.shape
    form = outputs if outputs != "auto" else "full" if n * k <= MAX_COUPLED_ENTRIES else "trace"
    form = "trace" if k == 1 else form
    gram = ntk(wide, inputs, outputs=form)
    between = None if tested is None else ntk(wide, tested.x, inputs, outputs=form)
    name = OWN_KERNEL if form == "full" or k == 1 else UNCOUPLED
    return _Kernels(gram, between, f0, f0_test, name, y_test)


def _loss_targets(
    loss: AbstractLoss | None, y: Any, n: int, start: Array | None, axes: AbstractLossWithAxes | None
) -> tuple[AbstractLoss, Tensor]:
    """Returns the loss and the targets in the form that this loss takes, with one column for each output of the
    network.
    """
    if loss is None and axes is not None and start is not None:
        f = as_tensor(start).reshape(n, -1)
        return axes, axes.table(axes.targets(as_targets(y, n)).to(f.device), f)
    loss = loss_for_targets(y) if loss is None else loss
    check_type("loss", loss, AbstractLoss, fix=ACCEPTED_LOSSES)
    labels = as_targets(y, n)
    if start is None:
        return loss, loss.targets(labels)
    table = as_tensor(start)
    targets = loss.targets(labels, outputs=table.reshape(len(table), -1).shape[1])
    return loss, targets[:, None] if targets.ndim == 1 and table.ndim > 1 else targets


def _complete(x: Any, y: Any, module: nn.Module) -> Any:
    """Completes a module's inputs by optional arguments and, if the module requires them, by the targets."""
    check_module_is_callable(module)
    x = add_none_for_optional_arguments(x, module)
    name = target_argument(module, lambda: as_inputs(x, module), as_numbers(y, "y"))
    return x if name is None else inputs_with_targets(as_inputs(x, module), as_numbers(y, "y"), name, module)


@torch.no_grad()
def _axes_loss(module: nn.Module, x: Any, y: Any) -> AbstractLossWithAxes | None:
    """Returns a loss for outputs with positions or ensemble members; None if a standard loss fits."""
    few, labels = take_examples(as_inputs(x, module), slice(0, 4)), as_numbers(y, "y")
    with preserve(module, grad=False):
        returned = output_tensor(run_module(module, few))
    if returned.dim() < 3:
        return None
    largest = None if labels.is_floating_point() else int(labels.max())
    return read_output_meaning(returned, labels[: len(returned)], x=few, largest=largest).loss


def _double(module: nn.Module, x: Any) -> nn.Module:
    """Copies a module in eval mode and, if possible, float64, because float32 rounding hides small eigenvalues."""
    same = copy_module(module).eval()
    wide = copy_module(same).double()
    try:
        _outputs(wide, take_examples(as_inputs(x, wide), slice(0, 1)))
    except InputError:
        return same
    return wide


@torch.no_grad()
def _outputs(module: nn.Module, x: Inputs) -> Tensor:
    return run_to_rows(module, x)


def _rule(optimizer: GradientFlow | OptimizerChoice | None, module: nn.Module | None) -> GradientFlow | SGD:
    """Returns the optimizer if theory can predict it (gradient descent or gradient flow); raises an error otherwise."""
    if optimizer is None or isinstance(optimizer, GradientFlow):
        return optimizer or GradientFlow()
    rule = resolve_optimizer(optimizer, module)
    steps = as_gradient_descent(rule)
    if steps is None:
        fix = (
            "Use SGD(lr, momentum=...) without decay; for a penalty on the distance from the initial weights pass "
            "penalty="
        )
        raise InputError(f"the optimizer is {rule}", accepted="gradient flow or gradient descent", fix=fix)
    error_decay(steps)
    return steps
