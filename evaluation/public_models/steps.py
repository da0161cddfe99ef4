"""One training step and one prediction as users of each library write them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Batch = Any
BatchLoss = Callable[[nn.Module, Batch], Tensor]
Answers = Callable[[nn.Module, Batch], tuple[Tensor, Tensor]]


def call(model: nn.Module, x: Any) -> Any:
    """The output for a tensor, a tuple of arguments or a dict of named arguments."""
    if isinstance(x, dict):
        return model(**x)
    return model(*x) if isinstance(x, tuple) else model(x)


def compare(loss: Callable[[Any, Any], Tensor], output: Callable[[Any], Any] = lambda out: out) -> BatchLoss:
    """Of a pair (inputs, targets): ``loss(output(model(inputs)), targets)``."""
    return lambda model, batch: loss(output(call(model, batch[0])), batch[1])


def predict(output: Callable[[Any], Any] = lambda out: out) -> Answers:
    """Of a pair (inputs, targets): ``output(model(inputs))`` and the targets."""
    return lambda model, batch: (output(call(model, batch[0])), batch[1])


def first(outputs: Any) -> Any:
    """The first of several outputs."""
    return outputs[0]


def token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy over examples and positions; logits (n, length, tokens), targets (n, length)."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def own_loss(model: nn.Module, batch: Batch) -> Tensor:
    """The loss that a Hugging Face model computes from ``labels``."""
    return model(**batch).loss


def without_labels(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inputs of a dict with labels."""
    return {name: values for name, values in batch.items() if name != "labels"}


def logits(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits of a Hugging Face model, and the labels."""
    return model(**without_labels(batch)).logits, batch["labels"]


def next_logits(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits of a causal Hugging Face model, and the tokens that they predict."""
    return model(**without_labels(batch)).logits[:, :-1], batch["labels"][:, 1:]


def forced_logits(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits of an encoder with decoder that reads the labels one position late, and the labels."""
    return model(**batch).logits, batch["labels"]


def passes_targets(model: nn.Module, batch: Batch) -> Tensor:
    """The loss of a model that returns (logits, loss) from inputs and targets."""
    return model(*batch)[1]


def logits_with_targets(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Logits of a model that returns (logits, loss), and the targets."""
    return model(*batch)[0], batch[1]


def minibatches(data: Any, size: int, generator: torch.Generator):
    """Shuffled batches of a pair or dict of tensors or of one tensor; a loader or list of batches as it comes."""
    if isinstance(data, Tensor | dict) or isinstance(data, tuple):
        count = length(data)
        for rows in torch.randperm(count, generator=generator).split(size):
            if len(rows) > 1:
                yield take(data, rows)
    elif hasattr(data, "train_mask") or hasattr(data, "node_types"):  # one graph is one batch
        yield data
    elif isinstance(data, list):
        yield from (data[i] for i in torch.randperm(len(data), generator=generator).tolist())
    else:
        yield from data


def in_order(data: Any, size: int = 100):
    """Batches in order, for scores."""
    if isinstance(data, Tensor | dict | tuple):
        for rows in torch.arange(length(data)).split(size):
            yield take(data, rows)
    else:
        yield from data


def length(data: Any) -> int:
    """Number of examples in nested tuples and dicts of tensors."""
    while not isinstance(data, Tensor):
        data = next(iter(data.values())) if isinstance(data, dict) else data[0]
    return len(data)


def take(data: Any, rows: Tensor) -> Any:
    """These rows of nested tuples and dicts of tensors; options that are no tensors stay as they are."""
    if isinstance(data, Tensor):
        return data[rows]
    if isinstance(data, dict):
        return {name: take(part, rows) for name, part in data.items()}
    return tuple(take(part, rows) for part in data) if isinstance(data, tuple | list) else data
