"""Converts examples made of any tensors to rows of numbers, so that checks can measure distances between examples.

Real inputs are flattened; a table (n, p) is divided by the spread of each column, so that no unit of measurement
decides what is near. Integers, such as tokens, become sums of random signs, one for each pair of position and value,
so that the squared distance of two rows counts the positions at which they differ, and one for each value, so that rows
with the same words are near.

>>> import torch
>>> example_rows(torch.tensor([[1.0, 100.0], [-1.0, -100.0]])).tolist()
[[1.0, 1.0], [-1.0, -1.0]]
"""

import hashlib
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors
from gnomon.core.inputs.batch import Batch, join_batches
from gnomon.core.inputs.checks import check_finite_inputs

__all__ = [
    "bits_per_example",
    "example_hashes",
    "joint_example_rows",
    "nearest_distances",
    "random_features",
    "example_rows",
]

SIGNS_PER_VALUE = 64
"""Number of random signs for each integer value."""
SKETCH_DIMENSIONS = 96
"""Dimensions in which neighbors are searched; distances are then computed in all dimensions."""
ROWS_PER_TILE = 4096
"""Number of rows compared at once."""


def example_rows(x: Inputs, *, seed: int = 0) -> Float[Tensor, "n p"]:
    """Converts each example (one or several tensors of any shape) to one row of float32 numbers.

    Cost: a copy of the inputs; for integers 2 `SIGNS_PER_VALUE` numbers for each example.

    >>> example_rows((torch.zeros(3, 2, 2), torch.zeros(3, 5, dtype=torch.long))).shape
    torch.Size([3, 132])
    """
    parts = []
    for t in input_tensors(x):
        flat = t.detach().cpu().reshape(len(t), -1)
        if not t.is_floating_point():
            parts.append(_code(flat.long(), seed))
            continue
        flat = flat.float()
        if t.dim() == 2:
            spread = flat.std(0, correction=0)
            flat = (flat - flat.mean(0)) / torch.where(spread > 0, spread, 1.0)
        parts.append(flat)
    return torch.cat(parts, 1)


def joint_example_rows(x: Inputs, x_test: Inputs, *, seed: int = 0) -> Float[Tensor, "n p"]:
    """Converts training and test examples to rows of numbers on the same scale; training examples come first.

    Cost: the same as `example_rows`, and a check that both have one shape and finite numbers.

    >>> joint_example_rows(torch.zeros(2, 3), torch.ones(1, 3)).shape
    torch.Size([3, 3])
    """
    shapes = [[tuple(t.shape[1:]) for t in input_tensors(part)] for part in (x, x_test)]
    if shapes[0] != shapes[1]:
        found = f"training examples have shape {str(shapes[0])[1:-1]} and test examples {str(shapes[1])[1:-1]}"
        raise InputError(found, accepted="examples of one kind", fix="Prepare both sets in the same way")
    for part in (x, x_test):
        check_finite_inputs(part)
    return example_rows(join_batches([Batch(x, None), Batch(x_test, None)]).x, seed=seed)


def _code(flat: Tensor, seed: int) -> Tensor:
    """Converts integer inputs such as tokens to real numbers whose distances reflect how many entries differ."""
    _, code = torch.unique(flat, return_inverse=True)
    generator = torch.Generator().manual_seed(seed)
    values = 2.0 * torch.randint(0, 2, (int(code.max()) + 1, SIGNS_PER_VALUE), generator=generator) - 1
    places = 2.0 * torch.randint(0, 2, (flat.shape[1], SIGNS_PER_VALUE), generator=generator) - 1
    total, bag = torch.zeros(len(flat), SIGNS_PER_VALUE), torch.zeros(len(flat), SIGNS_PER_VALUE)
    for j in range(flat.shape[1]):
        signs = values[code[:, j]]
        total += signs * places[j]
        bag += signs
    return torch.cat([total, bag], 1) / sqrt(SIGNS_PER_VALUE)


def example_hashes(x: Inputs) -> list[bytes]:
    """Returns one hash per example; equal examples have equal hashes.

    Cost: one pass over the inputs, about a second for a gigabyte.

    >>> a, b, c = example_hashes(torch.tensor([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0]]))
    >>> a == b, a == c
    (True, False)
    """
    parts = []
    for t in input_tensors(x):
        numbers = t.detach().cpu()
        # Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bytes and equal hashes.
        numbers = numbers.double() + 0.0 if t.is_floating_point() else numbers.long()
        parts.append(numbers.reshape(len(t), -1).contiguous().numpy())
    return [
        hashlib.blake2b(b"".join(p[i].tobytes() for p in parts), digest_size=16).digest()
        for i in range(count_examples(x))
    ]


def bits_per_example(x: Inputs) -> float:
    """Estimates the information in one example, in bits: the sum of log2(number of distinct values) over features.

    Small for tables of a few categories, in which equal rows are common.
    Cost: a sort of each of at most 200 features.

    >>> bits_per_example(torch.tensor([[0.0, 1.0], [1.0, 1.0]]))
    1.0
    """
    bits = 0.0
    for t in input_tensors(x):
        t = torch.view_as_real(t) if t.is_complex() else t
        flat = t.detach().cpu().reshape(len(t), -1)
        chosen = flat[:, torch.linspace(0, flat.shape[1] - 1, min(200, flat.shape[1])).long()]
        distinct = 1 + (chosen.sort(0).values.diff(dim=0) != 0).sum(0)
        bits += float(distinct.double().log2().mean()) * flat.shape[1]
    return bits


def random_features(x: Float[Tensor, "n p"], *, width: int, seed: int = 0) -> Float[Tensor, "n d"]:
    """Returns random ReLU features of each row, together with the row's own numbers or random projections of these.

    Ridge regression on these approximates regression with the kernel of a wide network of one hidden layer.
    Reference: [rahimi2007random].
    Cost: n p width multiplications.

    >>> random_features(torch.randn(4, 3), width=8).shape
    torch.Size([4, 11])
    """
    centered = x - x.mean(0)
    centered = centered / centered.square().mean().sqrt().clamp_min(1e-12) / sqrt(x.shape[1])
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(x.shape[1], width, generator=generator)
    hidden = torch.relu(centered @ weights + 0.5 * torch.randn(width, generator=generator))
    few = width // 2
    linear = centered if x.shape[1] <= few else centered @ torch.randn(x.shape[1], few, generator=generator)
    return torch.cat([linear, hidden * sqrt(2 / width)], 1)


def nearest_distances(
    x: Float[Tensor, "n p"], queries: Float[Tensor, "m p"], *, own_rows: Tensor | None = None, seed: int = 0
) -> tuple[Float[Tensor, "m 2"], Tensor]:
    """Returns for each row of ``queries`` the distances to the two nearest rows of x, and the index of the nearest row.

    ``own_rows`` holds the number of each query within x, so that no row is its own neighbor. Neighbors are among four
    candidates that are nearest in a random sketch of `SKETCH_DIMENSIONS` dimensions.

    Reference: [johnson1984extensions].
    Cost: n p SKETCH + m n SKETCH multiplications.

    >>> d, i = nearest_distances(torch.tensor([[0.0], [3.0], [10.0]]), torch.tensor([[1.0]]))
    >>> d.tolist(), i.tolist()
    ([[1.0, 2.0]], [0])
    """
    p = x.shape[1]
    if p > SKETCH_DIMENSIONS:
        plane = torch.randn(p, SKETCH_DIMENSIONS, generator=torch.Generator().manual_seed(seed)) / sqrt(
            SKETCH_DIMENSIONS
        )
        a, b = x @ plane, queries @ plane
    else:
        a, b = x, queries
    k = min(4, len(x) - (own_rows is not None))
    found, numbers = [], []
    for start in range(0, len(queries), max(1, ROWS_PER_TILE * ROWS_PER_TILE // max(1, len(x)))):
        part = slice(start, start + max(1, ROWS_PER_TILE * ROWS_PER_TILE // max(1, len(x))))
        distance = torch.cdist(b[part], a)
        if own_rows is not None:
            distance[torch.arange(len(distance)), own_rows[part]] = torch.inf
        candidates = distance.topk(k, largest=False).indices
        exact = (x[candidates] - queries[part, None]).square().sum(-1).sqrt()
        order = exact.argsort(1)[:, :2]
        found.append(exact.gather(1, order))
        numbers.append(candidates.gather(1, order)[:, 0])
    both = torch.cat(found)
    return (both if both.shape[1] == 2 else torch.cat([both, torch.full_like(both, torch.inf)], 1)), torch.cat(numbers)
