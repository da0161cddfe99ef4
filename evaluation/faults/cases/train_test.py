"""Faults of the split: test examples that are in the training set, and test data that differ from training data."""

from functools import partial

from torch.nn import functional as F  # noqa: N812

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.changes import (
    change_test_inputs,
    leak,
    leak_named_rows,
    number_columns,
    other_words_in_test,
    permute_test_columns,
)
from evaluation.faults.data.drawn_images import small_shapes, textures
from evaluation.faults.data.mnist import mnist, mnist_color, mnist_flat, unit_range
from evaluation.faults.data.series import heartbeats, overlapping_windows, phone_sensors, tones
from evaluation.faults.data.tables import friedman, rents, uci
from evaluation.faults.data.text import reviews, shop_requests, topic_tokens
from evaluation.faults.models.dense import TableWithCategories, dense_for_table
from evaluation.faults.models.images import cnn, depthwise_cnn, vgg
from evaluation.faults.models.sequences import AttentionRNN, DilatedConvolutions, MeanLSTM, SensorNetwork, tone_cnn
from evaluation.faults.models.transformers import Transformer
from evaluation.faults.networks import color_resnet, gelu_table, mnist_dense, silu_table, ten_columns


def _test_on_training_rows(train, test):
    return train, (train[0][:500], train[1][:500])


def _only_four_classes_in_test(train, test):
    return train, (test[0][test[1] < 4], test[1][test[1] < 4])


CASES: tuple[Case, ...] = (
    # leaks
    faulty("5-percent-leaked-cnn", "tuning", cnn, mnist, "leaked-test", change=leak(0.05)),
    faulty("5-percent-leaked-and-changed-cnn", "tuning", cnn, mnist, "leaked-test", change=leak(0.05, 0.97, 0.05)),
    faulty("10-percent-leaked-perceptron", "tuning", mnist_dense, mnist_flat, "leaked-test", change=leak(0.1)),
    faulty("10-percent-leaked-and-changed-resnet", "tuning", color_resnet, mnist_color, "leaked-test", change=leak(0.1, 1.0, 0.05)),
    faulty("10-percent-leaked-tokens", "tuning", Transformer, topic_tokens, "leaked-test", change=leak(0.1)),
    faulty("20-percent-leaked-waveform", "tuning", dense_for_table("waveform"), uci("waveform"), "leaked-test", change=leak(0.2)),
    faulty("tones-10-percent-leaked", "held-out", tone_cnn, tones, "leaked-test", change=leak(0.1)),
    faulty("bank-10-percent-leaked", "held-out", gelu_table("bank"), uci("bank"), "leaked-test", change=leak(0.1)),
    faulty("test-is-train", "unseen", vgg, small_shapes, "leaked-test", change=_test_on_training_rows),
    faulty("reviews-8-percent-leaked", "unseen", MeanLSTM, reviews, "leaked-test", change=leak(0.08)),
    faulty("heartbeats-10-percent-leaked-with-noise", "unseen", DilatedConvolutions, heartbeats, "leaked-test",
           change=leak(0.1, 1.0, 0.02)),
    faulty("friedman-15-percent-leaked", "unseen", ten_columns, friedman, "leaked-test", change=leak(0.15)),
    faulty("rents-training-rows-in-test", "outsider", TableWithCategories, rents, "leaked-test", change=leak_named_rows),
    faulty("textures-noisy-copies-made-before-the-split", "outsider", depthwise_cnn, textures, "leaked-test",
           change=leak(0.2, 1.0, 0.1, seed=4)),
    faulty("shop-requests-6-percent-leaked", "outsider", AttentionRNN, shop_requests, "leaked-test", change=leak(0.06)),
    faulty("overlapping-windows-of-few-recordings", "outsider", partial(SensorNetwork, gru=True), overlapping_windows, "leaked-test"),
    # test data differ
    faulty("test-is-brighter", "tuning", cnn, mnist, "train-test-shift", change=change_test_inputs(lambda x: 1.5 * x + 0.5)),
    faulty("test-not-normalized", "tuning", mnist_dense, mnist_flat, "train-test-shift", change=change_test_inputs(unit_range)),
    faulty("test-is-flipped", "tuning", cnn, mnist, "train-test-shift", change=change_test_inputs(lambda x: x.flip(-1))),
    faulty("test-has-other-classes", "tuning", cnn, mnist, ("class-shift", "train-test-shift"), change=_only_four_classes_in_test),
    faulty("tones-test-shifted", "held-out", tone_cnn, tones, "train-test-shift", change=change_test_inputs(lambda x: x + 1.0)),
    faulty("colors-of-test-swapped", "unseen", vgg, small_shapes, "train-test-shift",
           change=change_test_inputs(lambda x: 0.4 * x.flip(1) - 0.5)),
    faulty("columns-of-test-in-another-order", "unseen", silu_table("waveform-noise"), uci("waveform-noise"), "train-test-shift",
           change=permute_test_columns),
    faulty("reviews-of-test-cut-to-12-words", "unseen", MeanLSTM, reviews, "train-test-shift",
           change=change_test_inputs(lambda x: F.pad(x[:, :12], (0, 28)))),
    faulty("series-of-test-upside-down", "unseen", DilatedConvolutions, heartbeats, "train-test-shift",
           change=change_test_inputs(lambda x: -x)),
    faulty("another-phone-in-test", "outsider", SensorNetwork, phone_sensors, "train-test-shift",
           change=change_test_inputs(lambda x: x.flip(1) * 0.6)),
    faulty("other-words-in-test", "outsider", AttentionRNN, shop_requests, "train-test-shift", change=other_words_in_test),
    faulty("rents-a-year-later", "outsider", TableWithCategories, rents, "train-test-shift",
           change=number_columns(lambda v: v * 1.3 + 0.5, train=False)),
)  # fmt: skip
