"""Both engines on one problem."""

import gnomon
from gnomon.kernels import fused, reference


def both(monkeypatch, net, x, y=None, *, covered=True, **options):
    """(compiled, reference) kernels; asserts which engine the first came from."""
    runs, run = [], reference.run

    def watch(*arguments):
        runs.append(arguments)
        return run(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(reference, "run", watch)
        fast = gnomon.Limit(net, compiled=True, **options)(x, y)
    assert (not runs) == covered
    options.pop("dtype", None)
    with monkeypatch.context() as patch:
        patch.setattr(fused, "accepts_points", lambda points, dtype: False)
        return fast, gnomon.limit(net, **options)(x, y)


def distance(a, b) -> float:
    """The largest difference, relative to the largest entry."""
    return float((a.double() - b).abs().max() / b.abs().max())
