"""Classifiers of images."""

from torch.nn import functional as F
from torch.optim import SGD, Adadelta, Adam, AdamW

from evaluation.public_models.case import Case, Reading
from evaluation.public_models.data.images import labelled, pairs
from evaluation.public_models.models.examples import MnistCnn, MnistRnn
from evaluation.public_models.models.images import MobileNetV2, ResNet18
from evaluation.public_models.scores import accuracy
from evaluation.public_models.steps import compare, logits, own_loss, predict

CLASSES = {"num_labels": 10}


def vit():
    """The vision transformer of Hugging Face."""
    from transformers import ViTConfig, ViTForImageClassification

    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4}
    return ViTForImageClassification(ViTConfig(image_size=28, patch_size=4, num_channels=1, **sizes, **CLASSES))


def swin():
    """Attention in shifted windows."""
    from transformers import SwinConfig, SwinForImageClassification

    return SwinForImageClassification(
        SwinConfig(
            image_size=32,
            patch_size=2,
            num_channels=1,
            embed_dim=24,
            depths=[2, 2],
            num_heads=[2, 4],
            window_size=4,
            **CLASSES,
        )
    )


def convnext():
    """ConvNeXt of Hugging Face."""
    from transformers import ConvNextConfig, ConvNextForImageClassification

    return ConvNextForImageClassification(
        ConvNextConfig(num_channels=1, patch_size=2, hidden_sizes=[24, 48], depths=[2, 2], num_stages=2, **CLASSES)
    )


def hf_resnet():
    """ResNet of Hugging Face."""
    from transformers import ResNetConfig, ResNetForImageClassification

    return ResNetForImageClassification(
        ResNetConfig(
            num_channels=1,
            embedding_size=16,
            hidden_sizes=[16, 32, 64],
            depths=[1, 1, 1],
            layer_type="basic",
            **CLASSES,
        )
    )


def vit_pytorch():
    """The vision transformer of vit-pytorch."""
    from vit_pytorch import ViT

    return ViT(image_size=28, patch_size=4, num_classes=10, dim=64, depth=3, heads=4, mlp_dim=128, channels=1)


def mixer():
    """The MLP-Mixer."""
    from mlp_mixer_pytorch import MLPMixer

    return MLPMixer(image_size=28, channels=1, patch_size=4, dim=64, depth=3, num_classes=10)


def gmlp():
    """The gated MLP for images."""
    from g_mlp_pytorch import gMLPVision

    return gMLPVision(image_size=28, patch_size=4, num_classes=10, dim=64, depth=3, channels=1)


def perceiver():
    """Cross-attention from a few latent vectors to the pixels; reads images with the channel last."""
    from perceiver_pytorch import Perceiver

    return Perceiver(
        input_channels=1, input_axis=2, num_freq_bands=4, max_freq=10.0, depth=2, num_latents=16, latent_dim=64,
        cross_dim_head=32, latent_dim_head=32, num_classes=10, self_per_cross_attn=1,
    )  # fmt: skip


def monai_densenet():
    """The DenseNet of MONAI with short blocks."""
    from monai.networks.nets import DenseNet

    return DenseNet(
        spatial_dims=2, in_channels=1, out_channels=10, init_features=16, growth_rate=12, block_config=(2, 4, 4)
    )


def efficientnet():
    """EfficientNet-B0 of efficientnet_pytorch."""
    from efficientnet_pytorch import EfficientNet

    return EfficientNet.from_name("efficientnet-b0", in_channels=1, num_classes=10, image_size=32)


def channel_last(seed):
    """Images (n, 28, 28, 1)."""
    data = pairs(train=2000, test=500)(seed)
    return type(data)(*((x.permute(0, 2, 3, 1).contiguous(), y) for x, y in (data.train, data.test)))


def _classes(id, source, license, build, data, optimizer=Adam, loss=F.cross_entropy, **more) -> Case:
    return Case(
        id,
        "images",
        source,
        license,
        build,
        data,
        (Reading.CLASS,),
        compare(loss),
        predict(),
        accuracy,
        optimizer,
        classes=10,
        **more,
    )


def _hugging_face(id, source, build, data) -> Case:
    return Case(
        id, "images", source, "Apache-2.0", build, data, (Reading.CLASS, Reading.MODEL_LOSS), own_loss, logits, accuracy,
        lambda parameters: AdamW(parameters, lr=1e-3), classes=10,
    )  # fmt: skip


def _cifar(parameters):
    return SGD(parameters, lr=0.1, momentum=0.9, weight_decay=5e-4)


CASES = (
    _classes("mnist-cnn", "pytorch/examples mnist", "BSD-3-Clause", MnistCnn, pairs(), Adadelta, F.nll_loss, batch=64, rewritten=True),
    _classes(
        "mnist-rnn", "pytorch/examples mnist_rnn", "BSD-3-Clause", MnistRnn, pairs(),
        lambda parameters: Adadelta(parameters, lr=0.1), F.nll_loss, batch=64, rewritten=True,
    ),
    _classes("resnet18", "kuangliu/pytorch-cifar ResNet18", "MIT", ResNet18, pairs(32, 3, 1000, 300), _cifar, rewritten=True),
    _classes("mobilenet-v2", "kuangliu/pytorch-cifar MobileNetV2", "MIT", MobileNetV2, pairs(32, 3, 1000, 300), _cifar, rewritten=True),
    _hugging_face("vit", "transformers ViTForImageClassification", vit, labelled("pixel_values", 28, 1)),
    _hugging_face("swin", "transformers SwinForImageClassification", swin, labelled("pixel_values", 32, 1)),
    _hugging_face("convnext", "transformers ConvNextForImageClassification", convnext, labelled("pixel_values", 32, 1)),
    _hugging_face("hf-resnet", "transformers ResNetForImageClassification", hf_resnet, labelled("pixel_values", 32, 1)),
    _classes("vit-pytorch", "vit-pytorch ViT", "MIT", vit_pytorch, pairs()),
    _classes("mlp-mixer", "mlp-mixer-pytorch MLPMixer", "MIT", mixer, pairs()),
    _classes("g-mlp", "g-mlp-pytorch gMLPVision", "MIT", gmlp, pairs()),
    _classes("perceiver", "perceiver-pytorch Perceiver", "MIT", perceiver, channel_last),
    _classes("monai-densenet", "monai DenseNet", "Apache-2.0", monai_densenet, pairs()),
    _classes("efficientnet", "efficientnet_pytorch EfficientNet", "Apache-2.0", efficientnet, pairs(32, 1, 1000, 300)),
)  # fmt: skip
