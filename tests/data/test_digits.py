"""Digits: exact contents, proportions, determinism, and a door that stays light."""

import subprocess
import sys

import pytest
import torch
from sklearn.datasets import load_digits

from gnomon.core import InputError
from gnomon.data import digits


def rows(images):
    return [tuple(row.tolist()) for row in images.reshape(len(images), -1)]


def test_all_images_are_used_once():
    split = digits()
    pixels, labels = load_digits(return_X_y=True)
    stored = sorted((tuple(row), int(label)) for row, label in zip(pixels.tolist(), labels, strict=True))
    images, classes = torch.cat([split.x, split.x_test]), torch.cat([split.y, split.y_test])
    found = sorted((tuple(v * 16 for v in row), c) for row, c in zip(rows(images), classes.tolist(), strict=True))
    assert found == stored  # exact: sixteenths of small integers are floats


def test_shapes_dtypes_and_range():
    split = digits(30, 20)
    assert split.x.shape == (30, 1, 8, 8) and split.x_test.shape == (20, 1, 8, 8)
    assert split.x.dtype == split.x_test.dtype == torch.float32
    assert split.y.dtype == split.y_test.dtype == torch.int64
    assert split.x.min() == 0 and split.x.max() == 1
    assert split.classes == 10 and split.name == "digits"


@pytest.mark.parametrize("n_train, n_test", [(10, 10), (137, 41), (1000, 797), (1, 0), (999, 5)])
@pytest.mark.parametrize("seed", [0, 7])
def test_classes_keep_their_share(n_train, n_test, seed):
    split = digits(n_train, n_test, seed=seed)
    shares = torch.from_numpy(load_digits().target).bincount() / 1797
    for labels in (split.y, split.y_test):
        counts = labels.bincount(minlength=10)
        # 1/2 from rounding within the class, 10/2 classes times their share from rounding in the others: under 1.02
        assert (counts - len(labels) * shares).abs().max() <= 0.5 + 5 * shares.max() + 1e-9


def test_train_and_test_share_no_image():
    split = digits(1200, 597)
    pixels = load_digits(return_X_y=True)[0]
    assert len({tuple(row) for row in pixels.tolist()}) == 1797  # images are distinct, so the next line can fail
    assert not set(rows(split.x)) & set(rows(split.x_test))


def test_same_seed_same_split_and_other_seed_other_split():
    first, again, other = digits(50, 50, seed=3), digits(50, 50, seed=3), digits(50, 50, seed=4)
    assert torch.equal(first.x, again.x) and torch.equal(first.y_test, again.y_test)
    assert not torch.equal(first.x, other.x)


def test_a_smaller_part_is_contained_in_a_larger_and_leaves_the_test_alone():
    small, large = digits(100, 200), digits(900, 200)
    assert set(rows(small.x)) < set(rows(large.x))
    assert torch.equal(small.x_test, large.x_test) and torch.equal(small.y_test, large.y_test)


def test_labels_are_shuffled():
    y = digits(500, 0).y
    runs = int((y[1:] == y[:-1]).sum())
    # equal neighbors of a shuffled balanced sequence: binomial(499, 0.1), mean 50, deviation 6.7; sorted gives 490,
    # cyclic gives 0. Five deviations.
    assert abs(runs - 49.9) < 5 * 6.7


def test_the_global_generator_is_untouched():
    before = torch.get_rng_state()
    digits(10, 10)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.full
def test_importing_the_room_does_not_import_scikit_learn():
    code = "import sys, gnomon.data; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}).returncode == 0


@pytest.mark.parametrize("n_train, n_test", [(0, 10), (-1, 10), (10, -1), (1797, 1), (2000, 0)])
def test_sizes_that_cannot_be_are_refused(n_train, n_test):
    with pytest.raises(
        InputError,
        match=r"digits\(\): n_(train|test) must be a whole number from \d+ to .*1797 images",
    ):
        digits(n_train, n_test)
