"""The steps behind a certificate, one by one: the loss, draws of weights, their means, and the bounds made of them."""

from math import exp, log, sqrt

import numpy as np
import pytest
import scipy.stats
import torch
from torch import nn

from gnomon.bounds import LearnedPrior, OwnWeightsPrior, certify
from gnomon.bounds.pacbayes import certifying
from gnomon.bounds.pacbayes.inequalities import (
    bernstein_upper_bound,
    catoni_bound,
    inverse_kl,
    mcallester_bound,
    quadratic_bound,
    seeger_bound,
)
from gnomon.bounds.pacbayes.posterior import GaussianWeights
from gnomon.core.inputs.batch import Batch


def law_and_data(examples=60):
    torch.manual_seed(0)
    net = nn.Linear(3, 4)
    law = GaussianWeights.around(net, deviation=0.8)
    law = law.moved({k: m + 0.5 for k, m in law.means.items()}, {k: 0.7 * s for k, s in law.stds.items()})
    x = torch.randn(examples, 3)
    y = net(x).argmax(1)
    y[::4] = (y[::4] + 1) % 4
    return law, Batch(x, y)


def test_the_loss_is_the_bounded_cross_entropy_in_units_of_its_maximum():
    made = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5], [30.0, 0.0, 0.0]])
    y = torch.tensor([0, 2, 1])
    logs = [-2 + log(exp(2) + 1 + exp(-1)), -0.5 + log(1 + exp(1) + exp(0.5)), -log(1e-4)]  # the last is bounded
    told = certifying._loss(made, y)
    assert float(told) == pytest.approx(sum(logs) / 3 / log(1e4), rel=1e-6)


def test_the_law_moves_in_units_of_the_deviations_of_the_prior():
    law, _ = law_and_data()
    moves = {k: torch.full_like(m, 1.5) for k, m in law.means.items()}
    logs = {k: torch.full_like(m, -0.3) for k, m in law.means.items()}
    placed = certifying._place(law, moves, logs)
    for name in law.means:
        wide = law.prior_stds[name]
        torch.testing.assert_close(placed.means[name], law.prior_means[name] + 1.5 * wide)
        torch.testing.assert_close(placed.stds[name], torch.full_like(law.means[name], wide * exp(-0.3)))


def recorded(law, data, n, delta, epochs, lr, size, seed):
    """The fit again: Adam with a cosine schedule on the quadratic bound, one batch of a permutation at a time."""
    moves = {k: torch.zeros_like(m, requires_grad=True) for k, m in law.means.items()}
    logs = {k: torch.zeros_like(m, requires_grad=True) for k, m in law.means.items()}
    g = torch.Generator().manual_seed(seed)
    batches = (len(data) + size - 1) // size
    rule = torch.optim.Adam([*moves.values(), *logs.values()], lr=lr)
    for step in range(epochs * batches):
        if step % batches == 0:
            order = torch.randperm(len(data), generator=g)
        index = order[size * (step % batches) :][:size]
        for group in rule.param_groups:
            group["lr"] = lr * (1 + np.cos(np.pi * step / (epochs * batches))) / 2
        weights, kl = {}, 0.0
        for k, a in law.prior_means.items():
            s = law.prior_stds[k]
            noise = torch.randn(a.shape, generator=g)
            weights[k] = a + s * moves[k] + s * logs[k].exp() * noise
            kl = kl + (-logs[k] + (torch.exp(2 * logs[k]) + moves[k] ** 2 - 1) / 2).sum()
        made = torch.func.functional_call(law.module, weights, (data.x[index],))
        own = torch.softmax(made, 1)[torch.arange(len(index)), data.y[index]].clamp(1e-4)
        loss = -own.log().mean() / log(1e4)
        half = (kl + log(2 * sqrt(n) / delta)) / (2 * n)
        rule.zero_grad()
        (((loss + half) ** 0.5 + half**0.5) ** 2).backward()
        rule.step()
    return moves, logs


def test_the_fit_descends_the_quadratic_bound():
    law, data = law_and_data(25)
    seen = []
    fitted = certifying._fit(law, data, 40, 0.05, 3, 0.05, 10, 4, lambda done, steps: seen.append((done, steps)))
    moves, logs = recorded(law, data, 40, 0.05, 3, 0.05, 10, 4)
    assert seen == [(i, 9) for i in range(1, 10)]
    for name, wide in law.prior_stds.items():
        moved = law.prior_means[name] + wide * moves[name].detach()
        torch.testing.assert_close(fitted.means[name], moved, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(fitted.stds[name], wide * logs[name].detach().exp(), rtol=1e-4, atol=1e-5)


def test_draws_have_the_errors_of_their_own_weights_and_examples():
    law, data = law_and_data()
    errors, linear = certifying._draws(law, data, 5, 3)
    g = torch.Generator().manual_seed(3)
    for k in range(5):
        index = torch.randint(60, (32,), generator=g)
        weights = law.weights(g)
        made = data.x[index] @ weights["weight"].T + weights["bias"]
        chances = torch.softmax(made, 1).detach().double().numpy()
        own = chances[np.arange(32), data.y[index]]
        assert float(errors[k]) == pytest.approx(np.mean(chances.argmax(1) != data.y[index].numpy()))
        assert float(linear[k]) == pytest.approx(1 - own.mean(), rel=1e-5)


def test_means_over_draws_have_the_bound_of_bernstein():
    law, data = law_and_data()
    errors, linear = certifying._draws(law, data, 400, 1)
    means = certifying._means(law, data, 400, 0.01, 1)
    wanted = [
        bernstein_upper_bound(float(v.mean()), float(np.var(v.numpy(), ddof=1)), 400, 0.01) for v in (errors, linear)
    ]
    assert (means.error, means.linear) == pytest.approx((float(errors.mean()), float(linear.mean())))
    assert (means.error_bound, means.linear_bound) == pytest.approx(wanted) and max(wanted) < 1
    assert certifying._means(law, data, 20, 0.01, 1).error_bound == 1.0  # a share is never above 1


def test_every_bound_of_a_certificate_is_its_formula(monkeypatch):
    """A fifth of delta pays for the mean over draws, and the rest for the inequality."""
    monkeypatch.setattr(certifying, "EXAMPLES_PER_PASS", 16)  # several batches
    law, data = law_and_data(90)
    _, test = law_and_data(110)
    found = certifying._state_certificate(law, data, (test.x, test.y), OwnWeightsPrior(), 0.1, 300, 5)
    n, kl, left = 90, float(law.kl()), 0.08
    means = certifying._means(law, data, 300, 0.02, 5)
    weights = law.weights(torch.Generator().manual_seed(6))

    def wrong(batch):
        made = batch.x @ weights["weight"].T + weights["bias"]
        return float((made.argmax(1) != batch.y).double().mean())

    one, ratio = wrong(data), law.log_ratio(weights)
    gibbs, soft = (seeger_bound(r, kl, n, left) for r in (means.error_bound, means.linear_bound))
    assert found.stochastic.value == pytest.approx(gibbs) and found.majority.value == pytest.approx(2 * gibbs)
    assert found.average.value == pytest.approx(2 * soft)
    assert ratio > 0 and found.single.value == pytest.approx(inverse_kl(one, (ratio + log(2 * sqrt(n) / 0.1)) / n))
    odds = log(2 * sqrt(n) / left) / n
    parts = {b.name: [float(p.value) for p in b.factors] for b in
             (found.stochastic, found.majority, found.average, found.single)}  # fmt: skip
    assert parts["stochastic"] == parts["majority"] == pytest.approx([means.error, kl / n, odds])
    assert parts["average"] == pytest.approx([means.linear, kl / n, odds])
    assert parts["single"] == pytest.approx([one, ratio / n, odds])
    others = [f(means.error_bound, kl, n, left) for f in (mcallester_bound, quadratic_bound, catoni_bound)]
    assert [float(v.value) for v in found.others] == pytest.approx(others)
    # what is measured beside the bounds, with the exact interval of 110 examples
    errors, _ = certifying._draws(law, test, 27, 7)
    g, votes, chances = torch.Generator().manual_seed(8), np.zeros((110, 4)), np.zeros((110, 4))
    for _ in range(40):
        drawn = law.weights(g)
        made = (test.x @ drawn["weight"].T + drawn["bias"]).detach()
        votes[np.arange(110), made.argmax(1)] += 1
        chances += torch.softmax(made.double(), 1).numpy()
    shares = {"stochastic": float(errors.mean()), "single": wrong(test)}
    for name, total in (("majority", votes), ("average", chances)):
        shares[name] = float(np.mean(torch.tensor(total).argmax(1).numpy() != test.y.numpy()))
    for bound in (found.stochastic, found.majority, found.average, found.single):
        seen = scipy.stats.binomtest(round(shares[bound.name] * 110), 110).proportion_ci(0.95)
        assert float(bound.measured.value) == pytest.approx(shares[bound.name]), bound.name
        assert (bound.measured.interval.low, bound.measured.interval.high) == pytest.approx((seen.low, seen.high))


def test_a_certificate_needs_twenty_examples_beside_those_of_the_prior():
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] > 0).long()
    prior = LearnedPrior(share=0.5, epochs=1)
    assert certify(nn.Linear(2, 2), (x, y), prior=prior, epochs=0, draws=20).counted == 20
    with pytest.raises(ValueError, match="19 of 39 examples are left"):
        certify(nn.Linear(2, 2), (x[:39], y[:39]), prior=prior, epochs=0, draws=20)
