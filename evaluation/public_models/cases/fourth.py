"""The fourth collection: networks of further packages and kinds, chosen before any of them had been tried.

`timm`, `segmentation_models_pytorch` and `torchvision` need an installed torchvision; without it these cases are missing.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import SGD, Adam

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.cases.language import adamw
from evaluation.public_models.data import fourth
from evaluation.public_models.data.images import masks, pairs
from evaluation.public_models.data.second import waves_to_come
from evaluation.public_models.models.fourth import GraphGps, HeteroTransformer, MetricNet, PackedLstm, Policy
from evaluation.public_models.scores import accuracy, binary_accuracy, explained, loss_saved
from evaluation.public_models.steps import call, compare, own_loss, predict

FRAME_COLUMNS = {"number": [f"number_{i}" for i in range(5)], "category": ["color", "shape"]}


def mobile_net():
    """MobileNetV4 of timm."""
    import timm

    return timm.create_model("mobilenetv4_conv_small", in_chans=1, num_classes=10)


def feature_pyramid():
    """The FPN of segmentation_models_pytorch over a ResNet-18."""
    import segmentation_models_pytorch as smp

    return smp.FPN("resnet18", encoder_weights=None, in_channels=3, classes=3)


def dice_loss(outputs: Tensor, masks: Tensor) -> Tensor:
    """The Dice loss of segmentation_models_pytorch."""
    import segmentation_models_pytorch as smp

    return smp.losses.DiceLoss(mode="multiclass")(outputs, masks)


def googlenet():
    """GoogLeNet of torchvision, which returns three outputs in training and one in eval mode."""
    from torchvision.models import googlenet as build

    return build(weights=None, num_classes=10, aux_logits=True, init_weights=False)


def auxiliary_loss(outputs: Any, labels: Tensor) -> Tensor:
    """Cross-entropy of the output and, in training, a third of the two auxiliary ones, as torchvision's training does."""
    if isinstance(outputs, Tensor):
        return F.cross_entropy(outputs, labels)
    return F.cross_entropy(outputs.logits, labels) + 0.3 * (
        F.cross_entropy(outputs.aux_logits1, labels) + F.cross_entropy(outputs.aux_logits2, labels)
    )


def autoformer():
    """Autoformer of Hugging Face, which separates a series into trend and season and returns a likelihood."""
    from transformers import AutoformerConfig, AutoformerForPrediction

    return AutoformerForPrediction(
        AutoformerConfig(
            prediction_length=8, context_length=32, lags_sequence=[1, 2, 3, 4], num_time_features=1, d_model=32,
            encoder_layers=1, decoder_layers=1, encoder_ffn_dim=64, decoder_ffn_dim=64, label_length=8, moving_average=9,
        )
    )  # fmt: skip


def clip_seg():
    """CLIPSeg: which pixels does the text name?"""
    from transformers import CLIPSegConfig, CLIPSegForImageSegmentation

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    text = {"vocab_size": 13, "max_position_embeddings": 3, "bos_token_id": 1, "eos_token_id": 12, "pad_token_id": 0}
    vision = {"image_size": 32, "patch_size": 4, **sizes}
    return CLIPSegForImageSegmentation(
        CLIPSegConfig(
            text_config=text | sizes, vision_config=vision, projection_dim=32, reduce_dim=32, extract_layers=[0, 1, 2],
            decoder_num_attention_heads=4, decoder_intermediate_size=64, conditional_layer=0,
        )
    )  # fmt: skip


def decision_transformer():
    """The decision transformer of Hugging Face: predicts actions from states and returns."""
    from transformers import DecisionTransformerConfig, DecisionTransformerModel

    return DecisionTransformerModel(
        DecisionTransformerConfig(
            state_dim=2, act_dim=1, hidden_size=32, max_ep_len=16, n_layer=2, n_head=2, n_inner=64
        )
    )


def action_loss(outputs: Any, actions: Tensor) -> Tensor:
    """Squared error of the actions, as the example of Hugging Face trains."""
    return (outputs["action_preds"] - actions).square().mean()


def deep_fm():
    """DeepFM of torchfm, which returns probabilities."""
    from torchfm.model.dfm import DeepFactorizationMachineModel

    return DeepFactorizationMachineModel((60, 40, 24, 3), embed_dim=8, mlp_dims=(32, 32), dropout=0.1)


def spline_flow():
    """The neural spline flow of zuko; returns a distribution for each condition."""
    import zuko

    return zuko.flows.NSF(2, 1, transforms=2, hidden_features=(32, 32))


def likelihood_loss(distribution: Any, x: Tensor) -> Tensor:
    """Negative log-likelihood, as in zuko's manual."""
    return -distribution.log_prob(x).mean()


def frame_transformer():
    """FT-Transformer of pytorch-frame, which takes a TensorFrame."""
    from torch_frame import categorical, numerical
    from torch_frame.data.stats import StatType
    from torch_frame.nn.models import FTTransformer

    numbers = {StatType.MEAN: 0.0, StatType.STD: 1.0, StatType.QUANTILES: [-3.0, -0.7, 0.0, 0.7, 3.0]}
    stats: dict[str, dict[StatType, Any]] = dict.fromkeys(FRAME_COLUMNS["number"], numbers)
    stats |= dict.fromkeys(FRAME_COLUMNS["category"], {StatType.COUNT: (list("abcd"), [1, 1, 1, 1])})
    columns = {categorical: FRAME_COLUMNS["category"], numerical: FRAME_COLUMNS["number"]}
    return FTTransformer(32, 3, 2, stats, columns)


def triplet_loss(embeddings: Tensor, labels: Tensor) -> Tensor:
    """The triplet loss of pytorch-metric-learning, which compares all examples of a batch."""
    from pytorch_metric_learning.losses import TripletMarginLoss

    return TripletMarginLoss(margin=0.2)(embeddings, labels)


def actor_critic_loss(outputs: tuple[Tensor, Tensor], targets: tuple[Tensor, Tensor]) -> Tensor:
    """Minus the log-probability of the action times the advantage, plus the error of the value."""
    (chances, values), (actions, returns) = outputs, targets
    advantage = returns - values.detach()[:, 0] + 1
    chosen = chances.gather(1, actions[:, None])[:, 0]
    return -(chosen.log() * advantage).mean() + F.smooth_l1_loss(values[:, 0], returns)


def _pixel_answers(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    return model(batch[0]).permute(0, 2, 3, 1), batch[1]


def _forecast(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    out = model(**batch)
    return model.output_distribution(out.params, loc=out.loc, scale=out.scale).mean, batch["future_values"]


def _named_pixels(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    return model(input_ids=batch["input_ids"], pixel_values=batch["pixel_values"]).logits, batch["labels"]


def _gps(model: nn.Module, b: Any) -> Tensor:
    return model(b.x, b.pe, b.edge_index, b.batch)


def _typed_nodes(model: nn.Module, graph: Any, mask: str) -> tuple[Tensor, Tensor]:
    kept = graph["image"][mask]
    return model(graph.x_dict, graph.edge_index_dict)[kept], graph["image"].y[kept]


def _neighbor(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    """The class of the most similar other example of the batch."""
    found = F.normalize(model(batch[0]))
    near = (found @ found.T).fill_diagonal_(-2).argmax(1)
    return F.one_hot(batch[1][near], 10).float(), batch[1]


def _likelihoods(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    normal = torch.distributions.Normal(batch[1].mean(0), batch[1].std(0))
    return -model(batch[0]).log_prob(batch[1]), -normal.log_prob(batch[1]).sum(1)


def _adam(lr: float):
    return lambda parameters: Adam(parameters, lr=lr)


USERS, ONE = (Reading.OWN_LOSS,), (Reading.CLASS,)
PYG = "torch_geometric"
CASES = (
    Case("mobile-net-v4", "images", "timm mobilenetv4_conv_small", "Apache-2.0", mobile_net, pairs(32, 1, 2000, 500), ONE,
         compare(F.cross_entropy), predict(), accuracy, adamw, classes=10),
    Case("feature-pyramid", "segmentation", "segmentation_models_pytorch FPN with its DiceLoss", "MIT", feature_pyramid, masks(32, 3),
         (*USERS, Reading.CLASS_PER_PIXEL), compare(dice_loss), _pixel_answers, accuracy, _adam(1e-3), loss=dice_loss, batch=16, classes=3),
    Case("googlenet", "images", "torchvision googlenet with auxiliary outputs", "BSD-3-Clause", googlenet, pairs(32, 3, 1000, 300), USERS,
         compare(auxiliary_loss), predict(), accuracy, _adam(1e-3), loss=auxiliary_loss),
    Case("autoformer", "series", "transformers AutoformerForPrediction", "Apache-2.0", autoformer, waves_to_come, (Reading.MODEL_LOSS,),
         own_loss, _forecast, explained, adamw, known_findings=("examples-mixed",)),
    Case("clip-seg", "segmentation", "transformers CLIPSegForImageSegmentation", "Apache-2.0", clip_seg, fourth.prompts,
         (Reading.MODEL_LOSS, Reading.LABELS), own_loss, _named_pixels, binary_accuracy, adamw),
    Case("decision-transformer", "control", "transformers DecisionTransformerModel", "Apache-2.0", decision_transformer, fourth.cart_paths,
         USERS, compare(action_loss), predict(lambda out: out.action_preds), explained, adamw, loss=action_loss),
    Case("graph-gps", "graphs", f"{PYG} GPSConv, as its example", "MIT", GraphGps, fourth.walked_graphs, ONE,
         lambda model, b: F.cross_entropy(_gps(model, b), b.y), lambda model, b: (_gps(model, b), b.y), accuracy, _adam(1e-3),
         rewritten=True, classes=10),
    Case("hetero-transformer", "graphs", f"{PYG} HGTConv, as its example", "MIT", HeteroTransformer, fourth.papers_and_words,
         (Reading.CLASS_PER_NODE, Reading.CLASS), lambda model, g: F.cross_entropy(*_typed_nodes(model, g, "train_mask")),
         lambda model, g: _typed_nodes(model, g, "test_mask"), accuracy, _adam(5e-3), batch=1000, rewritten=True, classes=10),
    Case("deep-fm", "recommendations", "torchfm DeepFactorizationMachineModel", "MIT", deep_fm, fourth.clicks, (*USERS, Reading.LABELS),
         compare(F.binary_cross_entropy), lambda model, batch: (model(batch[0]) - 0.5, batch[1]), binary_accuracy, _adam(1e-3),
         loss=F.binary_cross_entropy, batch=128),
    Case("spline-flow", "distributions", "zuko NSF", "MIT", spline_flow, fourth.conditions, USERS, compare(likelihood_loss), _likelihoods,
         loss_saved, _adam(1e-3), loss=likelihood_loss, batch=64),
    Case("packed-lstm", "text", "bentrevett/pytorch-sentiment-analysis LSTM", "MIT", PackedLstm, fourth.texts_with_lengths, ONE,
         compare(F.cross_entropy), predict(), accuracy, _adam(1e-3), rewritten=True, classes=4),
    Case("actor-critic", "control", "pytorch/examples reinforcement_learning actor_critic Policy", "BSD-3-Clause", Policy,
         fourth.pole_steps, USERS, compare(actor_critic_loss), lambda model, batch: (call(model, batch[0])[0], batch[1][0]), accuracy,
         _adam(3e-3), loss=actor_critic_loss, batch=128, rewritten=True),
    Case("frame-transformer", "tables", "pytorch-frame FTTransformer", "MIT", frame_transformer, fourth.tensor_frames, ONE,
         lambda model, frame: F.cross_entropy(model(frame), frame.y), lambda model, frame: (model(frame), frame.y), accuracy,
         _adam(1e-3), batch=128, classes=3),
    Case("triplets", "pairs", "pytorch-metric-learning TripletMarginLoss with its example's Net", "MIT", MetricNet, pairs(28, 1, 2000, 500),
         USERS, compare(triplet_loss), _neighbor, accuracy, lambda p: SGD(p, lr=0.05, momentum=0.9), loss=triplet_loss, batch=64,
         rewritten=True),
)  # fmt: skip
