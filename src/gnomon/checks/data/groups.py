"""Finds test examples that belong to the same group as training examples, such as images of the same patient.

Let d_1 <= d_2 <= ... be the distances of a test example to its nearest training examples. It has a group of k if

    d_(k+1) > `MIN_JUMP` d_k for some k from `MIN_GROUP` to `MAX_GROUP`                                        (1)

Independent examples in m dimensions satisfy (1) for one k with probability `MIN_JUMP`^(-m k), so they rarely do. Groups
alone are harmless if the next group has the same labels (a cluster of one class). They leak if labels agree within the
group and not with the next example outside:

    s = share of group members with the label of the test example,   t = share of next examples with it        (2)

Hypotheses: examples within a group are much nearer to each other than to others.
Reference: [kapoor2023leakage]; [yagis2021effect].
"""

import torch
from torch import Tensor

from gnomon.checks.data.rows import joint_example_rows
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["MAX_TRAIN_EXAMPLES", "group_findings"]

MIN_JUMP = 2.5
"""Ratio of neighboring distances in (1)."""
MIN_GROUP = 2
"""Fewest training examples in a group; one near copy is found by `find_leaks`."""
MAX_GROUP = 40
"""Most training examples in a group."""
MIN_GROUPED_SHARE = 0.4
"""Share of test examples that must have a group."""
MIN_AGREEMENT = 0.95
"""Least share s of (2): labels belong to groups."""
MAX_AGREEMENT_OUTSIDE = 0.85
"""Largest share t of (2): with more, groups are clusters of one class."""
MIN_TEST_EXAMPLES = 50
"""Minimum number of test examples."""
MAX_TEST_EXAMPLES = 400
"""Maximum number of test examples compared."""
MAX_TRAIN_EXAMPLES = 8000
"""Maximum number of training examples; a sample of a larger set would break groups apart, so it is not judged."""


def group_findings(
    x: Inputs, y: Tensor, x_test: Inputs, y_test: Tensor, *, seed: int = 0
) -> tuple[Finding, ...]:  # fmt: skip
    """Reports a problem if examples of one group, such as a patient, are in train and test, and groups share labels.

    See equations (1) and (2) of the module docstring.
    ``y`` and ``y_test`` are classes (n,). ``x`` are all training examples.
    False alarms: none of 34 data sets of independent examples in 1 to 20 dimensions, with and without class clusters.
    Cost: distances of at most 400 test examples to all training examples.

    >>> import torch
    >>> g = torch.Generator().manual_seed(0)
    >>> centers, label = torch.randn(80, 10, generator=g), torch.randint(0, 2, (80,), generator=g)
    >>> x = centers.repeat_interleave(8, 0) + 0.05 * torch.randn(640, 10, generator=g)
    >>> y, order = label.repeat_interleave(8), torch.randperm(640, generator=g)
    >>> a, b = order[:480], order[480:]
    >>> group_findings(x[a], y[a], x[b], y[b])[0].kind
    'groups-in-both'
    >>> z = torch.randn(640, 10, generator=g)
    >>> group_findings(z[a], y[a], z[b], y[b])
    ()
    """
    if (
        count_examples(x) > MAX_TRAIN_EXAMPLES
        or count_examples(x_test) < MIN_TEST_EXAMPLES
        or count_examples(x) < 4 * MAX_GROUP
    ):
        return ()
    order = torch.randperm(count_examples(x_test), generator=torch.Generator().manual_seed(seed))[:MAX_TEST_EXAMPLES]
    rows = joint_example_rows(x, take_examples(x_test, order), seed=seed)
    y, y_test = y.detach().cpu().flatten(), y_test.detach().cpu().flatten()[order]
    near = torch.cdist(rows[count_examples(x) :], rows[: count_examples(x)]).topk(MAX_GROUP + 1, largest=False)
    d = near.values.double()
    ratio = d[:, 1:] / d[:, :-1].clamp_min(1e-12)
    ratio[:, : MIN_GROUP - 1] = 0.0
    jump, size = ratio.max(1)
    grouped = (jump > MIN_JUMP) & (d.gather(1, size[:, None])[:, 0] > 0)  # (1)
    share = float(grouped.double().mean())
    if share < MIN_GROUPED_SHARE:
        return ()
    size = size[grouped] + 1
    same = y[near.indices[grouped]] == y_test[grouped, None]
    inside = torch.arange(same.shape[1]) < size[:, None]
    agree = float((same & inside).sum() / inside.sum())  # (2)
    outside = float(same.gather(1, size[:, None]).double().mean())
    if agree < MIN_AGREEMENT or outside > MAX_AGREEMENT_OUTSIDE:
        return ()
    values = {"share": share, "size": int(size.median()), "agree": agree, "outside": outside, "test": len(order)}
    evidence = (Value("labels that agree within a group", agree), Value("labels that agree outside", outside))
    return (Finding(kinds.GROUPS_IN_BOTH, "inputs", values, evidence, 1e-3),)
