"""Faults of training and evaluation mode: random outputs, lost statistics of batch norm, batches of two."""

from functools import partial

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.drawn_images import shape_masks, small_shapes, textures
from evaluation.faults.data.loaders import in_batches
from evaluation.faults.data.mnist import mnist, mnist_flat, reconstruct
from evaluation.faults.data.series import heartbeats, phone_sensors, seasonal_windows
from evaluation.faults.data.text import reviews, shop_requests, topic_tokens
from evaluation.faults.models.edits import initialized, reset_batch_norm_statistics, set_batch_norm_momentum
from evaluation.faults.models.encoders import SegmentationUNet, VariationalAutoencoder
from evaluation.faults.models.images import cnn, vgg
from evaluation.faults.models.sequences import AttentionRNN, DilatedConvolutions, Forecaster, SensorNetwork
from evaluation.faults.models.transformers import MaskedEncoder, Transformer
from evaluation.faults.networks import texture_mixer, texture_vit
from evaluation.faults.recipes import dice_loss, trained, vae_squared_loss

few_digits = partial(mnist, 2000, 500)

CASES: tuple[Case, ...] = (
    # outputs that are random in evaluation mode
    faulty("dropout-in-eval", "tuning", partial(Transformer, wrong="dropout in eval"), topic_tokens, "random-in-eval"),
    faulty("noise-in-eval", "unseen", partial(DilatedConvolutions, wrong="noise in eval"), heartbeats, "random-in-eval"),
    faulty("variational-autoencoder-samples-in-eval", "unseen", partial(VariationalAutoencoder, wrong="samples in eval"),
           partial(reconstruct, partial(mnist_flat, 2500, 600)), "random-in-eval", loss=vae_squared_loss),
    faulty("dropout-in-eval-forecast", "unseen", partial(Forecaster, wrong="dropout in eval"), seasonal_windows, "random-in-eval"),
    faulty("mixer-dropout-always-on", "outsider", partial(texture_mixer, wrong="dropout in eval"), textures, "random-in-eval"),
    faulty("vit-shuffles-its-patches", "outsider", partial(texture_vit, wrong="shuffles patches"), textures, "random-in-eval"),
    # outputs that depend on something else than inputs and torch's random numbers
    faulty("depends-on-pythons-random", "unseen", partial(DilatedConvolutions, wrong="python random"), heartbeats, "not-deterministic"),
    faulty("depends-on-a-counter", "unseen", partial(DilatedConvolutions, wrong="counts calls"), heartbeats, "not-deterministic"),
    # training and evaluation mode disagree
    faulty("dropout-of-97-percent", "tuning", partial(cnn, dropout=0.97), mnist, "modes-disagree"),
    faulty("dropout-of-90-percent-in-an-encoder", "unseen", partial(MaskedEncoder, dropout=0.9), partial(reviews, named=True),
           "modes-disagree"),
    faulty("dropout-of-95-percent-over-words", "outsider", partial(AttentionRNN, dropout=0.95), shop_requests, "modes-disagree"),
    # batch norm
    Case("batch-norm-lost-preprocessing", "faulty", ("batch-norm-statistics",), "tuning",
         partial(trained, cnn, few_digits, 120, prepare=lambda x: 3.0 * x + 5)),
    Case("batch-norm-momentum-1e-4", "faulty", ("batch-norm-statistics",), "tuning",
         partial(trained, initialized(cnn, set_batch_norm_momentum(1e-4)), few_digits, 120)),
    Case("batch-norm-statistics-lost", "faulty", ("batch-norm-statistics",), "unseen",
         partial(trained, vgg, small_shapes, 100, edit=reset_batch_norm_statistics)),
    faulty("batches-of-two", "tuning", cnn, partial(mnist, 1500, 500), "batch-too-small", change=in_batches(2)),
    faulty("segmentation-in-batches-of-two", "unseen", SegmentationUNet, partial(shape_masks, 400, 100), "batch-too-small",
           change=in_batches(2), loss=dice_loss),
    faulty("sensors-in-batches-of-two", "outsider", SensorNetwork, partial(phone_sensors, 800, 300), "batch-too-small",
           change=in_batches(2)),
)  # fmt: skip
