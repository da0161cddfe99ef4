"""Plain layer norm against torch's, and which example is named."""

import pytest
import torch
from torch import nn

from gnomon.core.errors import NotFiniteError
from gnomon.core.modules.kernels import use_differentiable_layers
from gnomon.core.modules.pure import check_finite_outputs


@pytest.mark.parametrize("shape", [(5,), (3, 5)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-3])  # at 1e-3 the variance is below eps, which then decides
def test_layer_norm_from_its_definition_is_that_of_torch(shape, affine, scale):
    torch.manual_seed(0)
    layer = nn.LayerNorm(shape, elementwise_affine=affine).double()
    for p in layer.parameters():
        nn.init.normal_(p)
    x = scale * (torch.randn(4, 3, 5).double() + 2)
    wanted = layer(x)
    with use_differentiable_layers(layer):
        found = layer(x)
        bare = nn.functional.layer_norm(x, shape)
    assert torch.allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert torch.allclose(bare, nn.functional.layer_norm(x, shape), rtol=1e-10, atol=1e-12)


def test_the_first_output_that_is_not_finite_is_named_and_all_are_counted():
    y = torch.zeros(5, 2)
    y[2, 1], y[4, 0], y[4, 1] = torch.inf, torch.nan, torch.nan
    with pytest.raises(NotFiniteError, match=r"example 12 is not finite \(2 such examples\)"):
        check_finite_outputs(y, 10)
    check_finite_outputs(torch.zeros(5, 2))
