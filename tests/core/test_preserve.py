"""`preserve` restores a module to the last bit, and `copy_module` makes copies that share no layer."""

import random
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import gnomon
from gnomon.core.errors import InputError
from gnomon.core.modules.copies import copy_module, names_of_shared_parameters
from gnomon.core.modules.preserve import preserve


class Block(nn.Module):
    """A transformer's feed-forward block that keeps a lambda over its layers."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.mlp = nn.ModuleDict({"fc": nn.Linear(width, 2 * width), "proj": nn.Linear(2 * width, width)})
        m = self.mlp
        self.mlpf = lambda x: m.proj(F.gelu(m.fc(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.mlpf(x)


class Through(nn.Module):
    """A layer that is reached in one of several ways that deepcopy does not follow."""

    def __init__(self, way: str) -> None:
        super().__init__()
        layer = self.layer = nn.Linear(3, 3)
        inner = lambda x: layer(x)  # noqa: E731
        ways = {
            "lambda": lambda x: layer(x),
            "nested": lambda x: inner(x),
            "default": lambda x, layer=layer: layer(x),
            "keyword": lambda x, *, layer=layer: layer(x),
            "partial": partial(lambda scale, x: scale * layer(x), 1.0),
            "weight": lambda x, w=layer.weight: F.linear(x, w),
            "method": lambda x, run=layer.forward: run(x),
        }
        self.way = {"list": [inner], "dict": {"inner": inner}, "tuple": (inner,)}.get(way, ways.get(way))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        way = self.way["inner"] if isinstance(self.way, dict) else self.way
        return (way[0] if isinstance(way, list | tuple) else way)(x)


class Hidden(nn.Module):
    """A layer that is reached through a global name: no copy can follow it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        HIDDEN["layer"] = self.layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return HIDDEN["layer"](x)


HIDDEN: dict[str, nn.Module] = {}
WAYS = ("lambda", "nested", "default", "keyword", "partial", "weight", "method", "list", "dict", "tuple")


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_runs_its_own_layers(way: str) -> None:
    net, x = Through(way), torch.randn(2, 3)
    copy, before = copy_module(net), net(x)
    assert torch.equal(copy(x), before)
    assert names_of_shared_parameters(copy, net, lambda: copy(x)) == ()
    copy(x).sum().backward()
    assert net.layer.weight.grad is None
    assert copy.layer.weight.grad is not None
    with torch.no_grad():
        copy.layer.weight.zero_()
    assert torch.equal(net(x), before)


def test_a_copied_block_trains_all_of_its_parameters() -> None:
    net, x = nn.Sequential(Block(), Block()), torch.randn(5, 4)
    copy, before = copy_module(net), [p.detach().clone() for p in net.parameters()]
    rule = torch.optim.SGD(copy.parameters(), lr=0.1)
    copy(x).square().sum().backward()
    rule.step()
    assert all(not torch.equal(p, q) for p, q in zip(copy.parameters(), net.parameters(), strict=True))
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), before, strict=True))


def test_a_copy_of_a_copy_is_independent_as_well() -> None:
    net, x = Block(), torch.randn(2, 4)
    first = copy_module(net)
    second = copy_module(first)
    assert names_of_shared_parameters(second, net, lambda: second(x)) == ()
    assert names_of_shared_parameters(second, first, lambda: second(x)) == ()


def test_a_layer_behind_a_global_name_is_noticed() -> None:
    net = Hidden()
    copy = copy_module(net)
    assert names_of_shared_parameters(copy, net, lambda: copy(torch.zeros(1, 3))) == ("layer.weight", "layer.bias")
    with pytest.raises(InputError, match=r"still uses 2 of its parameters, such as 'layer\.weight'"):
        gnomon.train(net, (torch.zeros(4, 3), torch.zeros(4, 3)), steps=1)
    with pytest.raises(InputError, match="still uses"):
        gnomon.train(net, (torch.zeros(4, 3), torch.zeros(4, 3)), steps=1, loss=nn.MSELoss())


def test_training_a_copy_of_a_block_leaves_the_original_and_changes_all_parameters() -> None:
    net, x = Block(), torch.randn(8, 4)
    before = [p.detach().clone() for p in net.parameters()]
    run = gnomon.train(net, (x, torch.randn(8, 4)), steps=2)
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), before, strict=True))
    assert all(not torch.equal(p, q) for p, q in zip(run.model.parameters(), before, strict=True))


def test_a_recursive_function_and_a_list_that_holds_itself_are_copied() -> None:
    net = nn.Module()
    layer = net.layer = nn.Linear(1, 1)

    def power(x: torch.Tensor, n: int) -> torch.Tensor:
        return x if n == 0 else power(layer(x), n - 1)

    net.power, net.loop = power, []
    net.loop.append(net.loop)
    copy = copy_module(net)
    nn.init.zeros_(copy.layer.weight)
    nn.init.ones_(copy.layer.bias)
    assert copy.power(torch.zeros(1, 1), 2).item() == 1.0
    assert copy.power is not net.power


def test_functions_without_layers_stay_the_same_objects() -> None:
    net = nn.Linear(1, 1)
    net.scale = lambda x: 2 * x
    assert copy_module(net).scale is net.scale


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_everything_is_restored_also_after_an_error(error: type[BaseException] | None) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
    net[0].weight.grad = grad = torch.ones(2, 2)
    net[2].eval()
    before = {name: t.clone() for name, t in net.state_dict().items()}
    states = random.getstate(), np.random.get_state()[1].copy(), torch.get_rng_state()
    objects = list(net.parameters())
    try:
        with preserve(net, mode="train", weights=True, seed=3):
            net(torch.randn(4, 2)).sum().backward()
            torch.optim.SGD(net.parameters(), lr=1.0).step()
            net[0].register_forward_hook(lambda *_: None)
            net[0].requires_grad_(False)
            net.note = net[1].weight
            net[0].bias = None
            _ = random.random(), np.random.rand(), torch.rand(1)
            if error is not None:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    assert all(torch.equal(t, before[name]) for name, t in net.state_dict().items())
    assert [id(p) for p in net.parameters()] == [id(p) for p in objects]
    assert net[0].weight.grad is grad
    assert net[1].weight.grad is None
    assert all(p.requires_grad for p in net.parameters())
    assert (net[0].training, net[2].training) == (True, False)
    assert not net[0]._forward_hooks
    assert not hasattr(net, "note")
    assert random.getstate() == states[0]
    assert (np.random.get_state()[1] == states[1]).all()
    assert torch.equal(torch.get_rng_state(), states[2])


@pytest.mark.parametrize(("mode", "inside"), [("eval", False), ("train", True), (None, True)])
def test_the_mode_inside(mode: str | None, inside: bool) -> None:
    net = nn.Sequential(nn.Dropout())
    with preserve(net, mode=mode):
        assert net[0].training is inside


def test_gradients_inside_do_not_depend_on_the_callers_mode() -> None:
    net = nn.Linear(1, 1)
    with torch.no_grad(), preserve(net):
        assert net(torch.ones(1, 1)).requires_grad
    with torch.inference_mode(), preserve(net, grad=False):
        y = net(torch.ones(1, 1))
        assert not y.requires_grad
        assert not y.is_inference()


def test_a_seed_repeats_and_leaves_the_callers_numbers() -> None:
    net = nn.Linear(1, 1)
    torch.manual_seed(5)
    drawn = []
    for _ in range(2):
        with preserve(net, seed=0):
            drawn.append(torch.rand(3))
    after = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(drawn[0], drawn[1])
    assert torch.equal(after, torch.rand(3))
