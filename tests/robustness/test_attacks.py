"""Attacks on models whose robustness is known, against each other, and at the edges of what they are given."""

import copy

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from gnomon.core import InputError
from gnomon.data import digits
from gnomon.robustness import preflight, robust_accuracy
from gnomon.robustness.attacks import (
    APGD,
    FGSM,
    PGD,
    DeepFool,
    MinimumNormAttack,
    MostVulnerableFirst,
    SampleFirst,
    ShrinkingSteps,
    SquareAttack,
    TargetedAPGD,
    attack,
    minimal_distance,
    universal_perturbation,
)

ALL = (FGSM(), PGD(), APGD(), APGD(scale_free=True), TargetedAPGD(), SquareAttack(300), ShrinkingSteps(30))


@pytest.fixture(scope="module")
def linear():
    """A linear classifier, points inside wide bounds, and the exact distance of each to another class, by norm."""
    torch.manual_seed(0)
    net = nn.Linear(6, 4).double()
    x = torch.randn(30, 6).double()
    with torch.no_grad():
        f = net(x)
    y = f.argmax(1)
    w = net.weight.detach()
    exact = {}
    for norm, order in (("inf", 1), ("2", 2)):
        gaps = f.gather(1, y[:, None]) - f
        sizes = torch.stack([torch.linalg.vector_norm(w[y] - w[j], order, dim=1) for j in range(4)], 1)
        exact[norm] = torch.where(sizes > 0, gaps / sizes.clamp_min(1e-30), torch.inf).amin(1)
    return net, x, y, exact


@pytest.fixture(scope="module")
def trained():
    """A small network on digits, its inputs in [0, 1]."""
    torch.manual_seed(0)
    x, y = images()
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    return net.eval(), x[:60], y[:60]


def images():
    data = digits()
    x = torch.as_tensor(data.x if hasattr(data, "x") else data[0]).float()
    y = torch.as_tensor(data.y if hasattr(data, "y") else data[1])
    x = x.reshape(-1, 1, 8, 8)
    return (x - x.min()) / (x.max() - x.min()), y.long()


@pytest.mark.parametrize("norm", ["inf", "2"])
@pytest.mark.parametrize("method", ALL[:-1], ids=lambda m: m.name)
def test_gradient_attacks_find_all_there_is_in_a_linear_model(linear, norm, method):
    net, x, y, exact = linear
    for eps in exact[norm].quantile(torch.tensor([0.3, 0.7]).double()).tolist():
        result = attack(net, (x, y), eps=eps, norm=norm, bounds=(-50, 50), method=method)
        must, cannot = exact[norm] < 0.93 * eps, exact[norm] > eps * (1 + 1e-9)
        assert not bool(result.fooled[cannot].any())
        assert float(result.sizes.max()) <= eps * (1 + 1e-9)
        if method.name == "APGD, aimed":  # the others aim at no single class
            assert bool(result.fooled[must].all())
        else:
            assert float(result.fooled[must].double().mean()) > 0.7


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_minimum_norm_attacks_are_exact_in_a_linear_model(linear, norm):
    net, x, y, exact = linear
    deep = minimal_distance(net, (x, y), norm=norm, bounds=(-50, 50), method=DeepFool(overshoot=0.0))
    assert_allclose(deep.above, exact[norm], rtol=1e-3)
    found = minimal_distance(net, (x, y), norm=norm, bounds=(-50, 50), method=MinimumNormAttack(200))
    assert bool((found.above >= exact[norm] * (1 - 1e-9)).all())
    assert float((found.above / exact[norm]).median()) < 1.01 and float((found.above / exact[norm]).max()) < 1.02


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_the_ensemble_is_as_strong_as_each_attack_and_its_examples_hold(trained, norm):
    net, x, y = trained
    eps = 0.12 if norm == "inf" else 0.8
    result = robust_accuracy(
        net, (x, y), eps=eps, norm=norm, attacks=(FGSM(), PGD(10, 0.25), APGD(30), TargetedAPGD(20), SquareAttack(100))
    )
    assert 0 < result.value < result.clean and result.trusted and not result.findings
    with torch.no_grad():
        wrong = net(result.examples).argmax(1) != y
    assert torch.equal(wrong, ~result.robust)  # what is returned is what the model decides
    moved = (result.examples - x).flatten(1)
    size = moved.abs().amax(1) if norm == "inf" else moved.norm(dim=1)
    assert float(size.max()) <= eps * (1 + 1e-5)
    assert 0 <= float(result.examples.min()) and float(result.examples.max()) <= 1
    for method in (FGSM(), PGD(20), SquareAttack(100)):
        alone = attack(net, (x, y), eps=eps, norm=norm, method=method)
        assert float((~alone.fooled).double().mean()) >= result.value - 1e-9
    fgsm, pgd = (attack(net, (x, y), eps=eps, norm=norm, method=m).success for m in (FGSM(), PGD(40)))
    assert fgsm <= pgd + 1e-9
    near = minimal_distance(net, (x, y), norm=norm)
    assert near.unbroken(eps) <= result.value + 0.05 and near.contradictions == 0
    assert result.verdict.endswith(".") and result.plots() and near.plots() and result.to_dict()


def test_rounding_is_seen_through_and_the_preflight_says_so(trained):
    net, x, y = trained

    class Rounded(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net

        def forward(self, x):
            return self.inner((x * 8).round() / 8)

    masked = Rounded().eval()
    check = preflight(masked, (x, y), eps=0.12)
    assert (
        check.gradients_are_masked
        and "gradients are zero" in check.verdict
        and check.findings[0].kind == "gradient-masking"
    )
    assert attack(masked, (x, y), eps=0.12, method=PGD(5)).success == 0  # gradients are zero
    result = robust_accuracy(masked, (x, y), eps=0.12, attacks=(PGD(20), MostVulnerableFirst(SquareAttack(100))))
    blind = attack(masked, (x, y), eps=0.12, method=SquareAttack(300))
    assert dict(result.broken)["PGD"] > 5 and result.value <= float((~blind.fooled).double().mean()) + 0.02
    assert not result.trusted and "not reliable" in result.verdict
    for norm in ("inf", "2"):
        assert preflight(net, (x, y), eps=0.12, norm=norm).ready  # the healthy control


def test_square_breaks_what_gradients_do_not_see(trained):
    """Bins by comparison have no derivative to see through: attacks without gradients run on all that is left."""
    net, x, y = trained

    class Binned(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net

        def forward(self, x):
            return self.inner(sum((x > (k + 0.5) / 8).to(x.dtype) for k in range(8)) / 8)

    binned = Binned().eval()
    assert preflight(binned, (x, y), eps=0.12).gradients_are_masked
    result = robust_accuracy(
        binned, (x, y), eps=0.12, attacks=(FGSM(), MostVulnerableFirst(SquareAttack(300), group=10))
    )
    assert dict(result.broken)["FGSM"] == 0 and dict(result.broken)["SquareAttack"] > 5 and not result.trusted


def test_dear_attacks_end_where_a_group_of_the_closest_withstands(trained):
    net, x, y = trained
    seen = []

    class Counting(PGD):
        def run(self, classifier, x, y, threat, generator):
            seen.append(len(x))
            return super().run(classifier, x, y, threat, generator)

    eps = 0.05
    far = robust_accuracy(net, (x, y), eps=eps, attacks=(APGD(20), MostVulnerableFirst(Counting(3), group=10)))
    left = int(far.robust.sum()) + dict(far.broken)["PGD"]
    assert left > 30 and 10 <= sum(seen) < left  # it stopped early
    all_of_them = robust_accuracy(net, (x, y), eps=eps, attacks=(APGD(20), PGD(3)))
    assert abs(far.value - all_of_them.value) < 1 / 60 + 1e-9


def test_a_sample_decides_whether_the_rest_follows(trained):
    net, x, y = trained
    for eps, follows in ((0.12, True), (1e-4, False)):  # at 1e-4 nothing breaks
        told = robust_accuracy(net, (x, y), eps=eps, attacks=(SampleFirst(PGD(5), (PGD(20),), group=20),)).broken
        assert len(told) == (2 if follows else 1) and (told[0][1] > 0) == follows


@pytest.mark.parametrize("norm", ["inf", "2"])
def test_shrinking_balls_find_what_lies_behind_a_flat_neighborhood(norm):
    """Scores react from 0.35 on, the decision changes at 0.45: from 0.1 an ascent within 0.4 sees a slope in 3 / 16 of
    its starts, for a start is uniform in (-0.3, 0.5) and clipped at 0."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2))
    with torch.no_grad():
        for p, v in zip(net.parameters(), ([[1.0]], [-0.35], [[0.0], [1.0]], [0.1, 0.0]), strict=True):
            p.copy_(torch.tensor(v))
    data = torch.full((40, 1), 0.1), torch.zeros(40, dtype=torch.long)
    within = attack(net, data, eps=0.4, norm=norm, method=APGD(20)).success
    found = attack(net, data, eps=0.4, norm=norm, method=ShrinkingSteps(30))
    assert within < 0.5 and found.success == 1 and float(found.sizes.max()) <= 0.4 + 1e-6


def test_a_preflight_leaves_batch_norm_in_training_mode_as_it_was():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    found = preflight(net, (torch.rand(8, 2), torch.tensor([0, 1] * 4)), eps=0.1)
    assert net.training and "training mode" in found.verdict
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_shrinking_balls_end_where_every_width_has_failed_twice():
    net, starts = nn.Linear(2, 2), []
    with torch.no_grad():
        net.weight.zero_()
        net.bias.copy_(torch.tensor([1.0, 0.0]))

    class Counting(ShrinkingSteps):
        def _inwards(self, classifier, x, *rest):
            starts.append(len(x))
            return super()._inwards(classifier, x, *rest)

    attack(net, (torch.rand(5, 2), torch.zeros(5, dtype=torch.long)), eps=0.1, method=Counting(6))
    assert starts == [5] * 6  # three widths, two failures each


def test_one_perturbation_changes_more_decisions_than_noise(trained):
    net, x, y = trained
    found = universal_perturbation(net, (x[:40], y[:40]), eps=0.2, test=(x[40:], y[40:]), iterations=40)
    assert found.changed > 2 * found.changed_by_noise and float(found.perturbation.abs().max()) <= 0.2 + 1e-6


def test_premises_that_fail_are_told_in_a_sentence(trained):
    net, x, y = trained
    attacks = (FGSM(),)

    def told(model, data, match, **options):
        with pytest.raises(InputError, match=match):
            robust_accuracy(model, data, attacks=attacks, **{"eps": 0.1, **options})

    told(net, (x * 2 - 1, y), r"inputs range from -1 to 1, the bounds are \(0, 1\).*[Nn]ormalization into the model")
    told(net, (x, y), "inputs fill 0.39% of the width", bounds=(0, 255))
    told(net, (x, (y + 3) % 10), "clean accuracy is .* chance is 10.0%")
    told(nn.Sequential(net, nn.Dropout(0.5)).train(), (x, y), "training mode, which changes its scores")
    norm = nn.BatchNorm1d(10, track_running_stats=False)
    told(nn.Sequential(net, norm).eval(), (x, y), "alone than in a batch|size 1|more than 1 value")
    told(net, ((x * 255).long(), y), r"x holds torch.int64|raised RuntimeError")
    told(net, (x, y + 5), "y holds labels from 5 to 14")
    told(net, (x, y), "eps must be", eps=-1)
    told(net, (x, y), "norm must be", norm="one")
    told(net, (x, y), "bounds must be", bounds=(1, 0))
    told(net, (x, y.float()), "class labels")
    bad = copy.deepcopy(net)
    nn.init.constant_(bad[1].weight, float("nan"))
    told(bad, (x, y), "the scores are not finite")


def test_the_model_is_left_as_it_was(trained):
    net, x, y = trained
    model = copy.deepcopy(nn.Sequential(net, nn.Dropout(0.0))).train()
    before, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    model[0][1].bias.requires_grad_(requires_grad=False)
    robust_accuracy(model, (x[:20], y[:20]), eps=0.1, attacks=(APGD(3), SquareAttack(3)))
    assert model.training and all(
        torch.equal(a, b) for a, b in zip(before.values(), model.state_dict().values(), strict=True)
    )
    assert model[0][1].weight.requires_grad and not model[0][1].bias.requires_grad
    assert model[0][1].weight.grad is None and torch.equal(state, torch.get_rng_state())
