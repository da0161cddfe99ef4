"""Blocks of a grid."""

import numpy as np

from gnomon.discovery.forms.base import RegressionSystem, block_numbers


def test_blocks_cut_every_axis_into_pieces_of_nearly_one_size():
    assert block_numbers((3, 4), (2, 2)).reshape(3, 4).tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]]
    assert block_numbers((7,), (3,)).tolist() == [0, 0, 0, 1, 1, 2, 2]
    cube = block_numbers((4, 3, 2), (2, 3, 1)).reshape(4, 3, 2)
    assert cube[..., 0].tolist() == cube[..., 1].tolist() == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]
    assert RegressionSystem(np.ones((4, 1)), np.ones(4), np.array([0, 2, 1, 1]), 4.0).count == 3
