"""Counts training examples that are exact copies of other training examples.

    distinct = number of different examples / number of examples                                               (1)

Copies add no information: 1,800 rows with 30 different ones are 30 examples. They also make a random split leak.
Rows of a few categories repeat by chance, so tables with little information per row are not judged.

Hypotheses: rows carry enough information that equal rows are copies.
Reference: [lee2022deduplicating].
"""

from collections import Counter
from math import log2

from gnomon.checks.data.rows import bits_per_example, example_hashes
from gnomon.core.inputs.arguments import Inputs, count_examples
from gnomon.core.results import Finding, Value
from gnomon.findings import data as kinds

__all__ = ["repeated_row_findings"]

MIN_EXAMPLES = 100
"""Minimum number of examples."""
SPARE_BITS = 16.0
"""Information in an example beyond log2 of the number of examples, in bits, from which equal examples are copies: two
independent examples are equal with probability 2^-bits, and dependent columns carry less than their sum."""
MAX_DISTINCT_SHARE = 0.9
"""Share of different examples below which there is a warning."""
FEW_DISTINCT_SHARE = 0.5
"""Share of different examples below which most of the training set is copies: a problem."""


def repeated_row_findings(x: Inputs) -> tuple[Finding, ...]:
    """Reports a problem if many training examples are exact copies of others.

    See equation (1) of the module docstring.
    This is a count, so chance raises no false alarm.
    Cost: one pass over the examples.

    >>> import torch
    >>> x = torch.randn(30, 8, generator=torch.Generator().manual_seed(0))
    >>> repeated_row_findings(x.repeat(10, 1))[0].values["distinct"]
    30
    >>> repeated_row_findings(x)
    ()
    """
    total = count_examples(x)
    if total < MIN_EXAMPLES:
        return ()
    counts = Counter(example_hashes(x))
    distinct, largest = len(counts), max(counts.values())
    if distinct > MAX_DISTINCT_SHARE * total or bits_per_example(x) < log2(total) + SPARE_BITS:
        return ()
    kind = kinds.MOSTLY_COPIES if distinct < FEW_DISTINCT_SHARE * total else kinds.SOME_COPIES
    values = {"distinct": distinct, "total": total, "largest": largest}
    return (Finding(kind, "inputs", values, (Value("different examples", distinct),)),)
