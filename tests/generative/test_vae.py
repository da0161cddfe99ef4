"""Losses and bounds of a VAE against distributions of torch, with the same draws."""

import pytest
import torch
from torch import nn
from torch.distributions import Bernoulli as TorchBernoulli
from torch.distributions import Normal, kl_divergence

from gnomon.core.errors import InputError
from gnomon.generative import VAE
from gnomon.generative.vae import BernoulliObservation, GaussianObservation


def vae(**options):
    torch.manual_seed(0)
    encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
    return VAE(nn.Sequential(nn.Flatten(), encoder), decoder, latent=2, shape=(2, 3), **options).double()


@pytest.mark.parametrize("observation", [GaussianObservation(0.7), BernoulliObservation()])
def test_losses_are_the_divergence_minus_the_fit_of_one_draw(observation):
    model = vae(observation=observation, beta=0.3)
    x = (
        torch.rand(5, 2, 3).double().round()
        if isinstance(observation, BernoulliObservation)
        else torch.randn(5, 2, 3).double()
    )

    def parts(e):
        mean, log_variance = model.encoder(x).chunk(2, 1)
        q = Normal(mean, (log_variance / 2).exp())
        z = mean + q.stddev * e
        decoded = model.decoder(z).reshape(5, 2, 3)
        p = TorchBernoulli(logits=decoded) if isinstance(observation, BernoulliObservation) else Normal(decoded, 0.7)
        return q, z, p.log_prob(x).sum((1, 2)), kl_divergence(q, Normal(0.0, 1.0)).sum(1)

    torch.manual_seed(7)
    found = model.losses(x)
    torch.manual_seed(7)
    _, _, fit, apart = parts(torch.randn(5, 2).double())
    torch.testing.assert_close(found, 0.3 * apart - fit)
    generator = torch.Generator().manual_seed(4)
    draws = [parts(torch.randn(5, 2, generator=generator, dtype=torch.float64)) for _ in range(3)]
    torch.testing.assert_close(model.elbo(x, 3, seed=4), sum(d[2] for d in draws) / 3 - apart)
    weights = [fit + Normal(0.0, 1.0).log_prob(z).sum(1) - q.log_prob(z).sum(1) for q, z, fit, _ in draws]
    torch.testing.assert_close(model.bound(x, 3, seed=4), torch.stack(weights).exp().mean(0).log())


def test_log_prob_takes_32_draws_and_samples_are_observed():
    model, x = vae(observation=GaussianObservation(0.7)), torch.randn(3, 2, 3).double()
    torch.testing.assert_close(model.log_prob(x), model.bound(x, 32))
    generator = torch.Generator().manual_seed(2)
    z = torch.randn(4, 2, generator=generator, dtype=torch.float64)
    noise = torch.randn(4, 2, 3, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(model.sample(4, seed=2), (model.decoder(z).reshape(4, 2, 3) + 0.7 * noise).detach())
    torch.testing.assert_close(model.decode(z), model.decoder(z).reshape(4, 2, 3))


def test_bernoulli_draws_ones_with_the_probability_of_the_logit_and_refuses_other_numbers():
    logits = torch.tensor([-1.5, 0.5]).double().expand(20000, 2)
    drawn = BernoulliObservation().draw(logits, torch.Generator().manual_seed(0))
    share = torch.sigmoid(torch.tensor([-1.5, 0.5]).double())
    assert bool(((drawn.mean(0) - share).abs() < 4 * (share * (1 - share) / 20000).sqrt()).all())
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(BernoulliObservation().mean(logits[:1]), share[None])
    BernoulliObservation().check(torch.tensor([0.0, 0.4, 1.0]))
    for bad in (-0.1, 1.1):
        with pytest.raises(InputError, match="numbers from 0 to 1"):
            BernoulliObservation().check(torch.tensor([0.5, bad]))
