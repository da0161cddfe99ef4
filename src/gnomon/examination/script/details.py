"""Records single facts of a training loop: kept graphs, precision, dropout functions, changed inputs, loaded states.

>>> details = LoopDetails()
>>> w = torch.ones(1, requires_grad=True)
>>> details.before_backward((w * 2).sum() - w.pow(2).sum(), 0)
>>> details.subtracts_penalty
True
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from gnomon.examination.script.changed_inputs import ChangedInputs
from gnomon.examination.script.dropout_calls import DropoutCalls
from gnomon.examination.script.held_graphs import HeldGraphs
from gnomon.examination.script.precision import PrecisionRecord
from gnomon.examination.script.seen import ModelRecord, first_tensor
from gnomon.examination.script.weight_penalty import subtracts_penalty

__all__ = ["LoopDetails"]

LOSSES_READ = 3
"""First losses whose graphs are read."""
FIRST_CLIPS = 5
"""First calls of clipping values that are read."""
CLIPS_BETWEEN = 20
"""Later calls of which one is read."""
REDUCTION_MEAN = 1
"""The number by which torch stores reduction="mean"."""
REDUCTION_SUM = 2
"""The number by which torch stores reduction="sum"."""


@dataclass(slots=True, eq=False)
class LoopDetails:
    """Records single facts of a training loop, each of which one finding needs.

    ``mean_losses`` are the names of the first losses that are means of torch's own loss functions, without a factor or
    weights of classes, and "" for others. ``unmatched`` has the
    first names that a state and a module have for their entries, if no name is the same.
    ``values_clipped`` are the shares of gradients that are not zero and that clipping of values cut.
    """

    graphs: HeldGraphs = field(default_factory=HeldGraphs)
    precision: PrecisionRecord = field(default_factory=PrecisionRecord)
    dropout: DropoutCalls = field(default_factory=DropoutCalls)
    inputs: ChangedInputs = field(default_factory=ChangedInputs)
    penalties: list[bool] = field(default_factory=list)
    mean_losses: list[str] = field(default_factory=list)
    summed_losses: list[str] = field(default_factory=list)
    unmatched: tuple[str, str, int] | None = None
    rate_attribute: str = ""
    first_rates: dict[int, Any] = field(default_factory=dict)
    value_limit: float = 0.0
    value_clips: int = 0
    values_clipped: list[float] = field(default_factory=list)

    @property
    def mean_loss(self) -> str:
        """Name of the operation that all of the first losses have in common, such as "NllLoss"; "" if there is none."""
        return _common(self.mean_losses)

    @property
    def summed_loss(self) -> str:
        """Name of the operation whose sum all of the first losses are; "" if there is none."""
        return _common(self.summed_losses)

    @property
    def subtracts_penalty(self) -> bool:
        """Whether all of the first losses subtract a penalty on the weights."""
        return bool(self.penalties) and all(self.penalties)

    def before_backward(self, loss: Tensor, step: int) -> None:
        """Records the graph of a loss."""
        self.graphs.note_loss(loss, step)
        if len(self.penalties) < LOSSES_READ and loss.grad_fn is not None:
            self.penalties.append(subtracts_penalty(loss))
            self.mean_losses.append(_name_of_reduced(loss.grad_fn, REDUCTION_MEAN))
            self.summed_losses.append(_name_of_reduced(loss.grad_fn, REDUCTION_SUM))

    def after_model(self, module: nn.Module, model: ModelRecord, inputs: Any, *, graph: bool) -> None:
        """Records a call of a model that just ended."""
        model.dropped_in_eval += self.dropout.take() > 0 and not module.training
        if not graph or not module.training:
            return
        tensor = first_tensor(inputs)
        self.precision.note_forward()
        self.inputs.note_input(tensor)
        model.single_examples += tensor is not None and tensor.dim() > 1 and len(tensor) == 1

    def note_step(self, optimizer: Optimizer) -> None:
        """Records an optimizer step; looks for learning rates that are set at a place that no step reads."""
        self.precision.note_step()
        if self.rate_attribute or not type(optimizer).__module__.startswith("torch.optim"):
            return
        if "lr" in vars(optimizer):
            self.rate_attribute = "optimizer.lr"
        elif (default := optimizer.defaults.get("lr")) != self.first_rates.setdefault(id(optimizer), default):
            self.rate_attribute = 'optimizer.defaults["lr"]'

    def note_state(self, module: nn.Module, state: Any, result: Any) -> None:
        """Records that ``load_state_dict`` found no entry of the module in a state."""
        missing = list(getattr(result, "missing_keys", ()))
        unexpected = list(getattr(result, "unexpected_keys", ()))
        if missing and unexpected and len(unexpected) == len(state):
            self.unmatched = (unexpected[0], missing[0], len(state))

    def wants_values(self) -> bool:
        """Counts a call of clipping values, and returns whether it should be read."""
        self.value_clips += 1
        return self.value_clips <= FIRST_CLIPS or self.value_clips % CLIPS_BETWEEN == 0

    def note_values(self, parameters: list[Tensor], limit: float) -> None:
        """Records which share of the gradients that are not zero has the size of the limit, after clipping."""
        gradients = [p.grad for p in parameters if p.grad is not None and p.grad.layout == torch.strided]
        if not gradients or gradients[0].device.type != "cpu":
            return
        cut = sum(int((g.abs() >= torch.tensor(limit, dtype=g.dtype)).sum()) for g in gradients)
        total = sum(int(g.count_nonzero()) for g in gradients)
        self.value_limit = limit
        self.values_clipped += [cut / total] if total else []

    def forget(self) -> None:
        """Forgets what was recorded since the last model call, because recording paused."""
        self.dropout.take()


def _name_of_reduced(node: Any, reduction: int) -> str:
    """Returns the name of a loss operation with this reduction and without weights; "" for other operations."""
    weighted = isinstance(getattr(node, "_saved_weight", None), Tensor)
    reduced = getattr(node, "_saved_reduction", None) == reduction and not weighted
    return type(node).__name__.split("Backward")[0] if reduced else ""


def _common(names: list[str]) -> str:
    return names[0] if names and len(set(names)) == 1 else ""
