"""Test inputs that were changed, marks in the training inputs, shifted masks: each planted, and false alarms counted."""

import pytest
import torch

from gnomon.checks.data.changed_images import changed_image_findings
from gnomon.checks.data.loss_domain import unbounded_loss_findings
from gnomon.checks.data.shift_description import class_cue_findings, describe_shift
from gnomon.checks.data.shifted_masks import shifted_mask_findings
from gnomon.checks.data.standardized_alone import standardized_alone_findings
from gnomon.checks.data.target_shift import target_shift_findings
from gnomon.checks.data.train_only_features import train_only_feature_findings


def generator(seed):
    return torch.Generator().manual_seed(seed)


def images(n, seed, channels=1):
    ramp = torch.linspace(0, 1, 8)[:, None] * torch.linspace(0.2, 1, 8) ** 2
    levels = torch.linspace(1, 1 / channels, channels)[:, None, None]
    return torch.rand(n, channels, 8, 8, generator=generator(seed)) * ramp * levels


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda x: x.transpose(2, 3), "transposed"),
        (lambda x: x.flip(3), "mirrored"),
        (lambda x: x.flip(2), "upside down"),
        (lambda x: x.flip(1), "in the opposite order of channels"),
        (lambda x: 1 - x, "inverted"),
    ],
)
def test_a_changed_test_set_is_named(change, name):
    (found,) = changed_image_findings(images(200, 0, channels=3), change(images(150, 1, channels=3)))
    assert found.values["change"] == name


def test_unchanged_noisy_and_brighter_images_are_not_named():
    for seed in range(60):
        assert not changed_image_findings(images(80, 2 * seed), images(60, 2 * seed + 1))
    assert not changed_image_findings(images(80, 0), images(60, 1) + 0.3)
    assert not changed_image_findings(torch.rand(80, 5), torch.rand(60, 5))


def test_standardized_by_its_own_statistics_is_found_exactly():
    x = torch.randn(40, 5, generator=generator(0)) * 3 + 2
    for correction in (0, 1):
        own = (x - x.mean(0)) / x.std(0, correction=correction)
        assert standardized_alone_findings(own)[0].kind == "standardized-alone"
    for seed in range(200):
        train, test = (torch.randn(n, 3, generator=generator(seed + n)) for n in (100, 40))
        assert not standardized_alone_findings((test - train.mean(0)) / train.std(0))


def test_a_mark_in_the_training_images_is_found_and_other_constant_pixels_are_not():
    x, y = images(300, 0), torch.arange(300) % 10
    x[:, 0, 0] = 0.0
    marked = x.clone()
    marked[torch.arange(300), 0, 0, y % 8] = 1.0
    (found,) = train_only_feature_findings(marked, y, x[:200])
    assert "row 0" in found.message and found.values["count"] == 8
    assert not train_only_feature_findings(x, y, x[:200])
    for seed in range(40):  # rare pixels that happen to be empty in a small test set say nothing about the class
        rare = (torch.rand(300, 12, generator=generator(seed)) < 0.02).float()
        assert not train_only_feature_findings(rare, y, torch.zeros(100, 12))


def shapes(n, seed):
    g = generator(seed)
    y = torch.zeros(n, 20, 20, dtype=torch.long)
    for i in range(n):
        a, b = torch.randint(2, 12, (2,), generator=g).tolist()
        y[i, a : a + 6, b : b + 6] = 1 + i % 2
    return y.double()[:, None] * 0.4 + 0.3 * torch.randn(n, 1, 20, 20, generator=g), y


def test_shifted_masks_are_found_with_their_shift():
    x, y = shapes(40, 0)
    (found,) = shifted_mask_findings(x, y.roll((3, -2), (1, 2)))
    assert (found.values["down"], found.values["right"]) == (3, -2) and "y.roll((-3, 2), (1, 2))" in found.fix


def test_aligned_masks_are_never_called_shifted():
    for seed in range(4):
        x, y = shapes(16, seed)
        assert not shifted_mask_findings(x, y)
        assert not shifted_mask_findings(torch.randn_like(x), y)  # images that say nothing about the masks


@pytest.mark.full
def test_aligned_masks_are_never_called_shifted_200():
    for seed in range(200):
        x, y = shapes(16, seed)
        assert not shifted_mask_findings(x, y)


def test_a_loss_that_cuts_probabilities_has_no_minimum_at_three_classes():
    def clipped(p, y):
        p = p.clamp(1e-7, 1 - 1e-7)
        return -(y * p.log() + (1 - y) * (1 - p).log()).mean()

    three = torch.tensor([[0.0], [1.0], [2.0]])
    (found,) = unbounded_loss_findings(clipped, torch.full((3, 1), 0.5), three)
    assert found.kind == "targets-outside-loss" and "3 classes" in found.message
    assert not unbounded_loss_findings(clipped, torch.full((3, 1), 0.5), three.clamp(max=1))
    similarity = lambda f, y: -torch.cosine_similarity(f.flatten(), y.flatten(), 0)  # noqa: E731
    assert not unbounded_loss_findings(similarity, torch.randn(3, 1), three)


def test_targets_in_another_unit_and_labels_left_out_are_found():
    g = generator(0)
    y = torch.randn(800, 1, generator=g)
    wrong = y.clone()
    wrong[torch.rand(800, generator=g) < 0.12] *= 100
    (found,) = target_shift_findings(wrong[:500] + 50, y[500:] + 50)
    assert found.kind == "target-shift" and found.values["outside"] > 0.08
    labels = (torch.rand(800, 6, generator=g) < 0.4).float()
    missing = labels * (torch.rand(800, 6, generator=g) < 0.35)
    (found,) = target_shift_findings(missing[:500], labels[500:])
    assert found.values["labels"] == 6 and found.values["rate"] < 0.2 < 0.3 < found.values["test_rate"]


def test_targets_of_one_distribution_are_not_called_shifted():
    for seed in range(150):
        g = generator(seed)
        for y in (torch.randn(400, 3, generator=g), torch.rand(400, 1, generator=g) ** 8,
                  torch.randn(400, 1, generator=g).exp(), (torch.rand(400, 5, generator=g) < 0.1).float(), torch.randint(4, (400, 1), generator=g).double()):  # fmt: skip
            assert not target_shift_findings(y[:250], y[250:])


def test_what_shifted_is_named():
    x = images(300, 0)
    noise = 0.8 * torch.randn(150, 1, 8, 8, generator=generator(1))
    assert describe_shift(x[:150] + noise, x[150:]).name == "roughness"
    assert describe_shift(x[:150] + 0.5, x[150:]).name == "mean value"
    assert describe_shift(x[:150] * 3, x[150:]).name == "standard deviation"
    series = torch.sin(torch.arange(40.0) / 3 + 6.28 * torch.rand(200, 1, generator=generator(2)))[..., None]
    shuffled = torch.stack([s[torch.randperm(40, generator=generator(i))] for i, s in enumerate(series[:100])])
    assert describe_shift(shuffled, series[100:]).name == "roughness"
    assert describe_shift(x[:150], x[150:]) is None


def test_brightness_that_tells_the_class_in_train_only_is_found():
    x, y = images(300, 0), torch.arange(300) % 10
    bright = x + 0.5 * (y % 2)[:, None, None, None]
    (found,) = class_cue_findings(bright[:200], y[:200], x[200:], y[200:])
    assert found.values["name"] == "mean value" and found.values["own"] > 0.5
    assert not class_cue_findings(bright[:200], y[:200], bright[200:], y[200:])  # a feature of the task


def test_classes_without_a_cue_are_not_accused():
    for seed in range(100):
        x, g = images(100, seed), generator(seed)
        y = torch.randint(10, (100,), generator=g)
        assert not class_cue_findings(x[:50], y[:50], x[50:], y[50:])
