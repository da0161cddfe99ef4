"""Measures the sizes of outputs and gradients at each layer of a module, which should neither vanish nor explode.

For the output h of a layer, over all examples, its units and positions, and for a mean loss L over n examples,

    activation   mean of h^2                            gradient   mean of (n dL/dh)^2                  (1)
    correlation  mean over pairs of examples of <h(x), h(x')> / |h(x)| |h(x')|                          (2)
    dead         the share of units with one and the same output for all examples and positions        (3)
    update       |dL/dW|^2 / |W|^2 for the weights W of the layer: what a step changes of them          (4)

Layers are the modules without parts of their own, in the order in which they are called; functions called in between,
such as ``F.relu``, show in the outputs of the next layer. Examples pass in batches, in eval mode.

Reference: [poole2016exponential], [schoenholz2017deep] for what (1) and (2) do in theory; [glorot2010understanding].

>>> import torch
>>> result = signal_propagation(nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1)), torch.randn(32, 4))
>>> [layer.name for layer in result.layers], [layer.kind for layer in result.layers]
(['0', '1', '2'], ['Linear', 'ReLU', 'Linear'])
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import log
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapter.adapt import adapt_inputs
from gnomon.checks.network.hooks import LayerSums, record_layers
from gnomon.checks.network.layer import LayerSignal
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, map_tensors
from gnomon.core.inputs.checks import check_module_is_callable, check_seed
from gnomon.core.inputs.source import DEFAULT_BATCH_SIZE, AbstractSource, as_input_source
from gnomon.core.modules.outputs import output_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.pure import PureFunction
from gnomon.core.results import Axis, Finding, Line, Plot, Result
from gnomon.findings import network as kinds
from gnomon.program.laws import weight_std
from gnomon.training.evaluate import Loss, Objective

__all__ = ["SignalPropagation", "signal_propagation", "trained_unit_findings"]


@dataclass(frozen=True, slots=True)
class SignalPropagation(Result):
    """Result: statistics of outputs and gradients of each layer in the order of calls, and the mean square of the
    inputs.

    See equations (1) to (4) of the module docstring.
    ``inputs`` is None if no input is real; ``findings`` are empty for a healthy module.
    """

    layers: tuple[LayerSignal, ...]
    inputs: float | None
    examples: int
    findings: tuple[Finding, ...] = ()

    @property
    def worst(self) -> Finding | None:
        """Returns the most serious problem of signals or gradients; None if there is none."""
        return self.findings[0] if self.findings else None

    def rate(self, quantity: str = "activation") -> float:
        """Returns the mean change of the logarithm of the size of activations or gradients from one layer with weights
        to the next.
        """
        values = [getattr(layer, quantity) for layer in self.layers if layer.weighted]
        values = [v for v in values if v is not None and v > 0]
        return log(values[-1] / values[0]) / (len(values) - 1) if len(values) > 1 else 0.0

    @property
    def verdict(self) -> str:
        """States the most serious problem with its fix, or says that signals and gradients have a normal size at all
        layers.
        """
        if self.worst is not None:
            return str(self.worst)
        count = sum(layer.weighted for layer in self.layers)
        if not count:
            return "The network has no layer with weights, so no signal can vanish or explode."
        return f"Signals and gradients pass through all {count} layers with weights: none vanish, explode or die."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the mean squares of activations and gradients over the layers, on a logarithmic axis."""
        marks = []
        for name in ("activation", "gradient"):
            values = [(i, getattr(layer, name)) for i, layer in enumerate(self.layers, start=1)]
            shown = [(i, v) for i, v in values if v]
            marks.append(Line(name, [i for i, _ in shown], [v for _, v in shown]))
        axes = Axis("layer, in the order of calls"), Axis("mean square", log=True)
        return (Plot("Signal propagation", tuple(marks), *axes, caption=self.verdict),)


@add_call_to_errors
def signal_propagation(module: nn.Module, data: Any, *, loss: Loss | None = None, seed: int = 0) -> SignalPropagation:
    """Measures the sizes of outputs and gradients at every layer, and finds layers at which they vanish or explode.

        activation = mean h^2,    gradient = mean (n dL/dh)^2                                         (1)

    Args:
        module: any module; read in eval mode, and left as it was.
        data: inputs as the module takes them; or a pair (inputs, targets), a ``Dataset``, a ``DataLoader`` or batches,
            whose targets are used if they have some.
        loss: as in `gnomon.train`.
        seed: of the random signs.

    Hypotheses: none; `signal_findings` has the thresholds of the findings.
    Reference: [schoenholz2017deep], [glorot2010understanding].
    Cost: one forward and one backward pass over the examples.

    >>> result = signal_propagation(nn.Linear(3, 5, bias=False), torch.eye(3))
    >>> bool(abs(result.layers[0].gradient - 1) < 1e-6)                        # random signs: dL/df = +-1 / n
    True
    """
    if isinstance(module, nn.Module):
        module, data = adapt_inputs(module, data)
    check_module_is_callable(module)
    generator = torch.Generator().manual_seed(check_seed(seed))
    sums = _Sums({}, {})
    with preserve(module):
        f = PureFunction(module, {name: p.detach().requires_grad_() for name, p in module.named_parameters()}, {})
        for inputs, loss_of in _batches(as_input_source(data, module), module, loss, generator):
            sums.add(f, inputs, loss_of)
    if not sums.layers:
        raise InputError(
            "no layer was called", accepted="a module with layers", fix="Pass the module whose forward calls the layers"
        )
    gradients = {key: g / sums.examples for key, g in sums.gradients.items()} if sums.differentiable else None
    layers = tuple(layer.result(gradients) for layer in sums.layers.values())
    square = None if sums.squares is None else sums.squares / sums.examples
    found = signal_findings(layers, square, _weight_variance(module))
    return SignalPropagation(layers, square, sums.examples, tuple(_behind_frozen(one, layers, module) for one in found))


def trained_unit_findings(module: nn.Module, x: Any) -> tuple[Finding, ...]:
    """Reports dead units of a trained network, and outputs that are NaN or infinite.

    >>> trained_unit_findings(nn.Sequential(nn.Linear(2, 8), nn.Tanh()), torch.randn(16, 2))
    ()
    """
    found = signal_propagation(module, x).findings
    after = [
        replace(f, row=kinds.DEAD_AFTER_TRAINING)
        if f.row in (kinds.DEAD_LAYER, kinds.CONSTANT_LAYER, kinds.DEAD_UNITS)
        else f
        for f in found
    ]
    return tuple(f for f in after if f.row in (kinds.DEAD_AFTER_TRAINING, kinds.DEAD_BEHIND_FROZEN, kinds.NOT_FINITE))


def _behind_frozen(finding: Finding, layers: tuple[LayerSignal, ...], module: nn.Module) -> Finding:
    """Reports dead units after frozen (pretrained) layers as less serious: the data may simply not need these
    features.
    """
    if finding.row not in (kinds.CONSTANT_LAYER, kinds.DEAD_UNITS):
        return finding
    names = [layer.name for layer in layers]
    before = [layer.name for layer in layers[: names.index(finding.where) + 1] if layer.weighted]
    frozen = not any(p.requires_grad for name in before for p in module.get_submodule(name).parameters(recurse=False))
    trained = any(p.requires_grad for p in module.parameters())
    return replace(finding, row=kinds.DEAD_BEHIND_FROZEN) if before and frozen and trained else finding


def _weight_variance(module: nn.Module) -> float | None:
    """Returns the variance of the weights times the number of inputs (median over layers), on which mean-field theory
    depends.
    """
    weights = [p.detach() for name, p in module.named_parameters() if p.dim() > 1 and name.endswith("weight")]
    return median(weight_std(w) ** 2 for w in weights) if weights else None


@dataclass(slots=True, eq=False)
class _Sums:
    """Statistics summed over batches: by layer call, gradients by parameter id, and squares of the inputs."""

    layers: dict[str, LayerSums]
    gradients: dict[int, Tensor]
    examples: int = 0
    squares: float | None = None
    differentiable: bool = True

    def add(self, f: PureFunction, inputs: Inputs, loss_of: Callable[[Any], Tensor]) -> None:
        """Runs one batch forward and backward, and adds its statistics to the sums."""
        x = map_tensors(lambda t: t.clone().requires_grad_() if t.is_floating_point() else t, inputs)
        n = count_examples(x)
        with record_layers(f.module, n, self.layers):
            value = loss_of(f.module_output(x))
        real = [t for t in input_tensors(x) if t.requires_grad]
        self.examples += n
        if real:
            self.squares = (self.squares or 0.0) + n * float(real[0].detach().double().square().mean())
        self.differentiable = self.differentiable and value.requires_grad and bool(value.detach().isfinite())
        if self.differentiable:  # Hooks on layer outputs get gradients only if parameters need them.
            leaves = list(f.leaves.values())
            passed = torch.autograd.grad(value, [*leaves, *real], allow_unused=True)[: len(leaves)]
            for w, g in zip(leaves, passed, strict=True):
                if g is not None:
                    self.gradients[id(w)] = self.gradients.get(id(w), 0) + n * g


def _batches(
    data: AbstractSource, module: nn.Module, loss: Loss | None, generator: torch.Generator
) -> Iterator[tuple[Inputs, Callable[[Any], Tensor]]]:
    """Yields for each batch its inputs and a function that computes the loss from the module's output."""
    if data.first(1).y is None:
        for batch in data.batches():
            yield batch.x, partial(_signed_sum, n=len(batch), generator=generator)
        return
    objective = Objective.of(data, module, loss)
    for x, y in objective.batches(DEFAULT_BATCH_SIZE):
        yield x, partial(objective.loss_of, y=y)


def _signed_sum(returned: Any, n: int, generator: torch.Generator) -> Tensor:
    """Returns a random loss for data without targets: the sum of all outputs with random signs, divided by n."""
    outputs = output_rows(returned, n)
    signs = torch.randint(0, 2, outputs.shape, generator=generator) * 2 - 1
    return (outputs * signs.to(outputs)).sum() / n
