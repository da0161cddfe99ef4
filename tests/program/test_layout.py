import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UnsupportedModuleError
from gnomon.program import layout as lay

SIZES = st.lists(st.integers(2, 5), min_size=1, max_size=3)


@given(SIZES)
def test_flatten_and_back_is_the_identity(sizes):
    image = lay.standard((7, 3, *sizes), channel=1)
    flat = lay.regroup(image, (7, 3 * int(torch.Size(sizes).numel())))
    assert lay.shape_of(lay.regroup(flat, (7, 3, *sizes))) == (7, 3, *sizes)


@given(SIZES, st.randoms(use_true_random=False))
def test_permute_follows_the_positions(sizes, random):
    layout = lay.standard((7, 3, *sizes), channel=1)
    order = list(range(2 + len(sizes)))
    random.shuffle(order)
    moved, axes = lay.permute(layout, tuple(order))
    assert lay.grid(moved) == tuple(sizes[a] for a in axes)
    assert lay.shape_of(moved) == tuple((7, 3, *sizes)[i] for i in order)


def test_a_reshape_may_not_split_channels():
    with pytest.raises(UnsupportedModuleError, match="splits the channel axis of size 6"):
        lay.regroup(lay.standard((7, 6), channel=1), (7, 2, 3))


def test_a_reshape_may_not_split_the_batch():
    with pytest.raises(UnsupportedModuleError, match="splits the batch axis"):
        lay.regroup(lay.standard((6, 5), channel=1), (2, 15))


def test_positions_regroup_across_their_old_borders():
    layout = lay.regroup(lay.standard((7, 3, 4, 6), channel=1), (7, 3, 6, 4))
    assert lay.grid(layout) == (6, 4)


def test_axes_of_size_one_come_and_go():
    layout = lay.regroup(lay.standard((7, 3, 4), channel=1), (7, 3, 1, 4, 1))
    assert lay.grid(lay.regroup(layout, (7, 3, 4))) == (4,)
    assert lay.channel_dimension(layout) == 1
