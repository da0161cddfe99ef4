"""Records the batches of a user's training script: from which loader, whether they repeat, and which classes they
contain.

>>> batches, loader = BatchRecorder(), DataLoader(torch.eye(4), 2)
>>> batches.pass_begins(loader, iterator := iter(loader))
>>> batches.batch_drawn(iterator, next(iterator))
>>> batches.seen[0].length, batches.seen[0].batches
(2, 1)
"""

import weakref
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

from gnomon.examination.script.label_sample import labels_in_batch
from gnomon.examination.script.seen import LoaderRecord, first_tensor

__all__ = ["BatchRecorder", "fingerprint"]

MAX_BATCHES_READ = 200
"""Batches of each loader whose labels and numbers are read."""
NUMBERS_COMPARED = 24
"""Numbers of each batch that are compared with the batch before."""
INPUTS_FOR_RANKS = 8
"""First batches that processes compare with each other."""
PLAIN_BATCHES = (BatchSampler, type(None))
"""Batch samplers of loaders for which the script defines none."""
MIN_STORAGE_FACTOR = 2
"""Inputs are a part of larger data if their memory is this many times their size."""


@dataclass(slots=True, eq=False)
class BatchRecorder:
    """Records the data loaders of a script and their batches, and model inputs that come from no loader."""

    loaders: "weakref.WeakKeyDictionary[Any, LoaderRecord]" = field(default_factory=weakref.WeakKeyDictionary)
    iterators: "weakref.WeakKeyDictionary[Any, LoaderRecord]" = field(default_factory=weakref.WeakKeyDictionary)
    seen: list[LoaderRecord] = field(default_factory=list)
    current: LoaderRecord | None = None
    last_in_eval: LoaderRecord | None = None
    compared: int = 0
    repeated: int = 0
    last_input: tuple[float, ...] | None = None
    first_inputs: list[tuple[float, ...]] = field(default_factory=list)
    last_step: int = -1

    def pass_begins(self, loader: Any, iterator: Any) -> None:
        """Records that the script begins a new epoch over a loader."""
        known = self.loaders.get(loader) or self._record_of_deleted(loader)
        if known is None:
            known = LoaderRecord(_length(loader))
            self.seen.append(known)
        self.loaders[loader], known.loader, known.data = known, weakref.ref(loader), _reference(loader.dataset)
        if known.data_number is None and known.data is not None and _takes_all_data(loader):
            known.data_number = self._number_of_data(loader.dataset)
        known.in_order = type(loader.sampler) is SequentialSampler and type(loader.batch_sampler) in PLAIN_BATCHES
        known.longest = max(known.longest, known.in_pass)
        known.single += known.passes > 0 and known.in_pass == 1 and (known.length or 2) > 1
        known.passes += 1
        known.in_pass = 0
        self.iterators[iterator] = known

    def _number_of_data(self, data: Any) -> int:
        """Returns the number of a data set; loaders of one data set share it."""
        others = [one.data_number for one in self.seen if one.data is not None and one.data() is data]
        return next((number for number in others if number is not None), len(self.seen))

    def _record_of_deleted(self, loader: Any) -> LoaderRecord | None:
        """Finds the record of a deleted loader of the same data, because some scripts create a loader in each step."""
        return next(
            (
                one
                for one in self.seen
                if one.loader() is None and one.data is not None and one.data() is loader.dataset
            ),
            None,
        )

    def batch_drawn(self, iterator: Any, batch: Any) -> None:
        """Records that a loader returned a batch; reads a few of its numbers and its labels."""
        known = self.count_batch(iterator, batch)
        if known is None:
            return
        self.current = known
        known.batches += 1
        if known.batches > MAX_BATCHES_READ:
            return
        first = first_tensor(batch)
        if known.passes == 1:
            known.keys.note_batch(first)
            known.sample.note_batch(first, batch)
            known.numbers.note_batch(first)
        numbers = fingerprint(first)
        if numbers is not None and known.last is not None:
            known.compared += 1
            known.equal += numbers == known.last
        known.last = numbers
        if known.passes == 1 and (labels := labels_in_batch(batch)) is not None:
            known.classes.update(labels)
            known.labels.append((len(labels), len(set(labels))))

    def count_batch(self, iterator: Any, batch: Any) -> LoaderRecord | None:
        """Counts a batch in the current pass over its loader, and returns the record of the loader."""
        known = self.iterators.get(iterator)
        if known is not None:
            known.in_pass += 1
        return known

    def note_step(self, *, in_eval: bool) -> None:
        """Records an optimizer step after the last batch, and the mode of the model that was trained."""
        if self.current is not None:
            self.current.steps_eval += in_eval
            self.current.steps_train += not in_eval
            if self.last_in_eval is not None and not in_eval:
                self.last_in_eval.returns += self.last_in_eval is not self.current
            self.last_in_eval = self.current if in_eval else None

    def note_forward(self, inputs: Any, step: int) -> None:
        """Records a forward pass of the script's model in training mode with gradients."""
        if self.current is not None:
            self.current.forwards += 1
        compared = self.compared if self.current is None else self.current.inputs_compared
        if step == self.last_step or compared >= MAX_BATCHES_READ:
            return
        self.last_step = step
        tensor = first_tensor(inputs)
        numbers = fingerprint(tensor)
        if numbers is None or tensor is None:
            return
        if len(self.first_inputs) < INPUTS_FOR_RANKS:
            self.first_inputs.append(numbers)
        if self.last_input is not None and self.current is None:
            self.compared += 1
            larger = tensor.untyped_storage().nbytes() >= MIN_STORAGE_FACTOR * tensor.numel() * tensor.element_size()
            self.repeated += numbers == self.last_input and larger
        elif self.last_input is not None and self.current is not None:
            self.current.inputs_compared += 1
            self.current.inputs_equal += numbers == self.last_input
        self.last_input = numbers

    def note_backward(self) -> None:
        """Records that the script ran a backward pass after its last batch."""
        if self.current is not None:
            self.current.backwards += 1

    def forget(self) -> None:
        """Forgets the last batches when recording pauses, because they cannot be compared with later ones."""
        self.last_input = None
        for known in self.seen:
            known.last = None


def fingerprint(tensor: Tensor | None) -> tuple[float, ...] | None:
    """Returns a few numbers of a CPU tensor by which to recognize the tensor later; None if reading is impossible.

    >>> fingerprint(torch.arange(4.0))
    (0.0, 1.0, 2.0, 3.0)
    """
    if tensor is None or tensor.device.type != "cpu" or tensor.layout != torch.strided or tensor.numel() < 2:
        return None
    flat = tensor.detach()
    flat = flat.view(-1) if flat.is_contiguous() else flat.reshape(-1)
    stride = max(1, flat.numel() // NUMBERS_COMPARED)
    return tuple(flat[::stride].tolist())


def _takes_all_data(loader: Any) -> bool:
    """Checks whether a loader goes through its whole data set, and not through a part that a sampler chooses."""
    return type(loader.sampler) in (SequentialSampler, RandomSampler) and type(loader.batch_sampler) in PLAIN_BATCHES


def _reference(data: Any) -> Any:
    """Returns a weak reference to a data set; None if it cannot have one, such as a list."""
    try:
        return weakref.ref(data)
    except TypeError:
        return None


def _length(loader: DataLoader[Any]) -> int | None:
    try:
        return len(loader)
    except TypeError:  # The data set of this loader has no length.
        return None
