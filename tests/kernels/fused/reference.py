"""Both engines on one problem."""

import gnomon
from gnomon.kernels import fused


def both(monkeypatch, net, x, y=None, *, covered=True, **options):
    """(fused, reference) kernels; asserts which engine the plan has chosen."""
    chosen, choose = [], fused.kernels

    def watch(*arguments):
        chosen.append(choose(*arguments))
        return chosen[-1]

    with monkeypatch.context() as patch:
        patch.setattr(fused, "kernels", watch)
        fast = gnomon.limit(net, **options)(x, y)
    assert (chosen[0] is not None) == covered
    options.pop("dtype", None)
    with monkeypatch.context() as patch:
        patch.setattr(fused, "kernels", lambda *arguments: None)
        return fast, gnomon.limit(net, **options)(x, y)


def distance(a, b) -> float:
    """The largest difference, relative to the largest entry."""
    return float((a.double() - b).abs().max() / b.abs().max())
