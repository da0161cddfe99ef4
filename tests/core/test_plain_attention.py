"""Attention from its definition agrees with torch's, and has second derivatives whatever kernel the model chooses."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from gnomon.core.modules.kernels import use_differentiable_layers

OPTIONS = {
    "plain": {},
    "causal": {"is_causal": True},
    "numbers": {"attn_mask": torch.linspace(-2, 1, 25, dtype=torch.float64).reshape(5, 5)},
    "booleans": {"attn_mask": torch.tensor([[True] * 5, [False] * 5, *[[True, False] * 2 + [True]] * 3])},
    "scale": {"scale": 0.3},
    "groups": {"enable_gqa": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_attention_from_its_definition_is_torchs_attention(name):
    generator = torch.Generator().manual_seed(0)
    heads = 2 if name == "groups" else 4
    q, k, v = (torch.randn(2, n, 5, 8, generator=generator, dtype=torch.float64) for n in (4, heads, heads))
    expected = F.scaled_dot_product_attention(q, k, v, **OPTIONS[name])
    with use_differentiable_layers(nn.Identity()):
        found = F.scaled_dot_product_attention(q, k, v, **OPTIONS[name])
    torch.testing.assert_close(found, expected)


def test_a_model_that_chooses_a_fused_kernel_has_second_derivatives():
    def attend(x):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(x, x, x).square().sum()

    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    with use_differentiable_layers(nn.Identity()):
        (slope,) = torch.autograd.grad(attend(x), x, create_graph=True)
        (second,) = torch.autograd.grad(slope.sum(), x)
    assert torch.isfinite(second).all() and bool(second.any())
    (slope,) = torch.autograd.grad(attend(x), x, create_graph=True)
    with pytest.raises((NotImplementedError, RuntimeError)):
        torch.autograd.grad(slope.sum(), x)
