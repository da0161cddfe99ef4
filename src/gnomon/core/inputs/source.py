"""Converts data in every common form (arrays, data sets, loaders, iterables) to one interface that reads batches.

A source is made by `data_source` from a pair of tensors, arrays or tables, a ``torch.utils.data.Dataset``, a
``DataLoader``, any re-iterable of batches, or a function that returns an iterator of batches; a batch is (inputs,
targets) or a dict with a target key ("labels", "label", "target", "targets" or "y"), as Hugging Face has them. Whatever
it is made from, it says how many examples there are, gives them in batches in one fixed order, draws a reproducible
probe, and sums. With a module, every batch is on its device, in its dtype, and checked: finite, dense, a target for
each input.

>>> import torch
>>> pair = data_source((torch.arange(6.0)[:, None], torch.tensor([0, 0, 0, 0, 1, 1])))
>>> len(pair), [len(batch) for batch in pair.batches(4)]
(6, [4, 2])
>>> pair.probe(3, seed=0).y.tolist()                                  # each class has its share
[0, 0, 1]
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import islice
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.inputs.batch import Batch, join_batches, read_examples, to_batch
from gnomon.core.inputs.checks import as_inputs, as_targets, is_array, to_dense_tensors
from gnomon.core.inputs.pairs import is_data_with_targets, is_input_target_pair
from gnomon.core.inputs.rows import batch_from_columns, target_column
from gnomon.core.inputs.signature import add_none_for_optional_arguments, inputs_with_targets, target_argument
from gnomon.core.inputs.strata import stratified_sample

__all__ = [
    "AbstractSource",
    "Batch",
    "InMemorySource",
    "DEFAULT_BATCH_SIZE",
    "StreamingSource",
    "data_source",
    "as_input_source",
    "all_inputs",
]

DEFAULT_BATCH_SIZE = 256
"""Examples per batch if the caller gives no batch size."""


class AbstractSource(ABC):
    """Base class of data sources: objects that read examples in a fixed order, in batches."""

    module: nn.Module | None
    _targets_go_to: str | None | Literal[False] = False
    """The module's argument that needs the targets; False before the first batch."""

    @abstractmethod
    def __len__(self) -> int:
        """Returns the number of examples in the data source; a stream of batches is read once to count them."""

    @abstractmethod
    def batches(self, size: int | None = None) -> Iterator[Batch]:
        """Yields all examples of the data source in order, in batches of ``size``, or in their own batches for a
        stream.
        """

    @abstractmethod
    def at(self, index: Tensor) -> Batch:
        """Returns the examples with these indices as one batch, in the order of the indices."""

    def labels(self) -> Tensor | None:
        """Returns all targets of the data source in one tensor; None if the data have no targets."""
        targets = [batch.y for batch in self.batches()]
        return None if any(y is None for y in targets) else torch.cat([y for y in targets if y is not None])

    def whole(self) -> Batch:
        """Loads all examples of the data source into memory, as one batch."""
        return join_batches(list(self.batches()))

    def pair(self) -> tuple[Inputs, Tensor]:
        """Loads all inputs and all targets of the data source into memory; raises an error if targets are missing."""
        batch = self.whole()
        if batch.y is None:
            fix = "Pass (inputs, targets), or batches with targets: pairs, or dicts with the key 'labels'"
            raise InputError("the data have no targets", accepted="a target for each input", fix=fix)
        return batch.x, batch.y

    def first(self, n: int) -> Batch:
        """Returns the first n examples of the data source, or all if there are fewer."""
        parts, seen = [], 0
        for batch in self.batches(n):
            parts.append(batch[: n - seen] if len(batch) > n - seen else batch)
            seen += len(parts[-1])
            if seen >= n:
                break
        return join_batches(parts)

    def probe(self, n: int, *, seed: int = 0) -> Batch:
        """Returns a random sample of at most n examples in their original order, stratified by class if targets are
        integers.
        """
        return self.at(stratified_sample(len(self), self.labels(), n, seed=seed))

    def mean(self, function: Callable[[Batch], Any], *, size: int | None = None) -> Any:
        """Averages a function over all examples; the function maps a batch to the mean over the batch."""
        total: Any = 0
        n = 0
        for batch in self.batches(size):
            total, n = total + function(batch) * len(batch), n + len(batch)
        return total / n

    def _ready(self, batch: Batch) -> Batch:
        """Validates a batch and converts it to the form that the module of the data source takes, if it has a
        module.
        """
        if self.module is None:
            return batch
        x = add_none_for_optional_arguments(as_inputs(batch.x, self.module), self.module)
        if batch.y is None:
            return Batch(x, None)
        y = as_targets(batch.y, count_examples(x))
        if self._targets_go_to is False:
            self._targets_go_to = target_argument(self.module, lambda: x, y)
        name = self._targets_go_to
        return Batch(inputs_with_targets(x, y, name, self.module) if name else x, y)


class InMemorySource(AbstractSource):
    """A data source whose examples are all in memory."""

    def __init__(self, batch: Batch, module: nn.Module | None) -> None:
        self.module = module
        self.batch = self._ready(batch)

    def __len__(self) -> int:
        return len(self.batch)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        for start in range(0, len(self), size or DEFAULT_BATCH_SIZE):
            yield self.batch[start : start + (size or DEFAULT_BATCH_SIZE)]

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return self.batch[index]

    def labels(self) -> Tensor | None:  # noqa: D102
        return self.batch.y

    def whole(self) -> Batch:  # noqa: D102
        return self.batch


class Indexed(AbstractSource):
    """A data source for a torch ``Dataset`` with a length; reads single examples, which ``collate`` joins to
    batches.
    """

    def __init__(self, dataset: Any, collate: Callable[[list[Any]], Any], module: nn.Module | None) -> None:
        self.dataset, self.collate, self.module = dataset, collate, module
        if not len(dataset):
            raise InputError("the data set is empty", accepted="at least one example", fix="Pass data with examples")

    def __len__(self) -> int:
        return len(self.dataset)

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        for start in range(0, len(self), size or DEFAULT_BATCH_SIZE):
            yield self.at(torch.arange(start, min(start + (size or DEFAULT_BATCH_SIZE), len(self))))

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        return self._ready(to_batch(read_examples(self.dataset, index.tolist(), self.collate)))

    def labels(self) -> Tensor | None:
        """Returns all targets: the attribute ``targets`` of the data set if it has one, else by reading every
        example.
        """
        known = getattr(self.dataset, "targets", None)
        if known is not None and isinstance(known, Sized) and len(known) == len(self):
            return as_targets(known, len(self))
        return super().labels()


class Columns(Indexed):
    """A data source for Hugging Face data sets; reads many rows at once as columns."""

    def __init__(self, dataset: Any, module: nn.Module | None) -> None:
        super().__init__(dataset, default_collate, module)

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        rows = batch_from_columns(self.dataset[index.tolist()], self.module)
        return self._ready(to_batch(rows))

    def labels(self) -> Tensor | None:
        """Returns all targets by reading the column of targets."""
        name = target_column(self.dataset.column_names)
        return None if name is None else as_targets(list(self.dataset[name]), len(self))


class StreamingSource(AbstractSource):
    """A data source for streams of batches; the function ``again`` starts a new pass over the data."""

    def __init__(self, again: Callable[[], Iterable[Any]], module: nn.Module | None) -> None:
        self.again, self.module = again, module
        self._count: int | None = None

    def __len__(self) -> int:
        if self._count is None:
            for _ in self.batches():
                pass
        return self._count or 0

    def batches(self, size: int | None = None) -> Iterator[Batch]:  # noqa: D102
        seen = 0
        for raw in self.again():
            batch = self._ready(to_batch(raw))
            seen += len(batch)
            yield batch
        if not seen or self._count not in (None, seen):
            what = "the data gave no batch" if not seen else f"one pass gave {self._count} examples and another {seen}"
            fix = "Pass a list of batches, a DataLoader, or a function that returns a new iterator at each call"
            raise InputError(what, accepted="data that can be read again", fix=fix)
        self._count = seen

    def at(self, index: Tensor) -> Batch:  # noqa: D102
        order = index.argsort()
        wanted, parts, start = index[order], [], 0
        for batch in self.batches():
            inside = wanted[(wanted >= start) & (wanted < start + len(batch))] - start
            if len(inside):
                parts.append(batch[inside])
            start += len(batch)
            if start > int(wanted[-1]):
                break
        return join_batches(parts)[order.argsort()]


def data_source(data: Any, y: Any = None, *, module: nn.Module | None = None) -> AbstractSource:
    """Creates a data source, which reads batches, from data in any supported form: arrays, data sets, loaders,
    functions.

    Args:
        data: inputs, when ``y`` is given; otherwise a pair (inputs, targets), a dict of columns with a target key, a
            ``Dataset``, a ``DataLoader``, a list or other re-iterable of batches, or a function that returns an
            iterator of batches. A generator can be read only once: its batches are kept in memory.
        y: targets.
        module: whose device and dtype the batches take; without it they stay as they are.

    A ``DataLoader`` over a data set with a length is read in the order of the data set, not of its sampler, so that
    every pass gives the same examples.
    Cost: a check of the examples for a pair; otherwise none, batches are read when they are asked for.

    >>> from torch.utils.data import TensorDataset
    >>> x, y = torch.eye(3), torch.tensor([0, 1, 1])
    >>> kinds = (x, y), DataLoader(TensorDataset(x, y), batch_size=2), [{"x": x, "labels": y}]
    >>> [len(data_source(data)) for data in kinds]
    [3, 3, 3]
    """
    if isinstance(data, AbstractSource) and y is None:
        return data
    if y is not None:
        return _pair(data, y, module)
    if is_input_target_pair(data):
        return _pair(data[0], data[1], module)
    if is_array(data) or isinstance(data, Tensor):
        return _pair(data, None, module)
    if isinstance(data, Mapping):
        if hasattr(data, "column_names"):  # A Hugging Face DatasetDict is a dict of several data sets.
            what, first = f"the data are a dict with the data sets {', '.join(data)}", next(iter(data), "train")
            raise InputError(what, accepted="one data set", fix=f"Pass data['{first}'], and test=data['test']")
        return InMemorySource(to_batch(data), module)
    return _source_of_batches(data, module)


def as_input_source(x: Any, module: nn.Module) -> AbstractSource:
    """Creates a data source for functions that need no targets, from inputs alone or from data with targets.

    A tensor, an array, a table, a tuple, a list or a dict is what the module is called with. A pair (inputs, targets),
    a list of batches, a ``Dataset``, a ``DataLoader``, another iterable of batches or a function that returns one is
    data. A tuple of two tensors is a pair if ``forward`` takes one argument, otherwise its two arguments.
    Cost: a check of inputs that are in memory; otherwise none.

    >>> as_input_source((torch.zeros(4, 2), torch.ones(4)), nn.Linear(2, 1)).labels()
    tensor([1., 1., 1., 1.])
    >>> as_input_source((torch.zeros(4, 2), torch.zeros(4, 3)), nn.Bilinear(2, 3, 1)).labels()
    """
    if is_data_with_targets(x, module):
        return data_source(x, module=module)
    arguments = isinstance(x, Tensor | tuple | list | Mapping | str | bytes) or is_array(x)
    batched = isinstance(x, AbstractSource | Dataset | Iterable) or hasattr(x, "column_names") or callable(x)
    if arguments or not batched or isinstance(x, type | nn.Module):
        return InMemorySource(Batch(to_dense_tensors(x), None), module)
    return data_source(x, module=module)


def all_inputs(x: Any, module: nn.Module) -> Inputs:
    """Loads the inputs of all examples as one batch in the form that the module takes, without targets.

    ``x`` is as in `as_input_source`; data that come in batches are read to their end.
    Cost: reading the data; all inputs are in memory.

    >>> from torch.utils.data import TensorDataset
    >>> loader = DataLoader(TensorDataset(torch.eye(3), torch.zeros(3)), batch_size=2)
    >>> all_inputs(loader, nn.Linear(3, 1)).shape
    torch.Size([3, 3])
    """
    return as_input_source(x, module).whole().x


def _source_of_batches(data: Any, module: nn.Module | None) -> AbstractSource:
    """Creates a data source from data that are not arrays: data sets, loaders, iterables and functions."""
    if isinstance(data, DataLoader):
        if isinstance(data.dataset, IterableDataset) or data.collate_fn is None:
            return StreamingSource(lambda: data, module)
        return Indexed(data.dataset, data.collate_fn, module)
    # Hugging Face data sets have column names. One without a length is a stream of rows.
    if hasattr(data, "column_names"):
        whole = isinstance(data, Sized)
        return Columns(data, module) if whole else StreamingSource(lambda: _rows(data, module), module)
    if isinstance(data, IterableDataset):
        return StreamingSource(lambda: DataLoader(data, batch_size=DEFAULT_BATCH_SIZE), module)
    if isinstance(data, Dataset):
        return Indexed(data, default_collate, module)
    if callable(data) and not isinstance(data, Iterable) and not isinstance(data, type | nn.Module):
        return StreamingSource(data, module)
    if isinstance(data, Iterator):
        kept = list(data)
        return StreamingSource(lambda: kept, module)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return StreamingSource(lambda: data, module)
    what = "the data are None" if data is None else f"the data are a {type(data).__name__}"
    fix = "Pass inputs and targets, a Dataset, a DataLoader, or a list of batches"
    raise InputError(what, accepted="a source of examples", fix=fix)


def _rows(data: Iterable[Mapping[str, Any]], module: nn.Module | None) -> Iterator[Any]:
    """Joins single rows of a Hugging Face data stream to batches."""
    rows = iter(data)
    while some := list(islice(rows, DEFAULT_BATCH_SIZE)):
        yield batch_from_columns({name: [row[name] for row in some] for name in some[0]}, module)


def _pair(x: Any, y: Any, module: nn.Module | None) -> InMemorySource:
    inputs = to_dense_tensors(x)
    n = count_examples(inputs)
    return InMemorySource(Batch(inputs, None if y is None else as_targets(y, n)), module)
