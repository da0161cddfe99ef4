"""Checks whether the last operation of a network fits the loss; for example, cross-entropy must not follow softmax.

`CrossEntropyLoss` applies log-softmax itself, and `BCEWithLogitsLoss` the sigmoid. A network that ends in softmax or
sigmoid already hands them numbers in [0, 1]: for k classes the loss cannot fall below

    log(1 + (k - 1) / e)                                                                                        (1)

and gradients pass two flat functions. A network that ends in a bounded function, or in ReLU, cannot reach targets
outside of its range.

The last operation is read from the graph of the output, through reshapes, so that functions in ``forward`` are seen as
well as modules; softmax written by hand is known by rows of nonnegative numbers that sum to one. Neither happens by
chance.

Hypotheses: the loss is named, or follows from the targets.
Reference: [bishop2006pattern], section 4.3, on the loss that belongs to each output function.

>>> import torch
>>> from torch import nn
>>> net = nn.Sequential(nn.Linear(2, 3), nn.Softmax(1))
>>> head_findings(net(torch.randn(5, 2)), torch.tensor([0, 1, 2, 0, 1]), "cross-entropy")[0].kind
'softmax-before-loss'
"""

from collections.abc import Callable
from functools import partial
from math import e, log
from typing import Any

import torch
from torch import Tensor

from gnomon.checks.network.applied import implicit_activation_of_loss
from gnomon.checks.network.broadcast import broadcast_findings
from gnomon.core.results import Finding, Value
from gnomon.findings import design
from gnomon.findings import network as kinds

__all__ = [
    "columns_before_concatenation", "custom_loss_findings", "head_findings", "last_operation",
    "normalized_output_findings",
]  # fmt: skip

SHAPES = ("View", "Reshape", "Squeeze", "Unsqueeze", "Select", "Slice", "Alias", "ToCopy", "Transpose", "Permute", "T")
"""Operations that only move or copy numbers."""
MAX_TARGETS_OUTSIDE = 0.05
"""Share of targets that may lie outside the range of the outputs."""
RANGES = {"Sigmoid": (0.0, 1.0), "Softmax": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Relu": (0.0, torch.inf),
          "Softplus": (0.0, torch.inf), "Hardtanh": (-1.0, 1.0)}  # fmt: skip
NORMALIZATIONS = ("BatchNorm", "LayerNorm", "GroupNorm")
"""Ends of the names of operations that normalize."""
MIN_NORMALIZED = 8
"""Fewest examples for the statistics of normalized outputs."""
MAX_DEVIATION_FROM_ONE = 0.05
"""A normalization without weights gives standard deviations this close to one."""
LOSSES = {"CrossEntropyLoss": "cross-entropy", "cross_entropy": "cross-entropy", "BCEWithLogitsLoss": "logistic loss",
         "binary_cross_entropy_with_logits": "logistic loss", "MSELoss": "squared loss", "mse_loss": "squared loss",
         "L1Loss": "squared loss", "l1_loss": "squared loss", "SmoothL1Loss": "squared loss",
         "HuberLoss": "squared loss", "huber_loss": "squared loss", "NLLLoss": "negative log-likelihood",
         "nll_loss": "negative log-likelihood"}  # fmt: skip
"""Losses of torch and the kind of outputs they expect."""
BY_FUNCTION = {"softmax": "cross-entropy", "sigmoid": "logistic loss"}
"""The kind of outputs that other losses expect, by the function that they apply."""


def last_operation(outputs: Tensor) -> str:
    """Returns the name of the operation that computed the outputs, such as "Softmax", from the autograd graph.

    >>> from torch import nn
    >>> last_operation(torch.sigmoid(nn.Linear(2, 1)(torch.zeros(1, 2))).squeeze(1))
    'Sigmoid'
    """
    node: Any = outputs.grad_fn
    while node is not None:
        name = type(node).__name__.split("Backward")[0].removeprefix("Unsafe").removeprefix("_")
        if name not in SHAPES or not node.next_functions:
            return name
        node = node.next_functions[0][0]
    return ""


def columns_before_concatenation(outputs: Tensor, columns: int) -> Tensor | None:
    """Undoes a concatenation: returns the first tensor that was concatenated to the outputs if it has this number of
    columns.

    A variational autoencoder returns pixels, means and variances in one tensor, and its loss splits them. None if the
    outputs were not joined by `torch.cat`, or the function of the first columns does not save its result.

    >>> from torch import nn
    >>> pixels = torch.sigmoid(nn.Linear(2, 3)(torch.zeros(4, 2)))
    >>> last_operation(columns_before_concatenation(torch.cat([pixels, torch.zeros(4, 5)], 1), 3))
    'Sigmoid'
    """
    if outputs.dim() != 2 or outputs.shape[1] <= columns or not type(outputs.grad_fn).__name__.startswith("Cat"):
        return None
    assert outputs.grad_fn is not None
    made = getattr(outputs.grad_fn.next_functions[0][0], "_saved_result", None)
    return made if isinstance(made, Tensor) and made.shape == (len(outputs), columns) else None


def head_findings(outputs: Tensor, y: Tensor, loss: str) -> tuple[Finding, ...]:
    """Reports a problem if a network's last operation does not fit its targets and loss, such as softmax before
    cross-entropy.

    ``loss`` is "cross-entropy", "logistic loss" (one output for two classes), "negative log-likelihood" (of NLLLoss) or
    "squared loss"; others are not judged. Classes are along axis 1 or along the last one.

    Hypotheses: as above.
    Reference: [bishop2006pattern].
    Cost: one pass over the outputs.

    >>> from torch import nn
    >>> head_findings(nn.Linear(2, 3)(torch.randn(5, 2)), torch.tensor([0, 1, 2, 0, 1]), "cross-entropy")
    ()
    """
    f = outputs.detach().double()
    name = last_operation(outputs)
    if name in ("Softmax", "LogSoftmax") and f.dim() == 2 and f.shape[1] == 1:
        return (Finding(design.SOFTMAX_OF_ONE, "outputs", {}, (), 0.0),)
    if loss in ("cross-entropy", "logistic loss"):
        return _classes(f, name, loss)
    if loss == "negative log-likelihood":
        return _logarithms(f, y)
    return _numbers(f, y.detach().double(), name) if loss == "squared loss" and y.is_floating_point() else ()


def _classes(f: Tensor, name: str, loss: str) -> tuple[Finding, ...]:
    axis = _probabilities(f)
    k = 1 if f.dim() < 2 else f.shape[1 if axis is None else axis]
    if name == "Softmax" or (axis is not None and len(f) > 1):
        least = log(1 + (k - 1) / e)  # (1)
        evidence = (Value("smallest possible loss", least),)
        return (Finding(kinds.SOFTMAX_BEFORE_LOSS, "outputs", {"least": least}, evidence, 0.0),)
    if name == "Sigmoid":
        its = "the logistic loss" if loss == "logistic loss" else "cross-entropy"
        return (Finding(kinds.SIGMOID_BEFORE_LOSS, "outputs", {"loss": its}, (), 0.0),)
    if name in ("Relu", "Threshold"):
        return (Finding(kinds.RELU_BEFORE_LOSS, "outputs", {}, (), 0.0),)
    if name == "Tanh":
        return (Finding(kinds.TANH_BEFORE_LOSS, "outputs", {}, (), 0.0),)
    return ()


def _probabilities(f: Tensor) -> int | None:
    """Returns the dimension along which outputs are probabilities (nonnegative with sum 1); None if there is none."""
    if f.dim() < 2 or not bool((f >= 0).all()):
        return None
    axes = [axis for axis in (f.dim() - 1, 1) if f.shape[axis] > 1]
    return next((axis for axis in axes if bool(((f.sum(axis) - 1).abs() < 1e-4).all())), None)


def _logarithms(f: Tensor, y: Tensor) -> tuple[Finding, ...]:
    """Reports a problem if outputs are not log-probabilities along dimension 1, which NLLLoss needs but does not
    check.
    """
    if f.dim() < 2 or len(f) < 2 or y.is_floating_point() or bool((f.logsumexp(1).abs() < 1e-3).all()):
        return ()
    given = "probabilities" if _probabilities(f) == 1 else "other numbers"
    return (Finding(kinds.NO_LOG_PROBABILITIES, "outputs", {"given": given}, (), 0.0),)


def normalized_output_findings(training_outputs: Tensor, y: Tensor) -> tuple[Finding, ...]:
    """Reports a regression network that ends in a normalization without weights, which its targets do not fit.

    ``training_outputs`` are outputs in training mode, with their graph.

    >>> f = torch.nn.BatchNorm1d(1, affine=False)(torch.randn(40, 1, requires_grad=True))
    >>> normalized_output_findings(f, torch.randn(40, 1) + 5)[0].kind
    'normalized-output'
    """
    f, y = training_outputs.detach().double().reshape(len(y), -1), y.detach().double().reshape(len(y), -1)
    if not last_operation(training_outputs).endswith(NORMALIZATIONS) or len(f) < MIN_NORMALIZED or not f.numel():
        return ()
    axis = 0 if "Batch" in last_operation(training_outputs) else 1
    mean, deviation = float(f.mean(axis).abs().max()), f.std(axis, correction=0)
    if mean > 1e-3 or f.shape[axis] < 2 or float((deviation - 1).abs().max()) > MAX_DEVIATION_FROM_ONE:
        return ()  # The outputs are not standardized, so the normalization has a scale or shift of its own.
    target_mean, target_deviation = float(y.mean()), float(y.std())
    fits = abs(target_mean) < 0.2 * max(target_deviation, 1.0) and 0.5 < target_deviation < 2.0
    if fits:
        return ()
    values = {"mean": mean, "deviation": float(deviation.mean()), "target_mean": target_mean}
    return (Finding(design.NORMALIZED_OUTPUT, "outputs", values | {"target_deviation": target_deviation}, (), 0.0),)


def _numbers(f: Tensor, y: Tensor, name: str) -> tuple[Finding, ...]:
    if name not in RANGES:
        return ()
    low, high = RANGES[name]
    outside = float(((y < low) | (y > high)).double().mean())
    if outside <= MAX_TARGETS_OUTSIDE:
        return ()
    reach = f"{low:g} to {high:g}" if high < torch.inf else f"{low:g} and above"
    values = {"function": name.lower(), "layer": name if name != "Relu" else "ReLU", "reach": reach, "outside": outside}
    evidence = (Value("share of targets outside the range of the outputs", outside),)
    return (Finding(kinds.TARGETS_OUT_OF_REACH, "outputs", values, evidence, 0.0),)


def custom_loss_findings(
    outputs: Tensor, y: Tensor, targets: Tensor, loss: Callable[..., Tensor]
) -> tuple[Finding, ...]:
    """Reports outputs that do not fit the user's own loss: wrong last activation, or unintended broadcasting.

    ``y`` are the targets of the data, ``targets`` what the loss is given.

    >>> probabilities = torch.softmax(torch.zeros(4, 3, requires_grad=True), 1)
    >>> labels = torch.zeros(4, dtype=torch.long)
    >>> [f.kind for f in custom_loss_findings(probabilities, labels, labels, torch.nn.CrossEntropyLoss())]
    ['softmax-before-loss']
    """
    first = (
        columns_before_concatenation(outputs, targets.shape[1]) if targets.dim() == 2 and outputs.dim() == 2 else None
    )
    if first is not None:  # The network concatenates several outputs, and the targets belong to its first columns.
        loss, outputs = partial(_on_first_columns, loss, outputs[:, targets.shape[1] :].detach()), first
    name = LOSSES.get(getattr(loss, "__name__", type(loss).__name__), "")
    name = name or BY_FUNCTION.get(implicit_activation_of_loss(loss, outputs, targets), "")
    return (*head_findings(outputs, y, name), *broadcast_findings(outputs, targets, loss))


def _on_first_columns(loss: Callable[..., Tensor], rest: Tensor, first: Tensor, y: Tensor) -> Tensor:
    """Evaluates a user's loss with other predictions in the first columns of the outputs; the remaining columns
    stay.
    """
    return loss(torch.cat([first, rest], 1), y)
