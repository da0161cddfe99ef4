"""What all models share: code lengths, dequantization, and data that repeat."""

from math import log

import pytest
import torch
from torch.distributions import Independent, Normal

from gnomon.core.errors import InputError
from gnomon.generative import Autoencoder, Flow, bits_per_dimension
from gnomon.generative.autoencoder import linear_autoencoder
from gnomon.generative.flows.base import ShiftTransform
from gnomon.generative.model import check_continuous, dequantize, standard_normal


def test_bits_are_the_mean_over_all_examples_of_unequal_batches():
    p = Independent(Normal(torch.tensor([[0.5, -1.0, 0.0]]), 2.0), 2)
    x = torch.randn(7, 1, 3, generator=torch.Generator().manual_seed(0)) * 2
    expected = -(float(p.log_prob(x).double().mean()) + 3 * log(0.25)) / (3 * log(2))
    assert bits_per_dimension(p, x, step=0.25, batch=3) == pytest.approx(expected, rel=1e-6)
    flat = -(float(p.log_prob(x).double().mean())) / (3 * log(2))
    assert bits_per_dimension(p, x) == pytest.approx(flat, rel=1e-6)


def test_the_standard_normal_density_of_examples_with_several_axes():
    z = torch.randn(4, 2, 3).double()
    torch.testing.assert_close(standard_normal(z), Normal(0.0, 1.0).log_prob(z).sum((1, 2)))


def test_noise_of_one_step_is_added_by_the_seed():
    x = torch.tensor([[0, 3], [2, 1]])
    u = torch.rand(2, 2, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    torch.testing.assert_close(dequantize(x, 0.5, seed=4), (x + 0.5 * u).float())


def test_data_are_continuous_if_half_of_their_first_numbers_differ():
    """Of the first 10,000 numbers."""
    check_continuous(torch.tensor([1.0, 2.0, 3.0, 3.0, 3.0, 3.0]))
    with pytest.raises(InputError, match="2 different values in 6 numbers"):
        check_continuous(torch.tensor([1.0, 3.0, 3.0, 3.0, 3.0, 3.0]))
    with pytest.raises(InputError, match="different values"):
        check_continuous(torch.arange(6))
    x = torch.cat([torch.arange(5000.0), torch.zeros(5000), torch.zeros(9000)])
    check_continuous(x)
    with pytest.raises(InputError, match="4999 different values in 10000"):
        check_continuous(torch.cat([torch.arange(4999.0), torch.zeros(5001), torch.arange(9000.0)]))


def test_the_loss_of_a_model_is_the_mean_over_examples_and_shapes_are_checked():
    flow = Flow([ShiftTransform(2), ShiftTransform(2)], shape=(2,))
    flow.transforms[0].amount.data += torch.tensor([1.0, -2.0])
    flow.transforms[1].amount.data += torch.tensor([0.5, 0.5])
    x = torch.randn(5, 2)
    expected = -Normal(torch.tensor([1.5, -1.5]), 1.0).log_prob(x).sum(1)
    torch.testing.assert_close(flow.loss(x).detach(), expected.mean())
    torch.testing.assert_close(flow.log_prob(x).detach(), -expected)
    z = torch.randn(4, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64).float()
    torch.testing.assert_close(flow.sample(4, seed=3), z + torch.tensor([1.5, -1.5]))
    with pytest.raises(InputError, match="at least 6 examples"):
        flow.points(x, least=6)
    assert len(flow.points(x, least=5)) == 5


def test_an_autoencoder_loses_half_of_the_squared_distance_and_decodes_noise():
    model = linear_autoencoder((2, 2), 3)
    assert model.encoder[1].weight.shape == (3, 4) and model.decoder.weight.shape == (4, 3)
    x = torch.randn(5, 2, 2)
    back = x.flatten(1) @ model.encoder[1].weight.T @ model.decoder.weight.T
    torch.testing.assert_close(model.losses(x), (x.flatten(1) - back).square().sum(1) / 2)
    z = torch.randn(4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64).float()
    torch.testing.assert_close(model.sample(4, seed=1), (z @ model.decoder.weight.T).reshape(4, 2, 2).detach())
    torch.testing.assert_close(model.loss(x), model.losses(x).mean())
    assert isinstance(model, Autoencoder)
