"""Networks for tables."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Adam, AdamW

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.data.tables import classes, diabetes, friedman, mixed, table, yes_or_no
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import compare, first, predict

ABALONE, WAVEFORM = "abalone", "waveform"


def columns(name: str) -> int:
    """Number of columns of a set."""
    return table(name, 0)[0].shape[1]


def tabm(features: int, outputs: int):
    """TabM: 32 predictions for each example, (n, 32, outputs)."""
    from tabm import TabM

    return TabM.make(n_num_features=features, cat_cardinalities=[], d_out=outputs, d_block=128, n_blocks=2)


def ft_transformer():
    """FT-Transformer, whose second argument must be None without categories."""
    from rtdl_revisiting_models import FTTransformer

    options = FTTransformer.get_default_kwargs(1) | {"d_block": 64, "attention_n_heads": 4}
    options.pop("_is_default")
    return FTTransformer(n_cont_features=columns(ABALONE), cat_cardinalities=[], d_out=3, **options)


def rtdl_resnet():
    """The ResNet for tables, as a regression."""
    from rtdl_revisiting_models import ResNet

    return ResNet(
        d_in=10, d_out=1, n_blocks=2, d_block=64, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.2, dropout2=0.0
    )


def periodic_mlp():
    """Periodic embeddings of numbers, then dense layers."""
    from rtdl_num_embeddings import PeriodicEmbeddings

    return nn.Sequential(
        PeriodicEmbeddings(10, 16, lite=False), nn.Flatten(), nn.Linear(160, 128), nn.ReLU(), nn.Linear(128, 1)
    )


def tabnet():
    """TabNet's network, which returns (logits, sparsity loss)."""
    from pytorch_tabnet.tab_network import TabNet

    return TabNet(columns(WAVEFORM), 3, group_attention_matrix=torch.eye(columns(WAVEFORM)))


def tabnet_loss(outputs, targets):
    """Cross-entropy minus a little of the masks' sparsity, as pytorch-tabnet trains."""
    return F.cross_entropy(outputs[0], targets) - 1e-3 * outputs[1]


def tab_transformer():
    """TabTransformer: attention over categories, numbers beside."""
    from tab_transformer_pytorch import TabTransformer

    return TabTransformer(
        categories=(4, 4, 4),
        num_continuous=columns(ABALONE) - 3,
        dim=32,
        dim_out=3,
        depth=2,
        heads=4,
        num_residual_streams=1,
        mlp_act=nn.ReLU(),
    )


def _adamw(parameters):
    return AdamW(parameters, lr=2e-3)


def _ensemble_loss(outputs, y):
    k = outputs.shape[1]
    return F.cross_entropy(outputs.flatten(0, 1), y.repeat_interleave(k))


def _ensemble_squared(outputs, y):
    return F.mse_loss(outputs, y[:, None].expand_as(outputs))


def _plus_none(model, batch):
    return F.cross_entropy(model(batch[0], None), batch[1])


CASES = (
    Case(
        "tabm", "tables", "tabm TabM", "Apache-2.0", lambda: tabm(columns(ABALONE), 3), classes(ABALONE), (Reading.CLASS,),
        compare(_ensemble_loss), predict(lambda out: out.softmax(-1).mean(1)), accuracy, _adamw, batch=256, classes=3,
    ),
    Case(
        "tabm-regression", "regression", "tabm TabM", "Apache-2.0", lambda: tabm(10, 1), friedman, (Reading.NUMBERS,),
        compare(_ensemble_squared), predict(lambda out: out.mean(1)), explained, _adamw, batch=256,
    ),
    Case(
        "ft-transformer", "tables", "rtdl_revisiting_models FTTransformer", "MIT", ft_transformer, classes(ABALONE),
        (Reading.CLASS,), _plus_none, lambda model, batch: (model(batch[0], None), batch[1]), accuracy,
        lambda parameters: AdamW(parameters, lr=1e-3, weight_decay=1e-5), batch=128, classes=3,
    ),
    Case(
        "rtdl-resnet", "regression", "rtdl_revisiting_models ResNet", "MIT", rtdl_resnet, diabetes, (Reading.NUMBERS,),
        compare(F.mse_loss), predict(), explained, lambda parameters: AdamW(parameters, lr=3e-4), batch=64,
        known_findings=("overfit",),
    ),
    Case(
        "periodic-mlp", "regression", "rtdl_num_embeddings PeriodicEmbeddings", "MIT", periodic_mlp, friedman,
        (Reading.NUMBERS,), compare(F.mse_loss), predict(), explained, Adam, batch=128,
    ),
    Case(
        "tabnet", "tables", "pytorch-tabnet TabNet", "MIT", tabnet, classes(WAVEFORM), (Reading.CLASS,), compare(tabnet_loss),
        predict(first), accuracy, lambda parameters: Adam(parameters, lr=2e-2), batch=256, classes=3,
    ),
    Case(
        "tab-transformer", "tables", "tab-transformer-pytorch TabTransformer", "MIT", tab_transformer, mixed(ABALONE),
        (Reading.CLASS,), compare(F.cross_entropy), predict(), accuracy, Adam, batch=128, classes=3,
    ),
    Case(
        "logit-mlp", "tables", "torch nn.Sequential with BCEWithLogitsLoss", "BSD-3-Clause",
        lambda: nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1)), yes_or_no,
        (Reading.OWN_LOSS, Reading.LABELS, Reading.CLASS), compare(F.binary_cross_entropy_with_logits), predict(), binary_accuracy, Adam,
        loss=F.binary_cross_entropy_with_logits,
    ),
)  # fmt: skip
