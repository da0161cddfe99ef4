"""Checks whether the running statistics of batch norm fit the data and come from enough examples.

In eval mode batch norm uses running means and variances; in training mode the statistics of the batch. On training
data, in large batches, both must give about the same loss. With the losses a_i of single examples by running statistics
and b_i by the statistics of the batch,

    d = mean(a) - mean(b),    z = d / (std(a - b) / sqrt(n))                                                    (1)

running statistics disagree where z > `DISAGREEMENT_Z` and d is a large part of b: the network is then another one in
eval mode.
A batch of m examples has variances with a relative error of (2 / (m - 1))^(1/2) for inputs without positions, which is
80 % at 4 examples.

Hypotheses: examples are independent; the statistics were accumulated by training (num_batches_tracked > 0).
Reference: [ioffe2015batch]; [wu2018group] for small batches.

>>> import torch
>>> net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2))
>>> net[1].weight.data = torch.tensor([[-4.0, 0.0, 0.0], [4.0, 0.0, 0.0]])    # the sign of the first column
>>> _ = net(torch.randn(64, 3))
>>> x = torch.randn(64, 3) + 8.0                                                     # not what it was trained on
>>> normalization_findings(net, x, x[:, 0].gt(8).long(), nn.functional.cross_entropy)[0].kind
'batch-norm-statistics'
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter.users_loss import call_user_loss
from gnomon.core.inputs.arguments import Inputs, count_examples, map_tensors, take_examples
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import BATCH_NORMS
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import random_state
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding, Value
from gnomon.findings import network as kinds

__all__ = ["small_batch_findings", "normalization_findings", "lagging_statistics"]

DISAGREEMENT_Z = 4.0
"""One-sided z-score: exceeded by 3e-5 of healthy networks."""
MIN_RELATIVE_LOSS_RISE = 0.5
"""Relative increase of the loss that matters."""
MIN_LOSS_RISE = 0.1
"""Absolute increase of the loss that matters."""
SETTLING_BATCHES = 32
"""Batches after which running averages with momentum 0.1 have forgotten 97 % of their earlier values: 0.9^32 = 0.03."""
NOISY_BATCH_SIZE = 2
"""Batch size at which batch norm is mostly noise."""
SMALL_BATCH_SIZE = 8
"""Batch size below which batch norm does worse than other normalizations."""


def normalization_findings(module: nn.Module, x: Inputs, y: Tensor, loss: Callable[..., Tensor]) -> tuple[Finding, ...]:
    """Reports a problem if the loss with batch norm's running statistics differs from the loss with batch statistics.

    See equation (1) of the module docstring.
    ``loss`` takes ``reduction="none"``, or is a mean over examples: then single examples are passed to it.
    False alarms: 3e-5 if both agree. Without batch norm, or before its first batch, nothing is found. Statistics
    that equal the values of a new layer exactly, in one that was trained, are found without (1), and without false
    alarms.

    Hypotheses: as above.
    Reference: [ioffe2015batch].
    Cost: two forward passes.

    >>> normalization_findings(nn.Linear(2, 2), torch.zeros(4, 2), torch.zeros(4).long(), nn.functional.cross_entropy)
    ()
    """
    norms = [part for part in module.modules() if isinstance(part, BATCH_NORMS) and part.track_running_stats]
    lost = [name for name, part in module.named_modules() if isinstance(part, BATCH_NORMS) and _is_lost(part)]
    if lost and any(int(part.num_batches_tracked or 0) > 0 for part in norms):
        missing = Value("layers without statistics", len(lost), meaning=f"of {len(norms)} with batch norm")
        return (Finding(kinds.STATISTICS_LOST, lost[0], {}, (missing,), 0.0),)
    if count_examples(x) < 16 or not (lost or any(int(part.num_batches_tracked or 0) > 0 for part in norms)):
        return ()
    model = copy_module(module).eval()  # A copy is used, because batch norm in training mode changes its buffers.
    with random_state(0), torch.no_grad():
        running = map_tensors(Tensor.clone, run_module(model, x))
        for part in model.modules():
            part.training = isinstance(part, BATCH_NORMS)
        returned = run_module(model, x)
    a, b = _losses(loss, running, y), _losses(loss, returned, y)
    if not isinstance(returned, Tensor) and not bool((a != a[0]).any() | (b != b[0]).any()):
        return ()  # The model returned one loss for all examples, so the difference (1) has no standard error.
    d, error = float((a - b).mean()), float((a - b).std()) / len(y) ** 0.5
    if not (d > DISAGREEMENT_Z * error and d > MIN_RELATIVE_LOSS_RISE * float(b.mean()) and d > MIN_LOSS_RISE):  # (1)
        return ()
    values = {"running": float(a.mean()), "batch": float(b.mean())}
    evidence = Value("loss, running statistics", values["running"]), Value("loss, batch statistics", values["batch"])
    return (Finding(kinds.STATISTICS_WRONG, "outputs", values, evidence, 3e-5),)


def lagging_statistics(
    found: tuple[Finding, ...], module: nn.Module, x: Inputs, y: Tensor, loss: Callable[..., Tensor], *, batch: int
) -> tuple[Finding, ...]:
    """Returns the findings of `normalization_findings`; as a warning if running statistics only lag behind the weights.

    Near the end of a short training the weights still move fast, and running averages describe the weights of some
    steps ago. They lag if `SETTLING_BATCHES` more batches of training data, without steps, make (1) disappear. Only for
    modules that were just trained on the data of x: for others the batches would hide that the data are different.

    Hypotheses: as above.
    Reference: [ioffe2015batch].
    Cost: `SETTLING_BATCHES` forward passes on ``batch`` examples if there are findings, and two passes on all.

    >>> lagging_statistics((), nn.Linear(2, 2), torch.zeros(4, 2), torch.zeros(4), nn.functional.mse_loss, batch=2)
    ()
    """
    if not any(finding.row is kinds.STATISTICS_WRONG for finding in found):
        return found
    model = copy_module(module).eval()
    for part in model.modules():
        part.training = isinstance(part, BATCH_NORMS)
    with random_state(0), torch.no_grad():
        for _ in range(SETTLING_BATCHES):
            run_module(model, take_examples(x, torch.randperm(count_examples(x))[:batch]))
    if normalization_findings(model.eval(), x, y, loss):
        return found
    return tuple(replace(finding, row=kinds.STATISTICS_LAG) for finding in found)


def _losses(loss: Callable[..., Tensor], returned: Any, y: Tensor) -> Tensor:
    """Returns the loss of each example; repeats the loss for all examples if the model computed it for the whole
    batch.
    """
    n = len(y)
    parts = returned if isinstance(returned, tuple | list | Mapping | Tensor) else output_tensor(returned)

    def one(i: int) -> Tensor:
        part = map_tensors(lambda t: t[i : i + 1] if len(t) == n else t, parts)
        return call_user_loss(loss, part, y[i : i + 1]).reshape(())

    return torch.stack([one(i) for i in range(n)]).double()


def _is_lost(norm: nn.Module) -> bool:
    """Checks whether the running statistics of a trained batch norm layer are still at their initial values 0 and 1.

    It has seen some if it counts them, or if its biases, which all begin with the same value, have come apart by
    training.
    """
    mean, var = norm.running_mean, norm.running_var
    if not isinstance(mean, Tensor) or not isinstance(var, Tensor):
        return False
    bias, seen = norm.bias, norm.num_batches_tracked
    trained = isinstance(bias, Tensor) and bool((bias != bias[0]).any())
    counted = isinstance(seen, Tensor) and int(seen) > 0
    return (trained or counted) and bool((mean == 0).all()) and bool((var == 1).all())


def small_batch_findings(module: nn.Module, batch_size: int | None, examples: int) -> tuple[Finding, ...]:
    """Reports batches that are too small for batch norm; ``batch_size`` is None if it is unknown.

    Reference: [wu2018group].

    >>> [f.kind for f in small_batch_findings(nn.BatchNorm1d(2), 2, 100)], small_batch_findings(nn.ReLU(), 2, 100)
    (['batch-too-small'], ())
    """
    names = [name for name, part in module.named_modules() if isinstance(part, BATCH_NORMS)]
    if not names or batch_size is None:
        return ()
    if batch_size < SMALL_BATCH_SIZE:
        return (
            Finding(
                kinds.BATCH_TOO_SMALL, names[0], {"batch": batch_size}, (Value("examples in a batch", batch_size),), 0.0
            ),
        )
    if (
        examples > batch_size
        and examples % batch_size == 1
        and any(isinstance(p, nn.BatchNorm1d) for p in module.modules())
    ):
        return (Finding(kinds.LAST_BATCH_OF_ONE, names[0], {"examples": examples, "batch": batch_size}, (), 0.0),)
    return ()
