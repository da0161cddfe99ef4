"""Faults of the network: gradients that stop, layers that are not used, inputs that are ignored, examples that mix."""

from functools import partial

from evaluation.faults.case import Case, faulty
from evaluation.faults.data.drawn_images import small_shapes, textures
from evaluation.faults.data.graphs import communities, molecules, point_clouds, random_graphs
from evaluation.faults.data.mnist import (
    mnist,
    mnist_color,
    mnist_contrastive_pairs,
    mnist_denoise,
    mnist_fill_in,
    mnist_flat,
    mnist_rows,
    mnist_same_digit,
    reconstruct,
)
from evaluation.faults.data.series import phone_sensors, seasonal_windows
from evaluation.faults.data.tables import rents
from evaluation.faults.data.text import markov_text, reviews, shop_requests, topic_tokens
from evaluation.faults.models.dense import TableWithCategories
from evaluation.faults.models.edits import frozen
from evaluation.faults.models.encoders import (
    Autoencoder,
    DenoisingUNet,
    DistanceNetwork,
    FillInUNet,
    SameDigitClassifier,
)
from evaluation.faults.models.graphs import GCN, GIN, DropoutGCN, PointNet
from evaluation.faults.models.images import ConvNext, MobileNet, cnn
from evaluation.faults.models.sequences import AttentionRNN, Forecaster, LastStepLSTM, SensorNetwork, TokenGRU
from evaluation.faults.models.transformers import CausalTransformer, MaskedEncoder, Transformer, VisionTransformer
from evaluation.faults.networks import color_resnet, shape_resnet, texture_vit
from evaluation.faults.recipes import (
    contrastive_loss,
    next_word_loss,
    optimizer_made_before_new_head,
    optimizer_of_last_layer_only,
)

named_reviews = partial(reviews, named=True)

CASES: tuple[Case, ...] = (
    # gradients that stop inside the network
    faulty("detached-transformer", "tuning", partial(Transformer, wrong="detach"), topic_tokens, "detached"),
    faulty("detached-resnet", "tuning", partial(color_resnet, wrong="detach"), mnist_color, "detached"),
    faulty("detached-autoencoder", "tuning", partial(Autoencoder, wrong="detach"), partial(reconstruct, partial(mnist_flat, 3000, 800)),
           "detached"),
    faulty("gru-outputs-detached", "held-out", partial(TokenGRU, wrong="detach"), topic_tokens, ("detached", "not-learning")),
    faulty("stem-under-no-grad", "unseen", partial(MobileNet, wrong="no_grad"), small_shapes, "detached"),
    faulty("resnet-through-.data", "unseen", partial(shape_resnet, wrong="data"), small_shapes, "detached"),
    faulty("encoder-detached-before-its-pooler", "unseen", partial(MaskedEncoder, wrong="detach"), named_reviews, "detached"),
    faulty("convnext-through-numpy", "outsider", partial(ConvNext, wrong="through numpy"), textures, "detached"),
    faulty("u-net-encoder-detached", "outsider", partial(DenoisingUNet, wrong="detach"), mnist_denoise, "detached"),
    faulty("words-under-no-grad", "outsider", partial(AttentionRNN, wrong="no_grad"), shop_requests, "detached"),
    # layers that are not used, not registered, not trained
    faulty("unused-layer", "tuning", partial(Transformer, wrong="unused layer"), topic_tokens, "unused-parameters"),
    faulty("vit-without-its-encoder", "held-out", partial(VisionTransformer, wrong="skips encoder"), mnist,
           ("unused-parameters", "inputs-ignored")),
    faulty("unused-pooler", "unseen", partial(MaskedEncoder, wrong="pooler unused"), named_reviews, "unused-parameters"),
    faulty("positions-never-added", "outsider", partial(texture_vit, wrong="no positions"), textures, "unused-parameters"),
    faulty("gcn-a-layer-left-out", "outsider", partial(DropoutGCN, wrong="skips a layer"), communities, "unused-parameters"),
    faulty("blocks-in-a-plain-list", "unseen", partial(MobileNet, wrong="plain list"), small_shapes, "layers-not-registered"),
    faulty("frozen-at-random-cnn", "tuning", frozen(cnn, "4"), mnist, "frozen-at-random"),
    faulty("frozen-at-random-lstm-head", "tuning", frozen(LastStepLSTM, "head"), mnist_rows, "frozen-at-random"),
    faulty("convolutions-frozen-kaiming", "unseen", partial(MobileNet, wrong="frozen"), small_shapes, "frozen-at-random"),
    faulty("gru-frozen", "unseen", partial(Forecaster, wrong="frozen"), seasonal_windows, "frozen-at-random"),
    faulty("sensors-body-frozen-at-random", "outsider", partial(SensorNetwork, gru=True, wrong="frozen"), phone_sensors, "frozen-at-random"),
    Case("optimizer-of-the-last-layer-only", "faulty", ("not-in-optimizer",), "tuning", optimizer_of_last_layer_only),
    Case("optimizer-made-before-the-head", "faulty", ("not-in-optimizer",), "unseen", optimizer_made_before_new_head,
         "parameters that the module does not have"),
    # inputs that have no effect
    faulty("lstm-reads-the-first-step", "tuning", partial(LastStepLSTM, wrong="reads first step"), mnist_rows, "inputs-ignored"),
    faulty("gcn-without-its-edges", "tuning", partial(GCN, wrong="ignores edges"), random_graphs, "inputs-ignored"),
    faulty("u-net-ignores-its-input", "held-out", partial(FillInUNet, wrong="ignores input"), mnist_fill_in, ("inputs-ignored", "detached")),
    faulty("encoder-reads-its-token-only", "unseen", partial(MaskedEncoder, wrong="reads its own token"), named_reviews,
           ("inputs-ignored", "detached", "unused-parameters")),
    faulty("two-images-left-read-twice", "unseen", partial(SameDigitClassifier, wrong="reads left twice"), mnist_same_digit, "inputs-ignored"),
    faulty("forecast-of-zeros", "unseen", partial(Forecaster, wrong="reads zeros"), seasonal_windows, "inputs-ignored"),
    faulty("resnet-reads-red-only", "unseen", partial(shape_resnet, wrong="reads one channel"), small_shapes, "inputs-ignored"),
    faulty("graphs-without-kinds", "unseen", partial(GIN, wrong="ignores kinds"), molecules, "inputs-ignored"),
    faulty("rents-without-categories", "outsider", partial(TableWithCategories, wrong="ignores categories"), rents, "inputs-ignored"),
    faulty("pointnet-of-one-point", "outsider", partial(PointNet, wrong="reads one point"), point_clouds, "inputs-ignored"),
    faulty("sensors-gru-reads-its-first-step", "outsider", partial(SensorNetwork, gru=True, wrong="reads first step"), phone_sensors,
           "inputs-ignored"),
    faulty("gcn-times-zero", "outsider", partial(DropoutGCN, wrong="times zero"), communities, ("inputs-ignored", "detached", "dead-units")),
    faulty("distance-of-an-image-to-itself", "outsider", partial(DistanceNetwork, wrong="reads one image twice"), mnist_contrastive_pairs,
           "inputs-ignored", loss=contrastive_loss),
    # examples of a batch that affect each other
    faulty("lstm-without-batch-first", "tuning", partial(LastStepLSTM, batch_first=False), mnist_rows, "examples-mixed"),
    faulty("transformer-without-batch-first", "tuning", partial(Transformer, wrong="batch_first missing"), topic_tokens, "examples-mixed"),
    faulty("softmax-over-the-batch", "tuning", partial(LastStepLSTM, wrong="softmax over batch"), mnist_rows,
           ("examples-mixed", "softmax-before-loss")),
    faulty("gru-without-batch-first", "unseen", partial(Forecaster, wrong="batch_first missing"), seasonal_windows, "examples-mixed"),
    faulty("view-instead-of-transpose", "unseen", partial(Forecaster, wrong="view for transpose"), seasonal_windows, "examples-mixed"),
    faulty("features-normalized-over-the-batch", "unseen", partial(shape_resnet, wrong="normalizes over batch"), small_shapes, "examples-mixed"),
    faulty("lstm-over-words-without-batch-first", "outsider", partial(AttentionRNN, wrong="batch_first missing"), shop_requests,
           "examples-mixed"),
    faulty("sensors-divided-by-standard-deviation-of-the-batch", "outsider", partial(SensorNetwork, wrong="normalizes over batch"),
           phone_sensors, "examples-mixed"),
    faulty("pointnet-maximum-over-the-batch", "outsider", partial(PointNet, wrong="maximum over batch"), point_clouds,
           ("examples-mixed", "inputs-ignored")),
    # a language model that sees the words it predicts
    faulty("language-model-without-its-mask", "unseen", partial(CausalTransformer, wrong="mask missing"), markov_text, "sees-the-future",
           loss=next_word_loss),
)  # fmt: skip
