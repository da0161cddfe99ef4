"""The third collection: 18 networks of further packages and kinds, chosen before any of them had been tried."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Adam, AdamW

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.cases.language import adamw
from evaluation.public_models.cases.text import CHARACTERS, SMALL
from evaluation.public_models.data import graphs, third
from evaluation.public_models.data.images import pairs
from evaluation.public_models.data.text import VOCABULARY, lines, next_tokens
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import call, compare, first, forced_logits, logits, own_loss, predict, token_loss


def deberta():
    """DeBERTa, whose attention separates content and position."""
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    options = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
    return DebertaV2ForSequenceClassification(
        DebertaV2Config(vocab_size=CHARACTERS, max_position_embeddings=64, num_labels=4, pooler_hidden_size=64, **options, **SMALL)
    )  # fmt: skip


def electra():
    """ELECTRA's discriminator: one logit for each token, which says whether the token was replaced."""
    from transformers import ElectraConfig, ElectraForPreTraining

    return ElectraForPreTraining(
        ElectraConfig(vocab_size=VOCABULARY, embedding_size=64, max_position_embeddings=64, **SMALL)
    )


def multiple_choice():
    """BERT that chooses one of several texts."""
    from transformers import BertConfig, BertForMultipleChoice

    return BertForMultipleChoice(BertConfig(vocab_size=CHARACTERS, max_position_embeddings=64, **SMALL))


def video_mae():
    """VideoMAE with a class for each video."""
    from transformers import VideoMAEConfig, VideoMAEForVideoClassification

    return VideoMAEForVideoClassification(
        VideoMAEConfig(image_size=16, patch_size=4, num_channels=1, num_frames=4, tubelet_size=2, num_labels=4, **SMALL)
    )


def glpn():
    """GLPN, which estimates a depth for each pixel."""
    from transformers import GLPNConfig, GLPNForDepthEstimation

    sizes = {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4]}
    return GLPNForDepthEstimation(GLPNConfig(num_channels=3, decoder_hidden_size=16, **sizes))


def hubert():
    """HuBERT with a class for each recording."""
    from transformers import HubertConfig, HubertForSequenceClassification

    layers = {"conv_dim": (32, 32, 32), "conv_kernel": (10, 3, 3), "conv_stride": (5, 2, 2)}
    positions = {"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}
    return HubertForSequenceClassification(
        HubertConfig(
            num_labels=3, num_feat_extract_layers=3, classifier_proj_size=32, mask_time_prob=0.0, **layers, **positions, **SMALL
        )
    )  # fmt: skip


def captioner():
    """A ViT that reads an image, and a GPT-2 that writes the digits in it."""
    from transformers import GPT2Config, VisionEncoderDecoderConfig, VisionEncoderDecoderModel, ViTConfig

    reader = ViTConfig(image_size=32, patch_size=8, num_channels=1, **SMALL)
    writer = GPT2Config(
        vocab_size=13, n_embd=64, n_layer=2, n_head=4, n_positions=8, bos_token_id=1, eos_token_id=12, add_cross_attention=True
    )  # fmt: skip
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(reader, writer)
    config.decoder_start_token_id, config.pad_token_id = 1, 0
    return VisionEncoderDecoderModel(config)


def patch_mixer():
    """PatchTSMixer with a class for each series."""
    from transformers import PatchTSMixerConfig, PatchTSMixerForTimeSeriesClassification

    return PatchTSMixerForTimeSeriesClassification(
        PatchTSMixerConfig(
            num_input_channels=2,
            context_length=48,
            patch_length=8,
            patch_stride=8,
            d_model=32,
            num_layers=2,
            num_targets=3,
        )
    )


def linformer():
    """Linformer, whose attention compares with a fixed number of mixtures of keys; it is not causal."""
    from linformer import LinformerLM

    return LinformerLM(num_tokens=CHARACTERS, dim=64, seq_len=48, depth=2, k=16, heads=4)


def reformer():
    """Reformer, whose attention hashes tokens at random and whose layers are reversible."""
    from reformer_pytorch import ReformerLM

    return ReformerLM(
        num_tokens=VOCABULARY, dim=64, depth=2, max_seq_len=32, heads=4, bucket_size=8, n_hashes=2, causal=True
    )


class QuantizedAutoencoder(nn.Module):
    """An autoencoder around the quantizer of vector-quantize-pytorch, as in its examples; returns (image, codes, loss)."""

    def __init__(self):
        from vector_quantize_pytorch import VectorQuantize

        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Conv2d(1, 16, kernel_size=3, stride=1, padding=1),
                nn.MaxPool2d(kernel_size=2, stride=2),
                nn.GELU(),
                nn.Conv2d(16, 32, kernel_size=3, stride=1, padding=1),
                nn.MaxPool2d(kernel_size=2, stride=2),
                VectorQuantize(dim=32, codebook_size=64, accept_image_fmap=True),
                nn.Upsample(scale_factor=2, mode="nearest"),
                nn.Conv2d(32, 16, kernel_size=3, stride=1, padding=1),
                nn.GELU(),
                nn.Upsample(scale_factor=2, mode="nearest"),
                nn.Conv2d(16, 1, kernel_size=3, stride=1, padding=1),
            ]
        )

    def forward(self, x):
        """The image, the numbers of the codes, and the loss of the codes."""
        for layer in self.layers:
            if isinstance(layer, nn.Conv2d | nn.MaxPool2d | nn.GELU | nn.Upsample):
                x = layer(x)
            else:
                x, codes, loss = layer(x)
        return x.clamp(-1, 1), codes, loss


def quantized_loss(outputs, images):
    """The absolute error of the image plus ten times the loss of the codes, as in the package's example."""
    return (outputs[0] - images).abs().mean() + 10 * outputs[2].sum()


class Spiking(nn.Module):
    """The spiking network of snntorch's tutorials; returns spikes and potentials with steps first."""

    def __init__(self, steps=10):
        import snntorch

        super().__init__()
        self.fc1, self.lif1 = nn.Linear(784, 100), snntorch.Leaky(beta=0.95)
        self.fc2, self.lif2 = nn.Linear(100, 10), snntorch.Leaky(beta=0.95)
        self.steps = steps

    def forward(self, x):
        """Spikes and potentials (steps, n, 10) of the last layer."""
        first, last = self.lif1.init_leaky(), self.lif2.init_leaky()
        spikes, potentials = [], []
        for _ in range(self.steps):
            spike, first = self.lif1(self.fc1(x.flatten(1)), first)
            spike, last = self.lif2(self.fc2(spike), last)
            spikes.append(spike)
            potentials.append(last)
        return torch.stack(spikes), torch.stack(potentials)


def spiking_loss(outputs, labels):
    """Cross-entropy of the potentials at every step, summed, as in the tutorial."""
    return sum(F.cross_entropy(potential, labels) for potential in outputs[1])


def cifar_resnet():
    """A ResNet for small images from pytorchcv."""
    from pytorchcv.models.seresnet_cifar import seresnet20_cifar10

    return seresnet20_cifar10(in_channels=1)


class OrdinalMlp(nn.Module):
    """A network with coral_pytorch's layer for ordered classes, as in its tutorials; returns (logits, probabilities)."""

    def __init__(self):
        from coral_pytorch.layers import CoralLayer

        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.fc = CoralLayer(size_in=32, num_classes=5)

    def forward(self, x):
        """Logits and probabilities of exceeding each class."""
        found = self.fc(self.hidden(x))
        return found, torch.sigmoid(found)


def ordinal_loss(outputs, labels):
    """coral_pytorch's loss; classes are turned into levels inside, as its data loop does."""
    from coral_pytorch.dataset import levels_from_labelbatch
    from coral_pytorch.losses import coral_loss

    return coral_loss(outputs[0], levels_from_labelbatch(labels, num_classes=5))


def edge_cnn():
    """EdgeCNN of PyTorch Geometric, for nodes of one graph."""
    from torch_geometric.nn import EdgeCNN

    return EdgeCNN(64, 32, num_layers=2, out_channels=10)


def neural_fingerprint():
    """The neural fingerprint of PyTorch Geometric, with one class for each graph."""
    from torch_geometric.nn.models import NeuralFingerprint

    return NeuralFingerprint(3, 32, 10, num_layers=3)


def unet_series():
    """The one-dimensional denoising network of diffusers; returns an object with ``sample``."""
    from diffusers import UNet1DModel

    return UNet1DModel(
        sample_size=32, in_channels=1, out_channels=1, block_out_channels=(32, 32, 64), layers_per_block=1, extra_in_channels=64,
        down_block_types=("DownBlock1DNoSkip", "DownBlock1D", "AttnDownBlock1D"),
        up_block_types=("AttnUpBlock1D", "UpBlock1D", "UpBlock1DNoSkip"),
    )  # fmt: skip


def unet_condition():
    """The denoising network of Stable Diffusion, with a condition that it attends to."""
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=16, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(16, 32), norm_num_groups=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=10, attention_head_dim=8,
    )  # fmt: skip


def _sample(out):
    return out.sample


def _binary_tokens(model, batch):
    return model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits, batch["labels"].float()


def _depth(model, batch):
    return model(pixel_values=batch["pixel_values"]).predicted_depth, batch["labels"]


def _series_classes(model, batch):
    return model(past_values=batch["past_values"]).prediction_outputs, batch["target_values"]


def _series_loss(model, batch):
    return model(**batch).loss


def _masked_answers(model, graph):
    return model(graph.x, graph.edge_index)[graph.test_mask], graph.y[graph.test_mask]


def _masked_loss(model, graph):
    return F.cross_entropy(model(graph.x, graph.edge_index)[graph.train_mask], graph.y[graph.train_mask])


def _ordered(model, batch):
    levels = (torch.sigmoid(call(model, batch[0])[0]) > 0.5).sum(1)
    return F.one_hot(levels, 5).float(), batch[1]


def _hugging_face(id, kind, name, build, data, readings, answers, score=accuracy, classes=0, **more) -> Case:
    return Case(
        id, kind, f"transformers {name}", "Apache-2.0", build, data, (*readings, Reading.MODEL_LOSS),
        more.pop("batch_loss", own_loss), answers, score, lambda p: AdamW(p, lr=1e-3), classes=classes, **more,
    )  # fmt: skip


USERS = (Reading.OWN_LOSS,)
TOKENS = (Reading.CLASS_PER_POSITION,)
CASES = (
    _hugging_face("deberta", "text", "DebertaV2ForSequenceClassification", deberta, lines(), (Reading.CLASS,), logits, classes=4),
    _hugging_face("electra", "text", "ElectraForPreTraining", electra, third.replaced, (Reading.LABELS, Reading.CLASS_PER_POSITION),
                  _binary_tokens, binary_accuracy, classes=2),
    _hugging_face("multiple-choice", "text", "BertForMultipleChoice", multiple_choice, third.choices, (Reading.CLASS,), logits,
                  classes=3),
    _hugging_face("video-mae", "video", "VideoMAEForVideoClassification", video_mae, third.videos, (Reading.CLASS,), logits, classes=4),
    _hugging_face("glpn", "depth", "GLPNForDepthEstimation", glpn, third.depths, (Reading.NUMBERS,), _depth, explained),
    _hugging_face("hubert", "speech", "HubertForSequenceClassification", hubert, third.recordings, (Reading.CLASS,), logits, classes=3),
    _hugging_face("captioner", "captions", "VisionEncoderDecoderModel", captioner, third.written, TOKENS, forced_logits, classes=13),
    _hugging_face("patch-mixer", "series", "PatchTSMixerForTimeSeriesClassification", patch_mixer, third.named_series,
                  (Reading.CLASS,), _series_classes, batch_loss=_series_loss, classes=3),
    Case("linformer", "text", "linformer LinformerLM", "MIT", linformer, third.tag_pairs, TOKENS, compare(token_loss), predict(), accuracy,
         adamw, classes=CHARACTERS),
    Case("reformer", "language", "reformer-pytorch ReformerLM", "MIT", reformer, next_tokens(), TOKENS, compare(token_loss), predict(),
         accuracy, adamw, classes=VOCABULARY),
    Case("vq-autoencoder", "autoencoders", "vector-quantize-pytorch VectorQuantize, as its examples", "MIT", QuantizedAutoencoder,
         third.images_of_themselves, USERS, compare(quantized_loss), predict(first), explained, Adam, loss=quantized_loss, rewritten=True),
    Case("spiking", "spiking", "snntorch Leaky, as its tutorials", "MIT", Spiking, pairs(28, 1, 2000, 500), USERS, compare(spiking_loss),
         predict(lambda out: out[0].sum(0)), accuracy, lambda p: Adam(p, lr=5e-4, betas=(0.9, 0.999)), loss=spiking_loss, rewritten=True),
    Case("pytorchcv-resnet", "images", "pytorchcv seresnet20_cifar10", "MIT", cifar_resnet, pairs(32, 1, 2000, 500), (Reading.CLASS,),
         compare(F.cross_entropy), predict(), accuracy, Adam, classes=10),
    Case("coral", "ordered classes", "coral-pytorch CoralLayer, as its tutorials", "MIT", OrdinalMlp, third.ordered, USERS,
         compare(ordinal_loss), _ordered, accuracy, Adam, loss=ordinal_loss, rewritten=True),
    Case("edge-cnn", "graphs", "torch_geometric EdgeCNN", "MIT", edge_cnn, graphs.neighbor_graph, (Reading.CLASS_PER_NODE, Reading.CLASS),
         _masked_loss, _masked_answers, accuracy, lambda p: Adam(p, lr=1e-2, weight_decay=5e-4), batch=1000, classes=10),
    Case("neural-fingerprint", "graphs", "torch_geometric NeuralFingerprint", "MIT", neural_fingerprint, graphs.digit_graphs,
         (Reading.CLASS,), lambda model, b: F.cross_entropy(model(b.x, b.edge_index, b.batch), b.y),
         lambda model, b: (model(b.x, b.edge_index, b.batch), b.y), accuracy, lambda p: Adam(p, lr=5e-3), classes=10),
    Case("unet-1d", "diffusion", "diffusers UNet1DModel", "Apache-2.0", unet_series, third.noised_series, (Reading.NUMBERS,),
         compare(F.mse_loss, _sample), predict(_sample), explained, lambda p: AdamW(p, lr=1e-3)),
    Case("unet-condition", "diffusion", "diffusers UNet2DConditionModel", "Apache-2.0", unet_condition, third.noised_with_condition,
         (Reading.NUMBERS,), compare(F.mse_loss, _sample), predict(_sample), explained, lambda p: AdamW(p, lr=1e-3)),
)  # fmt: skip
