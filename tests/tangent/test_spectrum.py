"""Modes of a kernel and the labels along them."""

import matplotlib
import pytest
import torch

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.tangent import spectrum

matplotlib.use("Agg")


def test_modes_reconstruct_the_kernel_and_the_labels():
    x, y = torch.randn(8, 8).double(), torch.randn(8, 2).double()
    k = x @ x.T
    found = spectrum(k, y)
    assert torch.allclose(found.vectors @ torch.diag(found.values) @ found.vectors.T, k)
    assert torch.allclose(found.vectors @ found.projections, y)
    assert (found.values[:-1] >= found.values[1:]).all() and float(found.energy.sum()) == pytest.approx(1)
    assert found.captured[-1] == pytest.approx(1)


def test_labels_on_known_modes():
    k = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    found = spectrum(k, torch.tensor([0.0, 3.0, 4.0]))
    assert torch.allclose(found.energy, torch.tensor([0.0, 9 / 25, 16 / 25]).double())
    assert [found.modes_for(s) for s in (0.3, 0.36, 0.5, 1.0)] == [2, 2, 3, 3]
    assert "57% of the trace and 0% of the labels' energy; 90% of it lies in the first 3" in found.verdict


def test_the_record_is_plain_and_draws():
    found = spectrum(torch.eye(3))
    assert found.energy is None and found.to_dict()["energy"] is None and "33% of the trace" in found.verdict
    with pytest.raises(InputError, match="no labels"):
        found.modes_for(0.5)
    labelled = spectrum(torch.eye(3), torch.tensor([1.0, 2.0, 3.0]))
    data = labelled.plot_data()
    assert data["x"] == [1, 2, 3] and set(data["curves"]) == {"eigenvalue", "labels captured"}
    ax = labelled.plot()
    assert ax.lines[0].get_ydata().tolist() == data["curves"]["eigenvalue"]
    matplotlib.pyplot.close("all")


def test_bad_kernels_are_refused():
    with pytest.raises(InputError, match="not symmetric"):
        spectrum(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(NotFiniteError, match="not finite: 4, the first of them K"):
        spectrum(torch.full((2, 2), float("nan")))
    with pytest.raises(InputError, match="3 inputs and 2 targets"):
        spectrum(torch.eye(3), torch.ones(2))
    with pytest.raises(InputError, match="all zero"):
        spectrum(torch.eye(3), torch.zeros(3))
