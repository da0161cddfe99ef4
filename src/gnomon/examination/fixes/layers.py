"""Possible fixes of layers: activation function, initialization, dropout, batch norm.

He initialization: weights ~ N(0, 2 / fan_in), biases 0 [he2015delving]                                   (1)
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.checks.network.head import last_operation
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import BATCH_NORMS
from gnomon.core.modules.outputs import output_tensor
from gnomon.core.modules.preserve import preserve, random_state
from gnomon.core.modules.run import run_module
from gnomon.core.results import Finding
from gnomon.examination.fixes.fix import Fix, TrialChange, diff
from gnomon.examination.fixes.rewrite import DROPOUT, SIGMOID, TANH, Rewritten, count_calls
from gnomon.examination.fixes.trial import TrialRun
from gnomon.examination.subject import Subject

__all__ = ["FIXES", "he_initialized"]

USUAL_DROPOUT = 0.1
"""Dropout rate that is tried instead of a large one."""
USUAL_MOMENTUM = 0.1
"""Momentum of the running statistics of batch norm that is tried instead of another one."""
LARGE_BIAS = 0.5
"""Mean size of biases above which zero is tried."""
USUAL_WEIGHTS = (0.3, 3.0)
"""Range of the root mean square of weights times sqrt(fan_in) that counts as usual; 0.58 by default, 1.41 by (1)."""
PROBE_EXAMPLES = 4
"""Examples in the pass that counts activations."""
WEIGHTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers that He initialization sets, equation (1)."""


class _ReLU:
    """Replaces calls of an activation function by ReLU, except the call at the end of the network."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        if number == self.kept:
            return function(*args, **options)
        return torch.relu(args[0] if args else options["input"])


class _SmallerDropout:
    """Replaces calls of F.dropout by calls with at most the usual dropout rate."""

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        given = dict(zip(("input", "p", "training", "inplace"), args, strict=False)) | options
        given["p"] = min(float(given.get("p", 0.5)), USUAL_DROPOUT)
        return function(**given)


class _DropoutInTraining:
    """Replaces calls of F.dropout by calls that do nothing in eval mode."""

    def __call__(self, owner: Rewritten, number: int, function: Any, args: Any, options: Any) -> Any:
        given = dict(zip(("input", "p", "training", "inplace"), args, strict=False)) | options
        return function(**(given | {"training": owner.training}))


def he_initialized(module: nn.Module, seed: int = 0) -> nn.Module:
    """Copies a module with new initial weights: He initialization for weight matrices, torch's defaults for other
    layers.

    See equation (1) of the module docstring.

    >>> net = he_initialized(nn.Linear(200, 300))
    >>> round(float(net.weight.detach().std()) * 10, 1), bool(net.bias.any())          # sqrt(2 / 200) = 0.1
    (1.0, False)
    """
    made = copy_module(module)
    with random_state(seed):
        for part in made.modules():
            if isinstance(part, WEIGHTED):
                nn.init.kaiming_normal_(part.weight, nonlinearity="relu")  # (1)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)
            else:
                _reset_layer(part)
    return made


def _reset(module: nn.Module, seed: int = 0) -> nn.Module:
    made = copy_module(module)
    with random_state(seed):
        for part in made.modules():
            _reset_layer(part)
    return made


def _reset_layer(part: nn.Module) -> None:
    """Initializes a layer as torch does by default, if it contains no other layers."""
    reset = getattr(part, "reset_parameters", None)
    if callable(reset) and not list(part.children()):
        reset()


def _biases(module: nn.Module) -> Iterator[Tensor]:
    for part in module.modules():
        if isinstance(part, WEIGHTED) and part.bias is not None:
            yield part.bias


def initialize(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: initializes differently: large biases with zero, weights by He initialization or torch's
    default.
    """
    size = max((float(bias.detach().abs().mean()) for bias in _biases(trial.module)), default=0.0)
    if size > LARGE_BIAS and _usual_weights(trial.module):
        made = copy_module(trial.module)
        for bias in _biases(made):
            nn.init.zeros_(bias)
        words = f"biases of zero instead of {size:.3g} on average"
        return (TrialChange(replace(trial, module=made), words, diff("", "nn.init.zeros_(layer.bias)")),)
    code = 'nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")\nnn.init.zeros_(layer.bias)'
    he = replace(trial, module=he_initialized(trial.module))
    reset = replace(trial, module=_reset(trial.module))
    return (
        TrialChange(he, "He initialization", diff("", code)),
        TrialChange(reset, "the default initialization of PyTorch", diff("", "layer.reset_parameters()")),
    )


def _usual_weights(module: nn.Module) -> bool:
    """Checks whether the weights of all layers have the usual scale for their number of inputs."""
    sizes = [float(part.weight.detach().square().mean() * part.weight[0].numel()) ** 0.5
             for part in module.modules() if isinstance(part, WEIGHTED)]  # fmt: skip
    return all(USUAL_WEIGHTS[0] < size < USUAL_WEIGHTS[1] for size in sizes)


def use_relu(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: uses ReLU instead of sigmoid or tanh between layers, with the current weights or with He
    initialization.
    """
    x = subject.probe.some(PROBE_EXAMPLES).x
    for functions, name in ((SIGMOID, "Sigmoid"), (TANH, "Tanh")):
        calls = count_calls(trial.module, x, functions)
        kept = calls - 1 if _ends_in(trial.module, x, functions) else calls
        if kept < 1:
            continue
        plain = Rewritten(trial.module, functions, _ReLU(kept))
        he = Rewritten(he_initialized(trial.module), functions, _ReLU(kept))
        lines = diff(f"nn.{name}()", "nn.ReLU()")
        words = f"ReLU instead of {name.lower()} in {kept} layer{'s' if kept > 1 else ''}"
        more = diff(f"nn.{name}()", 'nn.ReLU()\nnn.init.kaiming_normal_(layer.weight, nonlinearity="relu")')
        return (
            TrialChange(replace(trial, module=plain), words, lines),
            TrialChange(replace(trial, module=he), f"{words}, and He initialization", more),
        )
    return ()


def _ends_in(module: nn.Module, x: Any, functions: frozenset[Any]) -> bool:
    """Checks whether the last operation of the module is sigmoid or tanh."""
    with preserve(module):
        name = last_operation(output_tensor(run_module(module, x)))
    return name == ("Sigmoid" if functions is SIGMOID else "Tanh")


def smaller_dropout(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: lowers the dropout rate to at most 0.1."""
    rates = [part.p for part in trial.module.modules() if isinstance(part, nn.modules.dropout._DropoutNd)]
    if not rates and "rate" not in finding.values:
        return ()
    old = float(finding.values.get("rate", max(rates, default=0.5)))
    changed = replace(trial, module=Rewritten(trial.module, DROPOUT, _SmallerDropout()))
    lines = diff(f"nn.Dropout({old:g})", f"nn.Dropout({USUAL_DROPOUT:g})")
    return (TrialChange(changed, f"dropout of {USUAL_DROPOUT:.0%} instead of {old:.0%}", lines),)


def dropout_in_training(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: makes model.eval() turn dropout off."""
    if not count_calls(trial.module, subject.probe.some(PROBE_EXAMPLES).x, DROPOUT):
        return ()
    changed = replace(trial, module=Rewritten(trial.module, DROPOUT, _DropoutInTraining()))
    lines = diff("F.dropout(x, p)", "F.dropout(x, p, training=self.training)")
    return (TrialChange(changed, "dropout only in training mode", lines),)


def usual_momentum(trial: TrialRun, finding: Finding, subject: Subject) -> tuple[TrialChange, ...]:
    """Possible fix: uses batch norm's default momentum, so that running statistics adapt within tens of steps."""
    made = copy_module(trial.module)
    norms: list[Any] = [part for part in made.modules() if isinstance(part, BATCH_NORMS)]
    old = next((part.momentum for part in norms if part.momentum not in (None, USUAL_MOMENTUM)), None)
    for part in norms:
        part.momentum = USUAL_MOMENTUM
        part.reset_running_stats()
    lines = diff(f"nn.BatchNorm1d(..., momentum={old})", f"nn.BatchNorm1d(..., momentum={USUAL_MOMENTUM})")
    words = f"momentum {USUAL_MOMENTUM:g} of batch norm"
    return (TrialChange(replace(trial, module=made), words, lines),) if old is not None else ()


FIXES = (
    Fix("initialize", initialize),
    Fix("use-relu", use_relu),
    Fix("smaller-dropout", smaller_dropout),
    Fix("dropout-in-training", dropout_in_training),
    Fix("usual-momentum", usual_momentum),
)
