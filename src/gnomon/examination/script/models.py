"""Records which models a training script calls, in which mode, and whether for training or validation.

>>> net, models = nn.Sequential(nn.Linear(2, 2)), ModelRecorder()
>>> for module in (net[0], net):                                                   # layers return before their model
...     model = models.note_call(module, graph=True, step=0)
>>> [one.kind for one in models.roots()], models.name_of(net[0])
(['Sequential'], '0')
"""

import weakref
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from gnomon.examination.script.seen import ModelRecord, is_mode_sensitive

__all__ = ["ModelRecorder"]


@dataclass(slots=True, eq=False)
class ModelRecorder:
    """Records all modules that the script calls, and which of them are parts of others."""

    known: dict[int, ModelRecord] = field(default_factory=dict)
    lost: list[ModelRecord] = field(default_factory=list)
    restored_from_itself: int = 0
    trained_in_eval: bool = False
    newest: ModelRecord | None = None
    short_lived: Counter[tuple[str, int]] = field(default_factory=Counter)

    def note_call(self, module: nn.Module, *, graph: bool, step: int) -> ModelRecord | None:
        """Records a call of a module; returns the record of the model, or None for single layers and losses."""
        model = self.known.get(id(module))
        if model is None or model.ref() is not module:
            model = self._meet(module)
        if model.inner or not model.size:
            return None
        if not graph:
            model.note_validation(module, step)
            if module.training and _in_training_mode(module):
                model.first_in_training = model.first_in_training or step
                model.in_training += 1
        else:
            model.last_training = module.training
            model.pending_train += module.training
            model.pending_eval += not module.training
        return model

    def _meet(self, module: nn.Module) -> ModelRecord:
        self._forget_short_lived()
        old = self.known.get(id(module))
        if old is not None and (old.trained or old.validated):
            self.lost.append(old)
        model = self.newest = ModelRecord.of(module)
        model.key = id(module)
        self.known[id(module)] = model
        for name, part in module.named_modules():
            if part is not module:
                other = self.known.get(id(part))
                if other is None or other.ref() is not part:
                    other = self.known[id(part)] = ModelRecord(weakref.ref(part), type(part).__name__)
                other.inner, other.name = True, name
        return model

    def _forget_short_lived(self) -> None:
        """Counts the last new module if it was called once and no longer exists, and forgets it."""
        last = self.newest
        calls = 0 if last is None else last.trained + last.validated + last.pending_train + last.pending_eval
        if last is not None and last.ref() is None and calls == 1 and last.size and not last.inner:
            self.short_lived[last.kind, last.size] += 1
            self.known.pop(last.key, None)

    def most_short_lived(self) -> tuple[str, int, int] | None:
        """Returns class, size and number of the layers that most often existed in one forward pass only."""
        if not self.short_lived:
            return None
        (kind, size), count = self.short_lived.most_common(1)[0]
        return kind, size, count

    def note_load(self, module: nn.Module, state: Any) -> None:
        """Counts restored states that are the model's current weights themselves and not copies of them."""
        own = {name: value.data_ptr() for name, value in module.named_parameters() if value.numel()}
        given = [(own[name], value.data_ptr()) for name, value in state.items() if name in own]
        self.restored_from_itself += bool(given) and all(one == other for one, other in given)

    def roots(self) -> list[ModelRecord]:
        """Returns the records of models that the script calls directly, without losses."""
        return [one for one in (*self.lost, *self.known.values()) if one.size and not one.inner]

    def look_for_missing(self, held: Set[int]) -> None:
        """Records parameters with gradients that no optimizer holds, given by ``id``, and frozen random layers."""
        for model in self.roots():
            module = model.ref()
            if module is not None and model.trained + model.trained_in_eval:
                named = [(name, p) for name, p in module.named_parameters() if p.requires_grad and p.grad is not None]
                model.missing = tuple((name, p.numel()) for name, p in named if id(p) not in held)
                model.note_frozen(module)

    def name_of(self, module: nn.Module) -> str:
        """Returns the path of a module within its model, or its class name."""
        known = self.known.get(id(module))
        return known.name if known is not None and known.name else type(module).__name__

    def note_backward(self, step: int, *, by_hand: bool = False) -> None:
        """Counts all forward passes since the last backward pass as training, or as validation.

        ``by_hand``: the script has no optimizer, so it may change the weights itself.
        """
        for model in self.known.values():
            if model.inner or not (model.pending_train or model.pending_eval):
                continue
            self.trained_in_eval = not model.last_training
            if by_hand:
                model.note_update_by_hand()
            if model.last_training:
                model.trained += 1
                model.with_graph += model.pending_eval
            else:
                model.trained_in_eval += 1
                model.first_in_eval = model.first_in_eval or step
                model.with_graph += model.pending_eval - 1
            model.pending_train = model.pending_eval = 0

    def note_input_gradients(self) -> None:
        """Records that the graphs of the last forward passes in eval mode were used for gradients of inputs."""
        for model in self.known.values():
            model.pending_eval = 0

    def forget(self) -> None:
        """Forgets forward passes that had no backward pass yet, because recording pauses."""
        for model in self.known.values():
            model.pending_train = model.pending_eval = 0


def _in_training_mode(module: nn.Module) -> bool:
    """Checks whether a layer that behaves differently in eval mode, such as dropout, is in training mode."""
    return any(
        part.training and is_mode_sensitive(part) and getattr(part, "momentum", 0.1) is not None
        for part in module.modules()
    )
