"""Steps against torch's own optimizers."""

import pytest
import torch

from gnomon.core import InputError
from gnomon.training import SGD, Adam

PAIRS = [
    (SGD(0.1), lambda w: torch.optim.SGD(w, lr=0.1)),
    (SGD(0.1, momentum=0.9), lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9)),
    (SGD(0.1, momentum=0.5, decay=0.2), lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.5, weight_decay=0.2)),
    (Adam(0.05), lambda w: torch.optim.Adam(w, lr=0.05)),
    (Adam(0.05, b1=0.5, b2=0.9, eps=1e-3), lambda w: torch.optim.Adam(w, lr=0.05, betas=(0.5, 0.9), eps=1e-3)),
    (Adam(0.05, decay=0.3), lambda w: torch.optim.AdamW(w, lr=0.05, weight_decay=0.3)),
]


@pytest.mark.parametrize("ours, theirs", PAIRS, ids=lambda v: str(v) if isinstance(v, SGD | Adam) else "")
def test_every_step_is_that_of_torch(ours, theirs):
    start = [torch.randn(3, 2, dtype=torch.float64), torch.randn(4, dtype=torch.float64)]
    mine, other = ([w.clone().requires_grad_() for w in start] for _ in range(2))
    memory, reference = ours.memory(mine), theirs(other)
    for count in range(1, 30):
        grads = [torch.randn_like(w) for w in start]
        ours.move(mine, lambda grads=grads: (torch.zeros(()), grads), memory, count)
        for w, g in zip(other, grads, strict=True):
            w.grad = g.clone()
        reference.step()
        for a, b in zip(mine, other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SGD(0.0), r"SGD\(lr\): lr must be a number above 0 and finite, but it is 0.0"),
        (lambda: SGD(0.1, momentum=1.0), "momentum must be at least 0 and below 1, such as 0.9, but it is 1.0"),
        (lambda: Adam(0.1, b2=-0.1), r"Adam\(\): b2 must be .* but it is -0.1"),
        (lambda: Adam(0.1, decay=-1.0), "decay must be a number of at least 0, but it is -1.0"),
    ],
)
def test_options_out_of_range_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
