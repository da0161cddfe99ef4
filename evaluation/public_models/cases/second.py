"""The second collection: public architectures of other families, chosen when the first collection was accepted.

Networks that are no package are built from a folder of checkouts only (`--checkouts`).
"""

import torch
from torch.nn import functional as F
from torch.optim import SGD, Adam, AdamW

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.cases.language import adamw
from evaluation.public_models.data import graphs, second
from evaluation.public_models.data.images import labelled
from evaluation.public_models.data.text import VOCABULARY, causal, lines, next_tokens
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import (
    call,
    compare,
    first,
    logits,
    next_logits,
    own_loss,
    predict,
    token_loss,
)

SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}


def checkout():
    """Stands for a network that is published as a file of a repository."""
    raise ImportError("pass --checkouts with a folder that contains the repository")


def res_mlp():
    """ResMLP of res-mlp-pytorch."""
    from res_mlp_pytorch import ResMLP

    return ResMLP(image_size=28, patch_size=4, dim=64, depth=4, num_classes=10)


def pool_former():
    """PoolFormer of Hugging Face: pooling in place of attention."""
    from transformers import PoolFormerConfig, PoolFormerForImageClassification

    return PoolFormerForImageClassification(
        PoolFormerConfig(
            num_channels=1, hidden_sizes=[24, 48], depths=[2, 2], num_encoder_blocks=2, patch_sizes=[5, 3], strides=[4, 2],
            padding=[2, 1], num_labels=10,
        )
    )  # fmt: skip


def clip():
    """CLIP: a tower for images, a tower for texts, and a loss that compares all pairs of a batch."""
    from transformers import CLIPConfig, CLIPModel

    text = {**SMALL, "vocab_size": 13, "max_position_embeddings": 4, "eos_token_id": 12, "bos_token_id": 1}
    vision = {**SMALL, "image_size": 32, "patch_size": 8, "num_channels": 1}
    return CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=32))


def detr():
    """DETR: objects as a set, matched with the true ones in forward."""
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    trunk = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 64], depths=[1, 1, 1], layer_type="basic", out_features=["stage3"]
    )
    return DetrForObjectDetection(
        DetrConfig(
            use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=trunk, num_labels=10,
            d_model=64, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=5,
            encoder_attention_heads=4, decoder_attention_heads=4, auxiliary_loss=False,
        )
    )  # fmt: skip


def time_series():
    """The probabilistic time series transformer of Hugging Face, as DeepAR: it returns the loss of a distribution."""
    from transformers import TimeSeriesTransformerConfig, TimeSeriesTransformerForPrediction

    return TimeSeriesTransformerForPrediction(
        TimeSeriesTransformerConfig(
            prediction_length=8, context_length=32, lags_sequence=[1, 2, 3, 4], num_time_features=1, d_model=32,
            encoder_layers=2, decoder_layers=2, encoder_ffn_dim=64, decoder_ffn_dim=64,
        )
    )  # fmt: skip


def distilbert():
    """DistilBERT with a class for each text."""
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    sizes = {"dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4}
    return DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=128, max_position_embeddings=64, num_labels=4, **sizes)
    )


def audio_spectrogram():
    """The transformer for spectra of Hugging Face."""
    from transformers import ASTConfig, ASTForAudioClassification

    return ASTForAudioClassification(
        ASTConfig(
            num_mel_bins=16, max_length=48, patch_size=4, frequency_stride=4, time_stride=4, num_labels=3, **SMALL
        )
    )


def mixtral():
    """Mixtral: each token is sent to two of four experts."""
    from transformers import MixtralConfig, MixtralForCausalLM

    sizes = {**SMALL, "num_key_value_heads": 2, "num_local_experts": 4, "max_position_embeddings": 32}
    return MixtralForCausalLM(MixtralConfig(vocab_size=VOCABULARY, output_router_logits=True, **sizes))


def rwkv():
    """RWKV: linear attention as a recurrence."""
    from transformers import RwkvConfig, RwkvForCausalLM

    return RwkvForCausalLM(
        RwkvConfig(vocab_size=VOCABULARY, context_length=32, hidden_size=64, num_hidden_layers=2, use_cache=False)
    )


def graph_unet():
    """The graph U-Net of PyTorch Geometric, for nodes of one graph."""
    from torch_geometric.nn.models import GraphUNet

    return GraphUNet(64, 32, 10, depth=2)


def spelled(outputs, labels):
    """The CTC loss as the script of CRNN calls it; outputs are (steps, n, letters)."""
    steps, n, _ = outputs.shape
    sizes = torch.full((n,), steps), torch.full((n,), labels.shape[1])
    return F.ctc_loss(outputs.log_softmax(2), labels, *sizes, zero_infinity=True)


def _letters(model, batch):
    """Most likely digits in four equal parts of the width."""
    scores = model(batch[0]).log_softmax(2)[..., 1:]
    return torch.stack([part.amax(0) for part in scores.tensor_split(4, dim=0)], 1), batch[1] - 1


def _captions(model, batch):
    """Which of the captions of all pairs of digits fits the image?"""
    tens = torch.arange(100)
    words = torch.stack((torch.ones(100), tens // 10 + 2, tens % 10 + 2, torch.full((100,), 12.0)), 1).long()
    scores = model(input_ids=words, pixel_values=batch["pixel_values"]).logits_per_image
    return scores, (batch["input_ids"][:, 1] - 2) * 10 + batch["input_ids"][:, 2] - 2


def _detected(model, batch):
    scores = model(pixel_values=batch["pixel_values"]).logits.log_softmax(-1)[..., :-1].amax(1)
    return scores, torch.cat([one["class_labels"] for one in batch["labels"]])


def _forecast(model, batch):
    out = model(**batch)
    return model.output_distribution(out.params, loc=out.loc, scale=out.scale).mean, batch["future_values"]


def gold_loss(predictions, gold):
    """The loss of attention-is-all-you-need-pytorch, as a mean: predictions are (n * length, tokens)."""
    return F.cross_entropy(predictions, gold.contiguous().view(-1), ignore_index=0)


def _next_words(model, batch):
    gold = batch[1]
    return call(model, batch[0]).view(*gold.shape, -1), gold.masked_fill(gold == 0, -100)


def _on_nodes(mask):
    return lambda model, graph: (model(graph.x, graph.edge_index)[graph[mask]], graph.y[graph[mask]])


def _node_loss(model, graph):
    return F.cross_entropy(*_on_nodes("train_mask")(model, graph))


def _adamw(parameters):
    return AdamW(parameters, lr=1e-3)


def _images(id, source, license, build, data, **more) -> Case:
    return Case(
        id, "images", source, license, build, data, (Reading.CLASS,), compare(F.cross_entropy), predict(), accuracy, Adam,
        classes=10, **more,
    )  # fmt: skip


def _hugging_face(id, kind, name, build, data, readings, answers, score=accuracy, classes=0) -> Case:
    readings = (*readings, Reading.MODEL_LOSS)
    return Case(
        id, kind, f"transformers {name}", "Apache-2.0", build, data, readings, own_loss, answers, score, _adamw,
        classes=classes,
    )  # fmt: skip


TOKENS = (Reading.CLASS_PER_POSITION,)
USERS = (Reading.OWN_LOSS,)
CASES = (
    _images("res-mlp", "res-mlp-pytorch ResMLP", "MIT", res_mlp, second.color_images(28)),
    _images("conv-mixer", "locuslab/convmixer ConvMixer", "MIT", checkout, second.color_images(28)),
    Case("point-net", "points", "fxia22/pointnet.pytorch PointNetCls", "MIT", checkout, second.point_clouds, (Reading.CLASS,),
         compare(lambda out, y: F.nll_loss(out[0], y)), predict(first), accuracy, Adam, classes=10),
    _hugging_face("pool-former", "images", "PoolFormerForImageClassification", pool_former, labelled("pixel_values", 28, 1),
                  (Reading.CLASS,), logits, classes=10),
    _hugging_face("clip", "two towers", "CLIPModel", clip, second.captions, (), _captions),
    _hugging_face("detr", "objects", "DetrForObjectDetection", detr, second.objects, (), _detected),
    _hugging_face("time-series-transformer", "series", "TimeSeriesTransformerForPrediction", time_series, second.waves_to_come,
                  (), _forecast, explained),
    _hugging_face("distilbert-classes", "text", "DistilBertForSequenceClassification", distilbert, lines(), (Reading.CLASS,),
                  logits, classes=4),
    _hugging_face("audio-spectrogram", "speech", "ASTForAudioClassification", audio_spectrogram, second.tones, (Reading.CLASS,),
                  logits, classes=3),
    _hugging_face("mixtral", "language", "MixtralForCausalLM", mixtral, causal(), TOKENS, next_logits, classes=VOCABULARY),
    _hugging_face("rwkv", "language", "RwkvForCausalLM", rwkv, causal(mask=False), TOKENS, next_logits, classes=VOCABULARY),
    Case("mamba-minimal", "language", "johnma2006/mamba-minimal Mamba", "Apache-2.0", checkout, next_tokens(), TOKENS,
         compare(token_loss), predict(), accuracy, adamw, classes=104),  # padded to a multiple of eight
    Case("crnn", "speech", "meijieru/crnn.pytorch CRNN", "MIT", checkout, second.drawn_words, USERS, compare(spelled), _letters,
         accuracy, Adam, loss=spelled),
    Case("nerf", "regression", "yenchenlin/nerf-pytorch NeRF", "MIT", checkout, second.scene, (Reading.NUMBERS,), compare(F.mse_loss),
         predict(), explained, lambda p: Adam(p, lr=5e-4), batch=256),
    Case("ncf", "ratings", "guoyang9/NCF NeuMF", "no license", checkout, second.ratings, (*USERS, Reading.LABELS, Reading.CLASS),
         compare(F.binary_cross_entropy_with_logits), predict(), binary_accuracy, Adam, loss=F.binary_cross_entropy_with_logits,
         batch=256),
    Case("attention-transformer", "translation", "jadore801120/attention-is-all-you-need-pytorch Transformer", "MIT", checkout,
         second.backwards, USERS, compare(gold_loss), _next_words, accuracy, Adam, loss=gold_loss),
    Case("graph-unet", "nodes", "torch_geometric GraphUNet", "MIT", graph_unet, graphs.neighbor_graph, (Reading.CLASS,), _node_loss,
         _on_nodes("test_mask"), accuracy, lambda p: SGD(p, lr=0.1, momentum=0.9), classes=10),
)  # fmt: skip
