"""From a network and its data to a training run that has not happened.

A module f(w, x) is replaced by its tangent at the present parameters w_0, with the kernel K of all its outputs,

    f(w, x) = f(w_0, x) + J(x) (w - w_0),    K(x, x') = J(x) J(x')^T                              (1)

and `gnomon.dynamics.predict` does the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from gnomon import dynamics
from gnomon.core.arrays import Array, as_tensor
from gnomon.core.checks import as_inputs, as_numbers, as_targets, check_kind, check_readable
from gnomon.core.errors import InputError, called, lesson
from gnomon.core.inputs import Inputs, blamed, count, invoke, table, take
from gnomon.core.losses import AbstractLoss
from gnomon.core.pure import twin
from gnomon.dynamics import Descent, Flow, Momentum, Trajectory
from gnomon.dynamics.optimizers import AbstractOptimizer
from gnomon.dynamics.predict import LOSSES
from gnomon.dynamics.trajectory import GIVEN
from gnomon.kernels import Limit, limit
from gnomon.tangent import ntk
from gnomon.training.evaluate import by_targets
from gnomon.training.native import Choice, descent, named

CALL = "predict(module, x, y)"
FULL = 3000
"""Examples times outputs up to which the coupling of the outputs is computed: a matrix of 72 MB."""

Kernel = Callable[[Any, Any], Tensor]
"""A function of two sets of points that gives the matrix of their kernel."""


def predict(
    model: nn.Module | Limit | Kernel | Array,
    x: Inputs | Array,
    y: Array | None = None,
    x_test: Inputs | None = None,
    *,
    y_test: Array | None = None,
    loss: AbstractLoss | None = None,
    optimizer: AbstractOptimizer | Choice | None = None,
    times: Array | list[float] | tuple[float, ...] | None = None,
    penalty: float = 0.0,
    kernel: str = "empirical",
    outputs: str = "auto",
    test: Array | None = None,
    f0: Array | None = None,
    f0_test: Array | None = None,
) -> Trajectory:
    """What training will do to a network, or to a kernel, on given data: told before it happens.

        f' = -(1 / n) K dl/df - alpha (f - f_0),    K = J J^T of the module at its present parameters     (1)

    ``predict(module, x, y, x_test)`` computes K, starts from the module's own outputs f_0, and leaves the module as it
    was; ``predict(limit(net), x, y, x_test)`` and ``predict(k, x, y, x_test)`` with a function k(x, x') start from
    zero, and ``predict(K, y, test=K_test)`` with a matrix is `gnomon.dynamics.predict`. The trajectory draws itself
    beside a measured run: ``predict(net, x, y).plot(measured=gnomon.train(net, x, y, optimizer=SGD(0.1)))``.

    Args:
        model: a module, a limit, a kernel function, or a Gram matrix.
        x: training inputs as the module takes them: a tensor, a tuple or a dict. With a Gram matrix, the targets.
        y: targets: numbers (n,) or (n, k), or integer classes (n,), one-hot rows for the squared loss.
        x_test: further points to predict at.
        y_test: their targets, for the test loss.
        loss: by default cross-entropy for integer targets and squared loss for real ones, as in `gnomon.train`; with a
            Gram matrix the squared loss, as in `gnomon.dynamics.predict`.
        optimizer: ``Flow()`` by default, ``Descent(lr)``, ``Momentum(lr)``, or gradient descent as
            `gnomon.train` takes it: ``SGD(lr)``, ``lambda p: torch.optim.SGD(p, lr=0.1)``.
        times: from 0 to infinity, learning rate times steps; ``run.times`` of a measured run.
        penalty: alpha, of (alpha / 2) |w - w_0|^2.
        kernel: of a module: "empirical", its own, here and now, in float64; or "infinite", that of infinite width for
            PyTorch's initialization, with all outputs alike.
        outputs: of the empirical kernel: "full" couples outputs as they are, "trace" takes their mean for each and
            nothing between, which is exact at infinite width; "auto" is full up to 3000 examples times outputs.
        test: with a Gram matrix, the kernel between test and training points.
        f0: outputs before training, in place of the module's own or of zero; ``f0_test`` at the test points.
        f0_test: see ``f0``.

    Hypotheses: the kernel stays what it is: (1) is exact for a model that is linear in its parameters, and errs like
    width^(-1/2) for wide networks; training uses all points at each step, with dropout off.
    Reference: [jacot2018neural], [lee2019wide].
    Cost: the kernel, `gnomon.ntk`; then one eigendecomposition, (n k)^3 for coupled outputs.

    >>> from gnomon.training import SGD
    >>> net = nn.Linear(2, 1, bias=False)                              # linear: the prediction is exact
    >>> x, y = torch.eye(2), torch.tensor([1.0, -1.0])
    >>> told = predict(net, x, y, optimizer=SGD(0.5), times=[0.0, 5.0])
    >>> from gnomon import train
    >>> run = train(net, x, y, optimizer=SGD(0.5), steps=10, record=[10])
    >>> torch.allclose(told.loss, run.loss)
    True
    """
    way = _way(optimizer, model if isinstance(model, nn.Module) else None)
    options: dict[str, Any] = {"optimizer": way, "times": times, "penalty": penalty, "y_test": y_test}
    if isinstance(model, Array):
        if y is not None or x_test is not None:
            cure = "A Gram matrix stands for its points: call predict(K, y, test=K_test)"
            raise InputError(lesson("predict(K, y)", "a Gram matrix and points", "one of them", cure))
        return dynamics.predict(model, cast(Array, x), test=test, loss=loss, f0=f0, f0_test=f0_test, **options)
    if y is None:
        raise InputError(lesson(CALL, "y is missing", "targets to learn", "Pass predict(module, x, y)"))
    with called(CALL):
        if isinstance(model, nn.Module):
            found = _of_module(model, x, x_test, kernel, outputs)
        else:
            found = _of_kernel(model, x, x_test)
        start, start_test = (found.f0, found.f0_test) if f0 is None else (as_numbers(f0, "f0", call=CALL), f0_test)
        loss, targets = _targets(loss, y, len(found.gram), start)
        run = dynamics.predict(
            found.gram, targets, test=found.between, f0=start, f0_test=start_test, loss=loss, **options
        )
    return replace(run, kernel=found.name)


@dataclass(frozen=True, slots=True)
class _Found:
    """Kernels of the training points and to the test points, outputs before training, and what it is in words."""

    gram: Tensor
    between: Tensor | None
    f0: Tensor | None
    f0_test: Tensor | None
    name: str


def _of_kernel(model: Limit | Kernel, x: Inputs, x_test: Inputs | None) -> _Found:
    if not callable(model):
        cure = "Pass a module, a limit, a function of two sets of points, or a Gram matrix"
        raise InputError(lesson(CALL, f"the model is a {type(model).__name__}", "a network or a kernel", cure))
    if isinstance(model, Limit):
        between = None if x_test is None else model.ntk(x_test, x)
        return _Found(model.ntk(x), between, None, None, "the kernel of infinite width")
    with blamed(None, x, call=CALL, what="the kernel"):
        between = None if x_test is None else model(x_test, x)
        return _Found(model(x, x), between, None, None, GIVEN)


def _of_module(module: nn.Module, x: Inputs, x_test: Inputs | None, kernel: str, outputs: str) -> _Found:
    if kernel not in ("empirical", "infinite") or outputs not in ("auto", "full", "trace"):
        what = f"kernel is {kernel!r} and outputs is {outputs!r}"
        cure = 'Pass kernel="empirical" or "infinite", outputs="auto", "full" or "trace"'
        raise InputError(lesson(CALL, what, "a known kernel", cure))
    check_readable(module, call=CALL)
    wide = _double(module, x)
    f0 = _outputs(wide, x)
    f0_test = None if x_test is None else _outputs(wide, x_test)
    if kernel == "infinite":
        exact = limit(module)
        between = None if x_test is None else exact.ntk(x_test, x)
        return _Found(exact.ntk(x), between, f0, f0_test, "the kernel of infinite width")
    n, k = f0.shape
    form = outputs if outputs != "auto" else "full" if n * k <= FULL else "trace"
    form = "trace" if k == 1 else form
    gram = cast(Tensor, ntk(wide, x, outputs=form))
    between = None if x_test is None else cast(Tensor, ntk(wide, x_test, x, outputs=form))
    name = "its own kernel"
    if form == "trace" and k > 1:
        name = "the mean over outputs of its own kernel (an approximation: outputs are taken as uncoupled)"
    return _Found(gram, between, f0, f0_test, name)


def _targets(loss: AbstractLoss | None, y: Array, n: int, start: Array | None) -> tuple[AbstractLoss, Tensor]:
    """The loss, and targets with a column for each output where the outputs before training tell how many there are."""
    loss = by_targets(y, call=CALL) if loss is None else loss
    check_kind("loss", loss, AbstractLoss, call=CALL, cure=LOSSES)
    given = as_targets(y, n, call=CALL)
    if start is None:
        return loss, loss.targets(given, CALL)
    table = as_tensor(start)
    targets = loss.targets(given, CALL, outputs=table.reshape(len(table), -1).shape[1])
    return loss, targets[:, None] if targets.ndim == 1 and table.ndim > 1 else targets


def _double(module: nn.Module, x: Inputs) -> nn.Module:
    """A copy in eval mode and, where the module bears it, in float64: small modes drown in the rounding of float32."""
    same = twin(module, call=CALL).eval()
    wide = twin(same, call=CALL).double()
    try:
        _outputs(wide, take(as_inputs(x, wide, call=CALL), slice(0, 1)))
    except InputError:
        return same
    return wide


@torch.no_grad()
def _outputs(module: nn.Module, x: Inputs) -> Tensor:
    data = as_inputs(x, module, call=CALL)
    return table(invoke(module, data, call=CALL), count(data), CALL)


def _way(optimizer: AbstractOptimizer | Choice | None, module: nn.Module | None) -> AbstractOptimizer:
    if isinstance(optimizer, AbstractOptimizer):
        return optimizer
    if optimizer is None:
        return Flow()
    rule = named(optimizer, module, CALL)
    way = descent(rule)
    if way is None or way.decay:
        what = f"the optimizer is {rule}"
        cure = "Use SGD(lr, momentum=...) without decay; for a penalty pass penalty=, which pulls to the start"
        raise InputError(lesson(CALL, what, "steps along the gradient of the loss", cure))
    return Momentum(way.lr, beta=way.momentum) if way.momentum else Descent(way.lr)
