"""Finds integer targets that are class names, although the network fits them as quantities with one output.

A squared loss on the numbers 0, 1, ..., k - 1 of k classes says that class 3 lies between classes 2 and 4. Two simple
models decide whether it does. Both are ridge regressions on the same random features, judged on examples they leave
out:

    a = share of examples whose class has the largest predicted indicator                                       (1)
    b = share of examples whose predicted number rounds to the class                                            (2)

Ordered targets (grades, counts) are fitted about equally well both ways. Names of classes are not: a is far above b.
With n_a examples that only (1) gets right and n_b that only (2) gets right, z = (n_a - n_b) / sqrt(n_a + n_b).

Hypotheses: independent examples; each class has several examples.
Reference: [bishop2006pattern], section 4.1.3, on least squares for classes; [mcnemar1947note] for z.

>>> import torch
>>> g = torch.Generator().manual_seed(0)
>>> y = torch.randint(0, 9, (600,), generator=g)
>>> x = 4 * torch.randn(9, 3, generator=g)[y] + torch.randn(600, 3, generator=g)
>>> class_number_findings(x, y.float()[:, None])[0].values["classes"]
9
>>> class_number_findings(x, (x[:, :1] / 2).round())                        # ordered: rounding does as well
()
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.checks.data.ridge import leave_one_out_ridge_predictions
from gnomon.checks.data.rows import example_rows, random_features
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["class_number_findings", "consecutive_integer_range"]

MIN_EXAMPLES = 150
"""Minimum number of examples for comparing the two models."""
MAX_EXAMPLES = 2000
"""Maximum number of examples, because the features of all of them are decomposed."""
CLASS_COUNTS = (3, 50)
"""Fewest and most classes; with two classes, rounding and indicators decide the same way."""
MIN_EXAMPLES_PER_CLASS = 5.0
"""Minimum mean number of examples of a class."""
RANDOM_FEATURES = 300
"""Number of random features."""
MIN_GAIN = 0.15
"""Smallest difference of (1) and (2) that matters."""
MIN_Z = 4.0
"""z-score; two equally good models exceed it with probability 3e-5."""


def consecutive_integer_range(y: Tensor) -> tuple[int, int] | None:
    """Returns the smallest and the largest target if the targets are consecutive integers; otherwise returns None.

    >>> consecutive_integer_range(torch.tensor([2.0, 1.0, 3.0])), consecutive_integer_range(torch.tensor([0.5, 1.0]))
    ((1, 3), None)
    """
    values = y.detach().cpu().double().flatten().unique()
    if not len(values) or not bool(values.isfinite().all()) or bool((values != values.round()).any()):
        return None
    first, last = int(values[0]), int(values[-1])
    return (first, last) if first in (0, 1) and last - first + 1 == len(values) else None


def class_number_findings(x: Inputs, y: Float[Tensor, "n *k"], *, seed: int = 0) -> tuple[Finding, ...]:
    """Reports a problem if the integer targets ``y`` are class names rather than quantities.

    See equations (1) and (2) of the module docstring.
    False alarms: none of 20 tables with counts or grades as targets.
    Cost: an eigendecomposition of 300 to 450 features.

    >>> class_number_findings(torch.zeros(200, 2), torch.rand(200, 1))          # no whole numbers
    ()
    """
    if y.numel() != len(y) or len(y) < MIN_EXAMPLES or (ends := consecutive_integer_range(y)) is None:
        return ()
    first, last = ends
    classes = last - first + 1
    if not CLASS_COUNTS[0] <= classes <= CLASS_COUNTS[1] or len(y) < MIN_EXAMPLES_PER_CLASS * classes:
        return ()
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))[:MAX_EXAMPLES]
    rows = random_features(example_rows(x, seed=seed)[order], width=RANDOM_FEATURES, seed=seed).double()
    code = y.detach().cpu().flatten().round().long()[order] - first
    every = torch.arange(len(code))
    indicators = leave_one_out_ridge_predictions(rows, torch.nn.functional.one_hot(code, classes).double(), every)
    numbers = leave_one_out_ridge_predictions(rows, code.double()[:, None], every)
    by_class = indicators.argmax(1) == code  # (1)
    by_number = numbers[:, 0].round() == code  # (2)
    gained, lost = int((by_class & ~by_number).sum()), int((by_number & ~by_class).sum())
    gain, z = (gained - lost) / len(code), (gained - lost) / max(gained + lost, 1) ** 0.5
    if gain < MIN_GAIN or z < MIN_Z:
        return ()
    a, b = float(by_class.double().mean()), float(by_number.double().mean())
    values = {"classes": classes, "first": first, "last": last, "as_classes": a, "as_numbers": b, "n": len(code)}
    evidence = (Value("accuracy as classes", a), Value("accuracy as rounded numbers", b), Value("z-score", z))
    return (Finding(kinds.CLASS_NUMBERS, "labels", values, evidence, 3e-5),)
