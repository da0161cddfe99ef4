"""Images as data sets hold them are adapted once, for every instrument, and it is said; what runs is left alone."""

import pytest
import torch
from torch import nn

from gnomon.core.inputs.checks import as_inputs
from gnomon.core.inputs.images import AdaptedInputWarning, adapt_images

IMAGES = torch.randint(0, 256, (5, 6, 6), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
CNN = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 2))


class Own(nn.Module):
    """Scales bytes and adds the channel by itself."""

    def __init__(self):
        super().__init__()
        self.body = CNN

    def forward(self, x):
        return self.body(x.float().unsqueeze(1) / 255)


def test_bytes_without_channels_are_scaled_and_given_one():
    with pytest.warns(AdaptedInputWarning, match=r"^uint8 .* \[0, 1\] and a channel axis was added\.$"):
        x = as_inputs(IMAGES, CNN)
    assert torch.equal(x, IMAGES.float().unsqueeze(1) / 255)


def test_one_image_alone_is_one_example():
    with pytest.warns(AdaptedInputWarning):
        assert as_inputs(IMAGES[:1], CNN).shape == (1, 1, 6, 6)


def test_a_flat_table_of_bytes_is_scaled():
    assert adapt_images(IMAGES.flatten(1), nn.Linear(36, 1))[0].max() <= 1


def test_what_the_module_takes_is_left_alone():
    for x, net in ((IMAGES, Own()), (IMAGES.flatten(1), nn.Embedding(256, 2)), (IMAGES.float().unsqueeze(1), CNN)):
        assert torch.equal(as_inputs(x, net), x.long() if isinstance(net, nn.Embedding) else x)


def test_the_warning_points_at_the_users_line():
    with pytest.warns(AdaptedInputWarning) as seen:
        as_inputs(IMAGES, CNN)
    assert seen[0].filename == __file__
