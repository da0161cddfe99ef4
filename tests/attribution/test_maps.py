import pytest
import torch
from torch import nn

from gnomon.attribution import (
    cam,
    deletion_insertion,
    grad_cam,
    gradient,
    integrated_gradients,
    occlusion,
    sanity_check,
)
from gnomon.attribution.gradient import smooth_grad
from gnomon.attribution.maps import cam_overlap
from gnomon.attribution.record import Attribution
from gnomon.core import InputError, NotFiniteError


def pooled_cnn():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3)
    ).double()  # fmt: skip


X = torch.rand(5, 1, 10, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_the_class_activation_map_is_the_logit_decomposition():
    net = pooled_cnn()
    for c in range(3):
        maps = cam(net, X, c)
        features = net[:4](X)
        by_hand = sum(net[6].weight[c, k] * features[:, k] for k in range(6))
        assert torch.allclose(maps.values, by_hand, atol=1e-12)
        assert torch.allclose(maps.values.mean((1, 2)), net(X)[:, c] - net[6].bias[c], atol=1e-6)


def test_a_block_that_ends_in_a_function_has_its_map():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2d(4, 4, 3, padding=1)

        def forward(self, x):
            return torch.relu(self.body(x) + x)

    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).double()
    maps = cam(net, X, 2).values
    assert torch.allclose(maps.mean((1, 2)), net(X)[:, 2] - net[4].bias[2], atol=1e-6)
    assert torch.allclose(grad_cam(net, X, 2).values, maps.relu() / maps[0].numel(), atol=1e-12)


def test_grad_cam_of_a_pooled_head_is_the_positive_part_of_the_map():
    net = pooled_cnn()
    features = net[:4](X)
    expected = torch.einsum("k,nkhw->nhw", net[6].weight[1] / features[0, 0].numel(), features).relu()
    assert torch.allclose(grad_cam(net, X, 1).values, expected, atol=1e-12)


def test_integrated_gradients_are_complete_and_match_a_riemann_sum():
    net = pooled_cnn()
    found = integrated_gradients(net, X, 2, path_points=200)
    assert float(found.completeness.max()) < 0.01
    total = torch.zeros_like(X)
    for s in (torch.arange(1000) + 0.5) / 1000:
        z = (s * X).requires_grad_()
        total += torch.autograd.grad(net(z)[:, 2].sum(), z)[0] / 1000
    # kinks of ReLU leave both sums an error of about 1 / steps
    assert torch.allclose(found.values, X * total, atol=0.02 * float((X * total).abs().max()))


def test_linear_functions_have_the_attributions_of_the_textbook():
    net, x = nn.Linear(4, 2).double(), torch.rand(3, 4, dtype=torch.float64)
    weights = net.weight[1].expand(3, 4)
    assert torch.allclose(integrated_gradients(net, x, 1, baseline=0.5).values, weights * (x - 0.5))
    assert torch.allclose(smooth_grad(net, x, 1).values, weights) and torch.allclose(
        gradient(net, x, 1).values, weights
    )
    assert torch.allclose(occlusion(net, x, 1).values, weights * x)


def test_the_module_is_left_as_it_was():
    net = pooled_cnn().train()
    before = {name: p.clone() for name, p in net.state_dict().items()}
    state = torch.get_rng_state()
    for method in (cam, grad_cam, integrated_gradients, smooth_grad, occlusion):
        method(net, X)
    assert net.training and all(p.grad is None for p in net.parameters())
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items()) and not net[3]._forward_hooks
    assert torch.equal(state, torch.get_rng_state())


def test_sanity_flags_a_map_that_ignores_the_weights_and_passes_those_that_do_not():
    net = pooled_cnn()

    def edges(module, x, target):  # what guided backpropagation shows: the edges of the image
        return Attribution(x.diff(dim=3, append=x[..., -1:]).abs(), target, "guided-backprop-like")

    flagged = sanity_check(edges, net, X)
    assert not flagged.depends_on_model and flagged.findings[0].kind == "map-ignores-model"
    for method in (gradient, smooth_grad, integrated_gradients):
        assert sanity_check(method, net, X, random_labels=pooled_cnn().double()).weights < 0.7
    assert sanity_check(gradient, net, X).depends_on_model


def test_deletion_falls_faster_than_chance_and_ends_agree():
    net = nn.Linear(20, 1).double()
    x = torch.rand(30, 20, dtype=torch.float64)
    curve = deletion_insertion(net, x, integrated_gradients(net, x))
    assert curve.gain > 0 and curve.deletion[0] == pytest.approx(curve.insertion[-1])
    assert curve.deletion[-1] == pytest.approx(curve.insertion[0]) == pytest.approx(curve.random[-1])


def test_two_models_overlap_with_themselves_only():
    """domain-shift-attention-maps: the cosine of two models' maps."""
    net, other = pooled_cnn(), pooled_cnn()
    with torch.no_grad():
        other[2].weight.copy_(other[2].weight.flip(0))
    assert cam_overlap(net, net, X).min() > 0.999 and cam_overlap(net, other, X).mean() < 0.999


def test_maps_that_are_zero_everywhere_overlap_with_each_other_only():
    """Features that are 1 everywhere and count against class 0, for class 1: relu gives a zero map for class 0."""
    net = nn.Sequential(nn.Conv2d(1, 1, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2)).double()
    with torch.no_grad():
        for p, value in zip(net.parameters(), ([0.0], [1.0], [-1.0, 1.0], [0.0, 0.0]), strict=True):
            p.copy_(torch.tensor(value).reshape(-1, *[1] * (p.dim() - 1)).expand_as(p))
    other = nn.Sequential(*net[:3], nn.Linear(1, 2).double())
    with torch.no_grad():
        other[3].weight.copy_(-net[3].weight)
    assert float(grad_cam(net, X, 0).values.abs().max()) == 0 and float(grad_cam(other, X, 0).values.min()) > 0
    assert cam_overlap(net, net, X, 0).tolist() == [1.0] * len(X)
    assert cam_overlap(net, other, X, 0).tolist() == [0.0] * len(X)
    with torch.no_grad():
        other[3].weight.mul_(1e-11)  # the cosine does not depend on the size of a map
    torch.testing.assert_close(cam_overlap(other, other, X, 0), torch.ones(len(X)).double())


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: grad_cam(nn.Sequential(nn.Flatten(), nn.Linear(100, 2)).double(), X), InputError, "no layer has outputs"),
        (lambda: cam(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(128, 2)).double(), X), InputError, "Use grad_cam"),
        (lambda: integrated_gradients(pooled_cnn(), X, 7), InputError, "target names an output that does not exist"),
        (lambda: integrated_gradients(pooled_cnn(), X * torch.nan), NotFiniteError, "NaN or infinity"),
        (lambda: integrated_gradients(nn.Embedding(3, 2), torch.tensor([[0, 1]])), InputError, "x is torch.int64"),
        (lambda: grad_cam(pooled_cnn(), X, layer="nine"), InputError, "does not have a layer 'nine'"),
        (lambda: sanity_check(lambda m, x, t: x, pooled_cnn(), X), InputError, "the method returned a Tensor"),
        (lambda: deletion_insertion(pooled_cnn(), X, cam(pooled_cnn(), X)), InputError, "a value for each feature"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_sentence(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
