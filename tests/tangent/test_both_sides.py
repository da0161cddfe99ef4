"""Kernels that are symmetric up to rounding are accepted, and others are not."""

import pytest
import torch

from gnomon.tangent import kernel_spectrum


@pytest.mark.parametrize(("apart", "accepted"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_kernel_is_symmetric_up_to_a_millionth_of_its_largest_entry(apart, accepted):
    """The smallest entries are zero, and one pair of entries differs."""
    k = torch.diag(torch.tensor([5.0, 2.0, 1.0]).double())
    k[0, 1] = 5 * apart
    if accepted:
        assert kernel_spectrum(k).values.tolist() == pytest.approx([5.0, 2.0, 1.0], rel=1e-5)
    else:
        with pytest.raises(ValueError, match="symmetric"):
            kernel_spectrum(k)
