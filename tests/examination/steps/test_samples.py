"""Samples of a model with a random code."""

import torch
from torch import nn

from gnomon.core.machine.clock import FakeClock
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


def test_samples_that_hardly_differ_are_no_good_news():
    far = torch.zeros(12)
    nearest = torch.zeros(12, dtype=torch.long)
    poor = _content(DrawnSamples(0.1 * X[:12], 2, far), X, nearest, unfinished=False)
    healthy = _content(DrawnSamples(X[12:24], 2, far), X, nearest, unfinished=False)
    assert not poor.good_news and "vary far less than the data" in poor.answer
    assert healthy.good_news and "vary far less" not in healthy.answer
    spread, wanted = (next(v.value for v in poor.values if v.id == id) for id in ("sample-spread", "training-spread"))
    distances = [float((a - b).norm()) for i, a in enumerate(X[:12]) for b in X[:i]]
    assert abs(wanted - sorted(distances)[(len(distances) - 1) // 2]) < 1e-5 * wanted
    assert abs(spread - 0.1 * wanted) < 1e-5 * wanted
