"""Modes of a kernel and the labels along them."""

import matplotlib
import pytest
import torch

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.tangent import kernel_spectrum

matplotlib.use("Agg")


def test_modes_reconstruct_the_kernel_and_the_labels():
    x, y = torch.randn(8, 8).double(), torch.randn(8, 2).double()
    k = x @ x.T
    result = kernel_spectrum(k, y)
    assert torch.allclose(result.vectors @ torch.diag(result.values) @ result.vectors.T, k)
    assert torch.allclose(result.vectors @ result.projections, y)
    assert (result.values[:-1] >= result.values[1:]).all() and float(result.energy.sum()) == pytest.approx(1)
    assert result.captured[-1] == pytest.approx(1)


def test_labels_on_known_modes():
    k = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    result = kernel_spectrum(k, torch.tensor([0.0, 3.0, 4.0]))
    assert torch.allclose(result.energy, torch.tensor([0.0, 9 / 25, 16 / 25]).double())
    assert [result.modes_for(s) for s in (0.3, 0.36, 0.5, 1.0)] == [2, 2, 3, 3]
    assert (
        "57% of the trace and 0% of the labels' energy; 90% of the labels' energy lies in the first 3" in result.verdict
    )


def test_the_record_is_plain_and_draws():
    result = kernel_spectrum(torch.eye(3))
    assert result.energy is None and result.to_dict()["energy"] is None and "33% of the trace" in result.verdict
    with pytest.raises(InputError, match="no labels"):
        result.modes_for(0.5)
    labelled = kernel_spectrum(torch.diag(torch.tensor([4.0, 2.0, 0.0])), torch.tensor([3.0, 4.0, 0.0]))
    values, captured = labelled.plots()
    assert values.marks[0].x == (1.0, 2.0) and values.marks[0].y == (4.0, 2.0)  # no zero on a logarithmic axis
    assert captured.marks[0].y == pytest.approx((0.36, 1.0, 1.0))
    assert "vectors" not in labelled.to_dict() and labelled.to_dict()["verdict"] == labelled.verdict
    axes = labelled.plot().figure.axes
    assert axes[0].lines[0].get_ydata().tolist() == [4.0, 2.0] and axes[0].get_yscale() == "log"
    matplotlib.pyplot.close("all")


def test_bad_kernels_are_refused():
    with pytest.raises(InputError, match="not symmetric"):
        kernel_spectrum(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(NotFiniteError, match="4 entries that are not finite, the first is K"):
        kernel_spectrum(torch.full((2, 2), float("nan")))
    with pytest.raises(InputError, match="3 inputs and 2 targets"):
        kernel_spectrum(torch.eye(3), torch.ones(2))
    with pytest.raises(InputError, match="all zero"):
        kernel_spectrum(torch.eye(3), torch.zeros(3))
