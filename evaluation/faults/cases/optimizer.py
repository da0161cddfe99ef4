"""Faults of the optimizer: learning rates that are too large or too small, weight decay that dominates."""

from functools import partial

import torch
from torch import nn

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.drawn_images import shape_masks, small_shapes, textures
from evaluation.faults.data.graphs import communities, point_clouds
from evaluation.faults.data.mnist import mnist, mnist_denoise, mnist_flat, mnist_rows
from evaluation.faults.data.series import seasonal_windows, tones
from evaluation.faults.data.tables import house_prices, ratings, rent_numbers
from evaluation.faults.data.text import markov_text, reviews, shop_requests
from evaluation.faults.models.dense import Recommender
from evaluation.faults.models.encoders import DenoisingUNet, SegmentationUNet
from evaluation.faults.models.graphs import DropoutGCN, PointNet
from evaluation.faults.models.images import DenseNet, cnn, vgg
from evaluation.faults.models.sequences import AttentionRNN, Forecaster, LastStepLSTM, MeanLSTM, tone_cnn
from evaluation.faults.models.transformers import CausalTransformer, MaskedEncoder, Mixer, VisionTransformer
from evaluation.faults.networks import eight_columns, mnist_dense, rent_dense, texture_vit
from evaluation.faults.recipes import adam, adamw, dice_loss, next_word_loss, sgd

DIVERGES = ("learning-rate-too-large", "exploding-loss", "training-diverged")
UNSTABLE = (*DIVERGES, "learning-rate-unstable", "predicted-divergence")
SLOW = ("learning-rate-too-small", "learning-rate-small")

CASES: tuple[Case, ...] = (
    # too large
    faulty("adam-10", "tuning", cnn, mnist, DIVERGES, optimizer=adam(10.0)),
    faulty("sgd-10-perceptron", "tuning", mnist_dense, mnist_flat, DIVERGES, optimizer=sgd(10.0)),
    faulty("mixer-adam-1", "held-out", Mixer, mnist, DIVERGES, optimizer=adam(1.0)),
    faulty("house-prices-sgd-3", "held-out", eight_columns, house_prices, DIVERGES, optimizer=sgd(3.0)),
    faulty("encoder-adam-0.3", "unseen", MaskedEncoder, partial(reviews, named=True), UNSTABLE, optimizer=adam(0.3)),
    faulty("ratings-sgd-300", "unseen", Recommender, ratings, UNSTABLE, optimizer=sgd(300.0)),
    faulty("forecast-rmsprop-3", "unseen", Forecaster, seasonal_windows, UNSTABLE, optimizer=adam(3.0, torch.optim.RMSprop)),
    faulty("vit-adamw-0.5", "outsider", texture_vit, textures, UNSTABLE, optimizer=adamw(0.5)),
    faulty("gcn-sgd-100", "outsider", DropoutGCN, communities, UNSTABLE, optimizer=sgd(100.0)),
    faulty("rents-sgd-5", "outsider", rent_dense, rent_numbers, UNSTABLE, optimizer=sgd(5.0)),
    # too small
    faulty("adam-1e-7", "tuning", mnist_dense, mnist_flat, "learning-rate-too-small", optimizer=adam(1e-7)),
    faulty("sgd-1e-6", "tuning", mnist_dense, mnist_flat, SLOW, optimizer=sgd(1e-6)),
    faulty("adam-1e-7-lstm", "tuning", LastStepLSTM, mnist_rows, "learning-rate-too-small", optimizer=adam(1e-7)),
    faulty("densenet-sgd-1e-5", "held-out", DenseNet, mnist, SLOW, optimizer=sgd(1e-5)),
    faulty("tones-adam-1e-6", "held-out", tone_cnn, tones, SLOW, optimizer=adam(1e-6)),
    faulty("language-model-adamw-1e-7", "unseen", CausalTransformer, markov_text, SLOW, loss=next_word_loss, optimizer=adamw(1e-7)),
    faulty("segmentation-sgd-1e-6", "unseen", SegmentationUNet, shape_masks, SLOW, loss=dice_loss, optimizer=sgd(1e-6)),
    faulty("u-net-adam-1e-7", "outsider", DenoisingUNet, mnist_denoise, SLOW, optimizer=adam(1e-7)),
    faulty("gru-over-words-sgd-1e-5", "outsider", partial(AttentionRNN, cell=nn.GRU), shop_requests, SLOW, optimizer=sgd(1e-5)),
    # weight decay
    faulty("decay-1-sgd", "tuning", mnist_dense, mnist_flat, "weight-decay-wins", optimizer=sgd(0.1, weight_decay=1.0)),
    faulty("decay-30-adamw", "tuning", cnn, mnist, "weight-decay-wins", optimizer=adamw(1e-3, weight_decay=30.0)),
    faulty("vit-decay-20", "held-out", VisionTransformer, mnist, "weight-decay-wins", optimizer=adamw(1e-3, weight_decay=20.0)),
    faulty("vgg-decay-0.7", "unseen", vgg, small_shapes, "weight-decay-wins", optimizer=sgd(0.05, momentum=0.9, weight_decay=0.7)),
    faulty("reviews-adam-with-decay-1", "unseen", MeanLSTM, reviews, "weight-decay-wins", optimizer=adam(1e-3, weight_decay=1.0)),
    faulty("pointnet-decay-20", "outsider", PointNet, point_clouds, "weight-decay-wins", optimizer=adamw(1e-3, weight_decay=20.0)),
    faulty("rents-decay-0.5", "outsider", rent_dense, rent_numbers, "weight-decay-wins",
           optimizer=sgd(0.05, momentum=0.9, weight_decay=0.5)),
)  # fmt: skip
