"""What README.md and the guides say about accepted data, layers and losses is what the functions do."""

import re

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import gnomon
from gnomon import bounds, checks, generative, graphs, landscape, robustness, sequences, symmetry
from tests.house.tree import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def listed(opening: str) -> set[str]:
    """The names in the item of the README that opens with these words."""
    return set(re.findall(r"`([\w.()]+)`", README.partition(f"- {opening}:")[2].partition(".\n")[0]))


def data(kind):
    g = torch.Generator().manual_seed(0)
    x = torch.rand(24, 3, generator=g)
    pairs = TensorDataset(x, (x[:, 0] > 0.5).long())
    return pairs if kind == "dataset" else DataLoader(pairs, batch_size=8)


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


TAKE = {
    "watch": lambda d: gnomon.watch(net(), data=d),
    "ntk": lambda d: gnomon.ntk(net(), d),
    "landscape.sharpness": lambda d: landscape.sharpness(net(), d, iterations=3),
    "checks.signal_propagation": lambda d: checks.signal_propagation(net(), d),
    "bounds.generalization_bounds": lambda d: bounds.generalization_bounds(net(), d),
    "checks.suspect_labels": lambda d: checks.suspect_labels(d),
    "symmetry.equivariance": lambda d: symmetry.equivariance(net(), d, symmetry.action({"negative": lambda x: -x})),
}
REFUSE = {
    "limit(net).ntk": lambda d: gnomon.limit(net()).ntk(d),
    "sampled_limit": lambda d: gnomon.sampled_limit(net(), draws=2)(d),
    "graphs.oversmoothing": lambda d: graphs.oversmoothing(net(), d, torch.eye(3)),
    "graphs.node_influence": lambda d: graphs.node_influence(net(), d, torch.eye(3)),
    "discover": lambda d: gnomon.discover(d, 0.1, 0.1),
    "generative.mmd_test": lambda d: generative.mmd_test(d, d),
}


@pytest.mark.parametrize("kind", ["dataset", "loader"])
@pytest.mark.parametrize("name", TAKE)
def test_functions_that_take_data_sets_and_loaders(name, kind):
    assert name in listed("These functions take data as tensors, a `Dataset` or a `DataLoader`")
    TAKE[name](data(kind))


@pytest.mark.parametrize("name", REFUSE)
def test_functions_that_take_tensors_only(name):
    assert listed("These functions take tensors or arrays only") == set(REFUSE)
    with pytest.raises((gnomon.GnomonError, TypeError, AttributeError, ValueError)):
        REFUSE[name](data("loader"))


def test_the_tangent_kernel_is_a_tensor_as_the_readme_says():
    assert isinstance(gnomon.ntk(net(), torch.rand(4, 3)), torch.Tensor) and "`gnomon.ntk` returns a tensor" in README


def test_the_number_of_statements_that_atlas_check_checks():
    from gnomon.atlas.check import check_network

    told = check_network(net(), (torch.rand(24, 3), torch.arange(24) % 2), steps=3)
    assert len(told.rows) == 10 and "checks ten statements" in README


@pytest.mark.parametrize(
    "layer", [nn.GELU(), nn.Tanh(), nn.SiLU(), nn.Sigmoid(), nn.ELU(), nn.Softplus(), nn.Hardtanh(), nn.LayerNorm(4)]
)
def test_layers_without_bounds_are_refused(layer):
    smooth = nn.Sequential(nn.Linear(3, 4), layer, nn.Linear(4, 2))
    with pytest.raises(gnomon.UnsupportedModuleError, match=type(layer).__name__):
        robustness.output_bounds(smooth, torch.rand(2, 3), eps=0.1)


def test_fisher_refuses_functions_and_the_hessian_takes_them():
    x, y = torch.rand(6, 3), torch.rand(6, 2)
    with pytest.raises(gnomon.InputError, match="probability density"):
        landscape.fisher(net(), (x, y), loss=lambda f, t: (f - t).square().mean())
    landscape.hessian(net(), (x, y), loss=lambda f, t: (f - t).square().mean())


class Attention(nn.Module):
    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(x, x, x)


class SoftmaxAttention(nn.Module):
    def forward(self, x):
        return (x @ x.mT / 2).softmax(-1) @ x


class LinearAttention(nn.Module):
    def forward(self, x):
        return x @ (x.mT @ x)


def test_softmax_attention_of_any_kind_has_maps_and_linear_attention_is_refused_and_memory_takes_all():
    x = torch.randn(4, 5, 4, generator=torch.Generator().manual_seed(0))
    expected = (x @ x.mT / 2).softmax(-1)[:, None]
    for network in (Attention(), SoftmaxAttention()):
        (found,) = sequences.attention_maps(network, x).maps
        torch.testing.assert_close(found, expected)
    with pytest.raises(gnomon.InputError, match="no softmax of queries and keys"):
        sequences.attention_maps(LinearAttention(), x)
    for network in (Attention(), SoftmaxAttention(), LinearAttention()):
        sequences.memory_length(network, x)
