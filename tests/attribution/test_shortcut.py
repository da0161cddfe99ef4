import pytest
import torch
from torch import nn

from gnomon import data, examine
from gnomon.attribution import fourier_mask, shortcuts
from gnomon.attribution.fourier import FourierMask, keep_frequencies
from gnomon.core import InputError
from gnomon.examination import STEPS
from gnomon.examination.steps.attribution import AttributionStep
from tests.shares import in_full


def trained(net, x, y, steps=250, rate=1e-2):
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(net.parameters(), rate)
    for _ in range(steps):
        i = torch.randint(len(x), (100,))
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


def mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def corner(x, y):
    x = x.clone()
    x[:, 0, 0, 0] = y / 3
    return x


def watermark(x, y):
    k = torch.arange(8.0)
    return x + 0.4 * (y[:, None, None, None] - 4.5) / 4.5 * torch.cos(2 * torch.pi * (3 * k[:, None] + 2 * k) / 8)


SPLIT = data.digits(900, 500)


@pytest.mark.parametrize(("plant", "name"), [(corner, "pixel (0, 0)"), (watermark, "frequency (3, 2)")])
def test_a_planted_shortcut_is_found_and_named(plant, name):
    net = trained(mlp(), plant(SPLIT.x, SPLIT.y), SPLIT.y)
    found = shortcuts(net, (plant(SPLIT.x_test, SPLIT.y_test), SPLIT.y_test))
    assert found.named == (name,) and found.findings[0].kind == "shortcut" and name in found.findings[0].message


@pytest.mark.parametrize("seed", in_full(range(4), except_for=[0]))
def test_a_healthy_network_has_none(seed):
    torch.manual_seed(seed)
    net = trained(nn.Sequential(nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10)), SPLIT.x, SPLIT.y)
    found = shortcuts(net, (SPLIT.x_test, SPLIT.y_test), seed=seed)
    assert found.named == found.offered == ()


def test_the_examination_names_the_shortcut():
    """pretrained-model-insights-lab: all instruments on one model, as a section of the examination."""
    x = corner(SPLIT.x, SPLIT.y)
    net = trained(mlp(), x, SPLIT.y)
    result = examine(net, (x, SPLIT.y), examination_steps=(*STEPS[:2], AttributionStep()), budget=30, fit=False)
    section = result.section("attribution")
    assert section.status == "problem" and "pixel (0, 0)" in str(section.content.findings[0].message)


@pytest.mark.full
@pytest.mark.parametrize("fit", [True, False])
@pytest.mark.parametrize(("plant", "name"), [(corner, "(0, 0)"), (watermark, "(3, 2)"), (None, None)])
def test_the_whole_examination_names_what_was_planted_and_nothing_in_healthy_data(plant, name, fit):
    """Trained within the examination, the network uses it: a fault. Untrained, the data offer it."""
    x = plant(SPLIT.x, SPLIT.y) if plant else SPLIT.x
    z = plant(SPLIT.x_test, SPLIT.y_test) if plant else SPLIT.x_test
    result = examine(mlp(), (x, SPLIT.y), test=(z, SPLIT.y_test), budget=60, fit=fit)
    found = [finding for finding in result.findings if finding.kind == "shortcut"]
    assert [name in f.message for f in found] == ([True] if name else [])
    assert not fit or all(f.message.startswith("The network uses") for f in found)


def test_a_shortcut_that_the_network_does_not_use_is_said_to_be_offered():
    """A network that never sees the corner, on images with a mark there, and on the same without."""
    x = corner(SPLIT.x_test, SPLIT.y_test)
    net = mlp()
    with torch.no_grad():
        net[1].weight[:, 0] = 0
    marked, plain = shortcuts(net, (x, SPLIT.y_test)), shortcuts(net, (SPLIT.x_test, SPLIT.y_test))
    assert marked.named == () and marked.offered == ("pixel (0, 0)",) and "does not use it" in marked.verdict
    assert marked.findings[0].message.startswith("The class can be predicted from pixel (0, 0) alone (100% correct")
    assert plain.named == plain.offered == () and plain.findings == ()


@pytest.mark.full
def test_the_rate_of_false_alarms_is_at_most_the_level():
    """Features and decisions that have nothing to do with each other: 300 networks at level 0.1."""
    alarms = 0
    for seed in range(300):
        draw = torch.Generator().manual_seed(seed)
        x, y = torch.randn(120, 6, generator=draw), torch.randint(2, (120,), generator=draw)
        torch.manual_seed(seed)
        alarms += any(r.apart <= 0.1 for r in shortcuts(nn.Linear(6, 2), (x, y), level=0.1, seed=seed).reliance)
    assert alarms <= 45  # more than 15 % at a true rate of 10 % has a chance below 0.5 %


def test_two_planted_frequencies_are_recovered_and_the_decisions_kept():
    torch.manual_seed(0)
    k = torch.arange(12.0)
    waves = [torch.cos(2 * torch.pi * (a * k[:, None] + b * k) / 12) for a, b in ((2, 3), (4, 1))]
    y = torch.randint(2, (400,))
    x = 0.5 * torch.randn(400, 1, 12, 12) + torch.stack(waves)[y][:, None]
    net = trained(nn.Sequential(nn.Flatten(), nn.Linear(144, 2)), x, y, steps=200)
    found = fourier_mask(net, (x, y), sparsity_weight=2.0, epochs=40)
    assert set(found.frequencies()) == {(2, 3), (4, 1)}
    assert found.masked_accuracy >= found.accuracy - 0.05 and found.kept < 0.05
    fresh = 0.5 * torch.randn(400, 1, 12, 12) + torch.stack(waves)[y][:, None]
    assert found.on(net, (fresh, y)).agreement > 0.9 and found.on(net, (fresh, y)).kept == found.kept
    other = x[torch.randperm(400)]
    assert (net(found.ambiguous(x, other)).argmax(1) == net(x).argmax(1)).float().mean() > 0.9


def test_digits_are_decided_by_few_frequencies():
    net = trained(mlp(), SPLIT.x, SPLIT.y)
    found = fourier_mask(net, (SPLIT.x_test, SPLIT.y_test), sparsity_weight=4.0, epochs=40)
    assert found.kept <= 0.45 and found.masked_accuracy >= found.accuracy - 0.07


def test_masks_keep_images_real_and_whole():
    x = torch.rand(2, 3, 6, 5)
    assert torch.allclose(keep_frequencies(x, torch.ones(6, 5)), x, atol=1e-6)
    low = torch.zeros(6, 5)
    low[0, 0] = 1
    assert torch.allclose(keep_frequencies(x, low), x.mean((2, 3), keepdim=True).expand_as(x), atol=1e-6)


def test_bad_data_are_refused():
    with pytest.raises(InputError, match="too few examples, or their targets"):
        shortcuts(mlp(), (SPLIT.x[:10], SPLIT.y[:10]))
    with pytest.raises(InputError, match="the targets are not classes"):
        fourier_mask(mlp(), (SPLIT.x, SPLIT.y.float()))
    with pytest.raises(InputError, match="images"):
        fourier_mask(nn.Linear(64, 10), (SPLIT.x.flatten(1), SPLIT.y))


def test_a_mask_that_keeps_everything_says_so():
    some = torch.ones(4, 4, dtype=torch.bool)
    assert "needs every frequency" in FourierMask(some, 0.9, 0.9, 1.0).verdict
    some[1, 1] = False
    assert "only 94%" in FourierMask(some, 0.9, 0.9, 1.0).verdict
