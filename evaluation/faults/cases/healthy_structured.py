"""Healthy networks for graphs, sets of points and pairs of images, and healthy autoencoders."""

from functools import partial

from torch import nn

from evaluation.faults.case import Case, healthy
from evaluation.faults.data.graphs import communities, molecules, point_clouds, random_graphs
from evaluation.faults.data.mnist import (
    mnist,
    mnist_contrastive_pairs,
    mnist_denoise,
    mnist_fill_in,
    mnist_flat,
    mnist_same_digit,
    mnist_unit_flat,
    reconstruct,
)
from evaluation.faults.models.encoders import (
    Autoencoder,
    DenoisingUNet,
    DistanceNetwork,
    FillInUNet,
    SameDigitClassifier,
    VariationalAutoencoder,
    conv_autoencoder,
)
from evaluation.faults.models.graphs import GCN, GIN, DropoutGCN, PointNet
from evaluation.faults.recipes import contrastive_loss, vae_pixel_loss, vae_squared_loss

CASES: tuple[Case, ...] = (
    healthy("gcn", "tuning", GCN, random_graphs),
    healthy("graphs-one-number", "unseen", GIN, molecules),
    healthy("communities-gcn-dropout", "outsider", DropoutGCN, communities),
    healthy("point-clouds-pointnet", "outsider", PointNet, point_clouds),
    healthy("two-images-same-digit", "unseen", SameDigitClassifier, mnist_same_digit),
    healthy("two-images-contrastive", "outsider", DistanceNetwork, mnist_contrastive_pairs, loss=contrastive_loss),
    healthy("autoencoder", "tuning", Autoencoder, partial(reconstruct, partial(mnist_flat, 3000, 800))),
    healthy("u-net-filling-in", "held-out", FillInUNet, mnist_fill_in),
    healthy("u-net-sigmoid-on-0-to-1", "held-out", partial(FillInUNet, end=nn.Sigmoid()), mnist_fill_in),
    healthy("convolutional-autoencoder", "unseen", conv_autoencoder, partial(reconstruct, partial(mnist, 2500, 600))),
    healthy("variational-autoencoder", "unseen", VariationalAutoencoder, partial(reconstruct, partial(mnist_flat, 2500, 600)),
            loss=vae_squared_loss),
    healthy("denoising-u-net", "outsider", DenoisingUNet, mnist_denoise),
    healthy("vae-pixels-as-probabilities", "outsider", partial(VariationalAutoencoder, 16, 256, nn.ReLU),
            partial(reconstruct, mnist_unit_flat), loss=vae_pixel_loss),
)  # fmt: skip
