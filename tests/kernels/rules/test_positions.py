"""Windows, divisors, strides and paddings: networks that differ in how they are written and not in what they compute."""

import pytest
import torch
from torch import nn

import gnomon
from gnomon import InitializationLaw

LAW = InitializationLaw(1.3, 0.2)


def nngp(x, *layers, reference=False):
    return gnomon.limit(nn.Sequential(*layers), init=LAW).nngp(x.clone().requires_grad_() if reference else x).detach()


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("kernel", [1, 2])
def test_a_divisor_scales_what_is_pooled_by_its_square(kernel, reference):
    x = torch.randn(3, 2, 4, 4, dtype=torch.float64)
    side = 4 // kernel
    before = nn.Conv2d(2, 8, 3, padding=1), nn.ReLU()
    after = nn.Flatten(), nn.Linear(8 * side * side, 1, bias=False)
    mean = nngp(x, *before, nn.AvgPool2d(kernel), *after, reference=reference)
    scaled = nngp(x, *before, nn.AvgPool2d(kernel, divisor_override=5), *after, reference=reference)
    assert torch.allclose(scaled, mean * (kernel**2 / 5) ** 2, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # torch says that it copies the input
@pytest.mark.parametrize("kernel, dilation", [(4, 1), (2, 3), (3, 1)])
def test_same_padding_puts_the_odd_place_at_the_end(kernel, dilation):
    x = torch.randn(3, 2, 7, dtype=torch.float64)
    total = dilation * (kernel - 1)
    sides = nn.ConstantPad1d((total // 2, total - total // 2), 0.0)  # as torch does it

    def conv(a, b, padding):
        return nn.Conv1d(a, b, kernel, dilation=dilation, padding=padding)

    after = nn.Flatten(), nn.Linear(8 * 7, 1)
    same = nngp(x, conv(2, 8, "same"), nn.ReLU(), conv(8, 8, "same"), nn.ReLU(), *after)
    padded = nngp(x, sides, conv(2, 8, 0), nn.ReLU(), sides, conv(8, 8, 0), nn.ReLU(), *after)
    assert torch.allclose(same, padded, rtol=1e-12)
    if total % 2:
        with torch.no_grad():  # and torch itself agrees on which side that is
            one, two = conv(2, 3, "same").double(), conv(2, 3, 0).double()
            two.load_state_dict(one.state_dict())
            assert torch.allclose(one(x), two(sides(x)))


@pytest.mark.parametrize("padding, extra, dilation", [(1, 0, 1), (1, 1, 2), (0, 0, 1)])
def test_a_transposed_convolution_sums_the_inner_products_of_the_positions_it_reads(padding, extra, dilation):
    """Positions at the border are cut by the padding; torch itself spreads the inner products, with weights of one."""
    x = torch.randn(3, 2, 5, dtype=torch.float64)
    up = nn.ConvTranspose1d(2, 8, 3, 2, padding=padding, output_padding=extra, dilation=dilation)
    products = torch.einsum("acl,bcl->abl", x, x).reshape(9, 1, 5)
    read = nn.functional.conv_transpose1d(
        products, torch.ones(1, 1, 3).double(), None, 2, padding, extra, 1, dilation
    )  # fmt: skip
    sums = LAW.weight_std**2 * read / (2 * 3) + LAW.bias_std**2
    found = nngp(x, up, nn.Flatten(), nn.Linear(8 * read.shape[-1], 1, bias=False))
    assert torch.allclose(found, LAW.weight_std**2 * sums.mean((1, 2)).reshape(3, 3), rtol=1e-12)


class Reduced(nn.Module):
    """The mean or the sum over all positions."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return x.mean((2, 3)) if self.name == "mean" else x.sum((2, 3))


@pytest.mark.parametrize("name, factor", [("mean", 1), ("sum", 3 * 4)])
def test_the_mean_over_positions_is_a_pool_of_them_all_and_the_sum_as_many_times_that(name, factor):
    x = torch.randn(3, 2, 3, 4, dtype=torch.float64)
    before, after = (nn.Conv2d(2, 8, 3, padding=1), nn.ReLU()), nn.Linear(8, 1, bias=False)
    pooled = nngp(x, *before, nn.AdaptiveAvgPool2d(1), nn.Flatten(), after)
    assert torch.allclose(nngp(x, *before, Reduced(name), after), factor**2 * pooled, rtol=1e-12)
