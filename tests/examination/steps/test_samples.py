"""Samples of a model with a random code."""

from functools import partial

import pytest
import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
from gnomon.core.results import Level
from gnomon.data import digits
from gnomon.examination import STEPS, examine
from gnomon.examination.steps.samples import DrawnSamples, _content, latent_code_layer

X = torch.randn(120, 6, generator=torch.Generator().manual_seed(0))


class Coded(nn.Module):
    """Encodes six numbers to two and decodes them; ``always`` draws the code in eval mode as well."""

    def __init__(self, *, always):
        super().__init__()
        self.always = always
        self.encode, self.decode = nn.Linear(6, 2), nn.Linear(2, 6)

    def forward(self, x):
        code = self.encode(x)
        return self.decode(code + torch.randn_like(code) if self.training or self.always else code)


def test_the_layer_of_the_code_is_found_whether_or_not_eval_mode_uses_its_mean():
    for always in (True, False):
        net = Coded(always=always).eval()
        assert latent_code_layer(net, X[:5], 0) == ("decode", 2)
        assert not any(part.training for part in net.modules())


def test_dropout_is_no_code():
    net = nn.Sequential(nn.Linear(6, 4), nn.Dropout(0.5), nn.Linear(4, 6)).train()
    assert latent_code_layer(net, X[:5], 0) is None
    assert all(part.training for part in net.modules())


def test_samples_are_decoded_from_standard_normal_codes():
    def build():
        net = Coded(always=True)
        with torch.no_grad():
            net.decode.bias.fill_(50.0)
            net.decode.weight.zero_()
        return net.requires_grad_(True)

    steps = [step for step in STEPS if step.key in ("architecture", "training", "samples")]
    result = examine(build, (X, X), budget=20, examination_steps=steps, clock=FakeClock(0.05), optimizer=None)
    found = result.products[DrawnSamples]
    assert found.samples.shape == (12, 6) and found.code_size == 2
    spread = float(found.samples.std(0).max())  # training moved the decoder, and the codes differ
    assert float(found.samples.mean()) > 20 and spread > 0
    assert "from random codes of 2 numbers" in result.section("samples").answer
    assert len(result.section("samples").content.exhibits) == 12


def test_a_classifier_has_no_samples():
    steps = [step for step in STEPS if step.key in ("architecture", "samples")]
    net = nn.Linear(6, 3)
    result = examine(net, (X, (X[:, 0] > 0).long()), budget=5, examination_steps=steps, clock=FakeClock(0.01))
    assert result.section("samples").status == "skipped"


def described(made, data):
    """What the report says about samples, next to data."""
    spread, wanted = (float(torch.nn.functional.pdist(rows.double()).median()) for rows in (made, data[: len(made)]))
    drawn = DrawnSamples(made[:12], 2, torch.zeros(12), spread, wanted)
    return _content(drawn, data, torch.zeros(12, dtype=torch.long), unfinished=False)


@pytest.mark.parametrize(
    ("factor", "kind", "level"),
    [(0.24, "samples-collapsed", Level.PROBLEM), (0.26, "samples-hardly-differ", Level.WARNING)],
)
def test_samples_that_look_the_same_are_a_problem_and_samples_that_vary_little_a_warning(factor, kind, level):
    (found,) = described(factor * X[:64], X).findings
    assert found.kind == kind and found.level is level


def test_samples_that_hardly_differ_are_a_problem_and_samples_like_the_data_are_not():
    poor, healthy = described(0.1 * X[:12], X), described(X[12:24], X)
    assert not poor.good_news and "vary far less than the data" in poor.answer
    assert healthy.good_news and "vary far less" not in healthy.answer and healthy.findings == ()
    (found,) = poor.findings
    assert found.kind == "samples-collapsed" and found.level is Level.PROBLEM
    assert abs(found.values["share"] - 0.1) < 1e-6
    spread, wanted = (next(v.value for v in poor.values if v.id == id) for id in ("sample-spread", "training-spread"))
    distances = [float((a - b).norm()) for i, a in enumerate(X[:12]) for b in X[:i]]
    assert abs(wanted - sorted(distances)[(len(distances) - 1) // 2]) < 1e-5 * wanted
    assert abs(spread - 0.1 * wanted) < 1e-5 * wanted


@pytest.mark.parametrize(("factor", "found"), [(0.49, True), (0.51, False)])
def test_samples_are_reported_below_half_of_the_distances_of_the_data(factor, found):
    assert bool(described(factor * X[:64], X).findings) is found


def test_samples_that_follow_the_data_are_never_reported():
    """Draws of a model that generates the distribution of the data: other digits, and other normal numbers."""
    images = digits(1500, 0).x.flatten(1)
    for seed in range(100):
        draw = torch.Generator().manual_seed(seed)
        mixed = images[torch.randperm(len(images), generator=draw)]
        for rows in (mixed, torch.randn(128, 2, generator=draw)):
            assert described(rows[:64], rows[64:128]).findings == (), seed


def test_a_collapsed_model_is_reported_by_the_examination_and_a_model_of_the_data_is_not():
    """Codes are decoded to almost one point, or to numbers with the distances of the data."""
    steps = [step for step in STEPS if step.key in ("architecture", "training", "samples")]
    x = torch.cat([X[:, :2], torch.zeros(120, 4)], 1)

    def build(scale):
        net = Coded(always=True)
        with torch.no_grad():
            net.decode.bias.zero_()
            net.decode.weight.copy_(scale * torch.eye(6)[:, :2])
        return net.requires_grad_(True)

    for scale, found in ((0.05, ["samples-collapsed"]), (1.0, [])):
        result = examine(partial(build, scale), (x, x), lr=1e-6, epochs=5, budget=20, examination_steps=steps,
                         clock=FakeClock(0.05))  # fmt: skip
        assert [f.kind for f in result.section("samples").findings] == found
