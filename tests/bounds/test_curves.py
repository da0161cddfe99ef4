"""Learning curves, scaling laws, double descent and memorization against refits, closed forms and brute force."""

import pytest
import torch
from torch import nn

from gnomon import InputError
from gnomon.bounds import (
    double_descent,
    epoch_wise_double_descent,
    forgetting_events,
    kernel_influence,
    learning_curve,
    memorization,
    sample_wise_double_descent,
    scaling_law,
)
from gnomon.bounds.double_descent import isotropic_risk, ridge_risk_from_spectrum
from gnomon.decisions import best_temperature, distill
from gnomon.decisions.temperature import distillation_loss, label_smoothing_gap
from gnomon.training import SGD


def test_the_curve_predicts_refits_on_fewer_rows():
    """A target with linear and quadratic parts: predicted errors are within 15 % of means over refits."""
    g = torch.Generator().manual_seed(0)

    def draw(n):
        x = 6**0.5 * nn.functional.normalize(torch.randn(n, 6, generator=g).double())
        return x, x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(n, generator=g).double()

    def kernel(a, b):
        return torch.exp(-torch.cdist(a, b) / 4)

    x, y = draw(800)
    z, t = draw(2000)
    found = learning_curve(kernel(x, x), y, sizes=[50, 100, 200, 400], ridge=0.05)
    for size, told in zip(found.sizes, found.predicted, strict=True):
        errors = []
        for _ in range(8):
            rows = torch.randperm(800, generator=g)[:size]
            k = kernel(x[rows], x[rows]) + 0.05 * torch.eye(size).double()
            center = y[rows].mean()
            made = kernel(z, x[rows]) @ torch.linalg.solve(k, y[rows] - center) + center
            errors.append(float((made - t).square().mean()))
        seen = torch.tensor(errors)
        assert abs(told - float(seen.mean())) < 0.15 * float(seen.mean()) + 2 * float(seen.std()) / 8**0.5
    assert found.doubled is not None and found.verdict and found.plots() and found.to_dict()


@pytest.mark.parametrize(("decay", "power", "noise", "ridge"), [(1.5, 1.5, 0.1, 0.3), (2.0, 1.2, 0.01, 0.03)])
def test_the_curve_is_that_of_a_known_spectrum_also_beyond_the_rows(decay, power, noise, ridge):
    """Gaussian features of known eigenvalues: errors at 75 to 1200 rows from 300, against the theory of the spectrum.

    300 rows tell the error to 2 / sqrt(300) of itself for one output; forty outputs of one law make that 2 %, and what
    is left is the bias of the estimate, of order 1 / 300 times the ratio of sizes.
    """
    g, place = torch.Generator().manual_seed(0), torch.arange(1, 2001).double()
    values, target = place**-decay / (place**-decay).sum(), (place**-power / (place**-power).sum()).sqrt()
    features = torch.randn(300, 2000, generator=g).double()
    signs = 2.0 * torch.randint(2, (2000, 40), generator=g).double() - 1
    y = features @ (target[:, None] * signs) + noise**0.5 * torch.randn(300, 40, generator=g).double()
    scaled = features * values.sqrt()
    found = learning_curve(scaled @ scaled.T, y, sizes=[75, 150, 300, 600, 1200], ridge=ridge)
    assert found.reach == 1200
    for size, told in zip(found.sizes, found.predicted, strict=True):
        exact = ridge_risk_from_spectrum(values, target, size, ridge=ridge, noise=noise) + noise
        assert told / 40 == pytest.approx(exact, rel=0.06)


def test_what_has_no_curve_is_told():
    with pytest.raises(InputError, match="at least 20 rows"):
        learning_curve(torch.eye(5), torch.ones(5))
    with pytest.raises(InputError, match="are requested"):
        learning_curve(torch.eye(30), torch.ones(30), sizes=[121])


def test_a_law_is_found_with_its_floor_and_refused_where_the_range_is_short():
    sizes = [50 * 2**k for k in range(8)]
    g = torch.Generator().manual_seed(0)
    noise = (0.02 * torch.randn(8, generator=g)).exp().tolist()
    law = scaling_law(sizes, [(3 * s**-0.5 + 0.05) * e for s, e in zip(sizes, noise, strict=True)])
    assert law.trusted and 0.5 in law.exponent_interval
    assert abs(float(law.at(12_800).value) - (3 * 12_800**-0.5 + 0.05)) < 0.02
    for short in ([50, 60, 70, 80, 90], [50, 100, 200]):
        assert not scaling_law(short, [s**-0.5 for s in short]).trusted
    flat = scaling_law(sizes, [0.3 * e for e in noise])
    assert not flat.trusted
    with pytest.raises(InputError, match="points that determine a power law"):
        flat.at(100)
    with pytest.raises(InputError, match="points end at"):
        law.at(10**6)


def test_least_norm_risk_is_the_closed_form_and_both_theories_agree():
    n, noise, signal = 30, 0.5, 1.0
    g = torch.Generator().manual_seed(0)
    for p in (10, 80):
        risks = []
        for _ in range(300):
            w = torch.randn(p, generator=g).double()
            w = w / w.norm()
            x = torch.randn(n, p, generator=g).double()
            y = x @ w + noise**0.5 * torch.randn(n, generator=g).double()
            risks.append(float((torch.linalg.pinv(x) @ y - w).square().sum()))
        seen = torch.tensor(risks)
        told = isotropic_risk(n, p, noise=noise, signal=signal)
        assert abs(told - float(seen.mean())) < 4 * float(seen.std()) / 300**0.5
    for p in (500, 2000):  # in the limit the two theories are one
        ones = torch.ones(p).double()
        limit = ridge_risk_from_spectrum(ones, ones / p**0.5, 1000, noise=0.3)
        assert limit == pytest.approx(isotropic_risk(1000, p, noise=0.3, signal=1.0), rel=0.01)
    ridge = ridge_risk_from_spectrum(
        torch.ones(100).double(), torch.ones(100).double() / 10, 100, ridge=100.0, noise=1.0
    )
    assert ridge < 2.0 and isotropic_risk(100, 100, noise=1.0, signal=1.0) == float("inf")


def test_a_sweep_finds_the_peak_and_none_with_ridge():
    g = torch.Generator().manual_seed(0)
    x, z = torch.randn(30, 90, generator=g), torch.randn(400, 90, generator=g)
    w = torch.ones(90) / 90**0.5
    data, test = (x, x @ w + 0.5 * torch.randn(30, generator=g)), (z, z @ w)

    def least_norm(size, x, y, seed):
        order = torch.randperm(90, generator=torch.Generator().manual_seed(seed))[:size]
        v = torch.linalg.pinv(x[:, order]) @ y
        return lambda inputs: inputs[:, order] @ v

    def ridge(size, x, y, seed):
        a = x[:, :size]
        v = torch.linalg.solve(a.T @ a + 30 * torch.eye(size), a.T @ y)
        return lambda inputs: inputs[:, :size] @ v

    sizes = [5, 15, 30, 60, 90]
    found = double_descent(least_norm, sizes, data, test, draws=5)
    assert found.peak == 30 and found.threshold == 30 and found.plots()
    assert double_descent(ridge, sizes, data, test, draws=1).peak is None
    with pytest.raises(InputError, match="three growing sizes"):
        double_descent(least_norm, [5], data, test)


def test_descents_along_examples_and_along_epochs():
    g = torch.Generator().manual_seed(0)
    x, z = torch.randn(120, 30, generator=g), torch.randn(400, 30, generator=g)
    w = torch.ones(30) / 30**0.5
    y = x @ w + 0.5 * torch.randn(120, generator=g)

    def least_norm(x, y, seed):
        v = torch.linalg.pinv(x) @ y
        return lambda inputs: inputs @ v

    found = sample_wise_double_descent(least_norm, [10, 20, 30, 60, 120], (x, y), (z, z @ w))
    assert found.peak == 30 and found.threshold == 30 and found.along == "number of examples" and found.plots()
    told = isotropic_risk(120, 30, noise=0.25, signal=1.0)
    assert found.test[-1] == pytest.approx(told, rel=0.5)  # one data set: the risk of 30 weights has spread 1/sqrt(15)

    start = torch.zeros(1, 30)

    def factory(seed):
        net = nn.Linear(30, 1, bias=False)
        net.weight.data.copy_(start)
        return net

    epochs = [1, 5, 40]
    run = epoch_wise_double_descent(factory, epochs, (x, y), (z, z @ w), optimizer=SGD(0.1), batch=120, draws=1)
    weight = torch.zeros(30).double()
    for step in range(1, 41):  # gradient descent on half the mean square, by hand
        weight -= 0.1 * x.double().T @ (x.double() @ weight - y.double()) / 120
        if step in epochs:
            error = float((z.double() @ (weight - w.double())).square().mean())
            assert run.test[epochs.index(step)] == pytest.approx(error, rel=1e-4)
    with pytest.raises(InputError, match="three growing sizes"):
        epoch_wise_double_descent(factory, [3, 2, 1], (x, y), (z, z @ w))
    with pytest.raises(InputError, match="rows are requested"):
        sample_wise_double_descent(least_norm, [10, 20, 500], (x, y), (z, z @ w))


def test_random_labels_and_forgetting():
    """random-label-fitting: labels drawn at random are fitted, so that Rad = E max (1/n) sum_i e_i f(x_i) = 1."""
    x = torch.randn(40, 20, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()

    def factory(seed):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))

    found = memorization(factory, (x, y), steps=150, lr=1e-2)
    assert max(found.random) == 1.0 and found.rademacher == 1.0 and found.slowdown >= 1
    assert found.verdict and found.plots()
    with pytest.raises(InputError, match="one class"):
        memorization(factory, (x, torch.zeros(40).long()))
    flipped = y.clone()
    flipped[:2] = 1 - flipped[:2]
    seen = forgetting_events(nn.Linear(20, 2), (x, flipped), steps=60, batch=20, lr=1e-2)
    assert len(seen.ranked) == 40 and 0 <= seen.never <= 1 and seen.plots()


def test_influence_is_the_difference_of_two_fits():
    x = torch.randn(12, 3).double()
    k, y = torch.exp(-torch.cdist(x, x).square()), torch.randn(12, 2).double()
    z = torch.randn(4, 3).double()
    cross = torch.exp(-torch.cdist(z, x).square())
    told = kernel_influence(k, y, cross, ridge=0.1)
    full = cross @ torch.linalg.solve(k + 0.1 * torch.eye(12), y)
    for i in range(12):
        keep = [j for j in range(12) if j != i]
        without = cross[:, keep] @ torch.linalg.solve(k[keep][:, keep] + 0.1 * torch.eye(11), y[keep])
        assert torch.allclose(told[:, i], full - without, atol=1e-10)


def test_temperature_smoothing_and_distillation_have_their_closed_forms():
    """label-smoothing: gap of the logits = ln((1 - e + e/k) / (e/k)) at the minimum.

    distillation: l = -sum_y softmax_y(F / T) log softmax_y(G / T), of slope (softmax(G / T) - softmax(F / T)) / T.
    """
    g = torch.Generator().manual_seed(0)
    f = torch.randn(4000, 5, generator=g).double()
    labels = torch.multinomial((f / 2).softmax(1), 1, generator=g)[:, 0]
    found = best_temperature(f, labels)
    assert 2.0 in found.interval and found.after < found.before and found.findings

    def likelihood(t):
        return float((f / t).log_softmax(1).gather(1, labels[:, None]).sum())

    for end in (found.interval.low, found.interval.high):  # Wilks: a log likelihood lower by 3.84 / 2
        assert likelihood(found.value) - likelihood(end) == pytest.approx(3.841459 / 2, rel=1e-4)
    free = torch.zeros(1, 6, requires_grad=True)
    target = torch.full((1, 6), 0.1 / 6)
    target[0, 2] += 0.9
    for _ in range(3000):
        loss = -(target * free.log_softmax(1)).sum()
        (slope,) = torch.autograd.grad(loss, free)
        free = (free - 2.0 * slope).detach().requires_grad_()
    gap = float((free[0, 2] - free[0, 0]).detach())
    assert gap == pytest.approx(label_smoothing_gap(0.1, 6), rel=1e-2)
    a, b = torch.randn(2, 3, 4).double()
    a.requires_grad_()
    (slope,) = torch.autograd.grad(distillation_loss(a, b, 3.0), a)
    assert torch.allclose(slope, (a.softmax(1) * 0 + (a / 3).softmax(1) - (b / 3).softmax(1)) / 3 / 3, atol=1e-12)
    x = torch.randn(60, 3)
    student = distill(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 3)), x, steps=200)
    assert student.agreement > 0.8 and student.plots()
    with pytest.raises(InputError, match="a logit for each class"):
        best_temperature(torch.zeros(3, 2), torch.tensor([0, 1, 2]))
    sure = torch.eye(3).double()
    for labels, words in ((torch.arange(3), "all answers are right"), (torch.tensor([1, 2, 0]), "answers are wrong")):
        with pytest.raises(InputError, match=words):
            best_temperature(sure, labels)
    with pytest.raises(InputError, match="all logits are equal"):
        best_temperature(0 * sure, torch.arange(3))


def test_a_curve_that_was_too_hopeful_at_home_is_corrected():
    """In proportion to what the parts promised, never below one, and not where too few rows are left."""
    from gnomon.bounds.learning_curve import _too_hopeful

    g = torch.Generator().manual_seed(0)
    x = torch.randn(300, 3, generator=g).double()
    k = torch.exp(-torch.cdist(x, x))
    y = x[:, :1].sin()
    assert _too_hopeful(k, y, 0.5, 0.0, 600) == 1.0  # nothing is known of the error: nothing is corrected
    assert _too_hopeful(k, y, 0.5, 9.0, 300) == 1.0 and _too_hopeful(k, y, 0.5, 9.0, 4000) == 1.0
    once, twice = (_too_hopeful(k, y, 0.5, least, 600) for least in (9.0, 18.0))
    assert twice == pytest.approx(2 * once) and once > 1
