"""Segmentation, images from images, autoencoders and diffusion."""

import torch
from torch.nn import functional as F
from torch.optim import Adam, AdamW

from evaluation.public_models.case import Case, Data, Reading
from evaluation.public_models.data.images import digits, masks
from evaluation.public_models.models.examples import SuperResolution, Vae, vae_loss
from evaluation.public_models.models.images import UNet
from evaluation.public_models.scores import accuracy, binary_accuracy, explained
from evaluation.public_models.steps import compare, own_loss, predict


def monai_unet():
    """The U-Net of MONAI with residual units."""
    from monai.networks.nets import UNet as MonaiUNet

    return MonaiUNet(
        spatial_dims=2, in_channels=1, out_channels=3, channels=(16, 32, 64), strides=(2, 2), num_res_units=1
    )


def segformer():
    """SegFormer of Hugging Face; its logits have a quarter of the labels' size."""
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    return SegformerForSemanticSegmentation(
        SegformerConfig(
            num_channels=3, num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], num_attention_heads=[1, 2],
            patch_sizes=[7, 3], strides=[4, 2], sr_ratios=[2, 1], mlp_ratios=[2, 2], decoder_hidden_size=32, num_labels=3,
        )
    )  # fmt: skip


def monai_autoencoder():
    """The autoencoder of MONAI."""
    from monai.networks.nets import AutoEncoder

    return AutoEncoder(spatial_dims=2, in_channels=1, out_channels=1, channels=(8, 16, 32), strides=(2, 2, 2))


def monai_labels():
    """MONAI's DenseNet with four logits for four questions."""
    from monai.networks.nets import DenseNet

    return DenseNet(
        spatial_dims=2, in_channels=1, out_channels=4, init_features=16, growth_rate=12, block_config=(2, 2)
    )


def autoencoder_kl():
    """The autoencoder of diffusers; returns an object with ``sample``."""
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        in_channels=1, out_channels=1, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, latent_channels=2,
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2, sample_size=16,
    )  # fmt: skip


def diffusion_unet():
    """The denoising network of diffusers; returns an object with ``sample``."""
    from diffusers import UNet2DModel

    return UNet2DModel(
        sample_size=16, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(16, 32), norm_num_groups=8,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


def vit_mae():
    """The masked autoencoder of Hugging Face: there are no targets, and the model computes the loss."""
    from transformers import ViTMAEConfig, ViTMAEForPreTraining

    sizes = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
    decoder = {f"decoder_{name}": size for name, size in sizes.items()}
    return ViTMAEForPreTraining(
        ViTMAEConfig(image_size=28, patch_size=4, num_channels=1, mask_ratio=0.5, **sizes, **decoder)
    )


def images_twice(size: int = 28, train: int = 3000, test: int = 500):
    """A function of a seed: images from 0 to 1 as inputs and targets."""

    def data(seed: int) -> Data:
        x, _, xt, _ = digits(seed, train, test, size)
        return Data((x, x), (xt, xt))

    return data


def images_alone(seed: int) -> Data:
    """Dicts with images and nothing else."""
    x, _, xt, _ = digits(seed, 2000, 300)
    return Data({"pixel_values": x}, {"pixel_values": xt})


def enlarged(seed: int) -> Data:
    """Images of half the size, and the images."""
    x, _, xt, _ = digits(seed, 2000, 300, 32)
    return Data(*((F.avg_pool2d(part, 2), part) for part in (x, xt)))


def noised(seed: int) -> Data:
    """Noisy images with a time, and the noise."""
    x, _, xt, _ = digits(seed, 2000, 300, 16)
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for images in (x, xt):
        times = torch.randint(0, 1000, (len(images),), generator=generator)
        kept = torch.cos(times / 1000 * torch.pi / 2)[:, None, None, None]
        noise = torch.randn(images.shape, generator=generator)
        parts.append((((2 * images - 1) * kept + noise * (1 - kept**2).sqrt(), times), noise))
    return Data(*parts)


def questions(seed: int) -> Data:
    """Images and four answers: even, at least five, a prime, has a loop."""
    x, y, xt, yt = digits(seed, 3000, 800)
    primes, loops = torch.tensor([2, 3, 5, 7]), torch.tensor([0, 6, 8, 9])

    def answers(d):
        return torch.stack((d % 2 == 0, d >= 5, torch.isin(d, primes), torch.isin(d, loops)), 1).float()

    return Data((x, answers(y)), (xt, answers(yt)))


def pixel_loss(logits, targets):
    """Cross-entropy over pixels."""
    return F.cross_entropy(logits, targets)


def _classes_last(out):
    return out.movedim(1, -1)


def _segformer_answers(model, batch):
    logits = model(pixel_values=batch["pixel_values"]).logits
    logits = F.interpolate(logits, size=batch["labels"].shape[-2:], mode="bilinear", align_corners=False)
    return logits.movedim(1, -1), batch["labels"]


def _mae_answers(model, batch):
    out = model(pixel_values=batch["pixel_values"])
    hidden = out.mask.bool()
    return out.logits[hidden], model.patchify(batch["pixel_values"])[hidden]


def _sample(out):
    return out.sample


def _flat_first(out):
    return out[0].reshape(-1, 1, 28, 28)


PIXELS = (Reading.CLASS_PER_PIXEL, Reading.CLASS_PER_POSITION)

CASES = (
    Case("unet", "segmentation", "milesial/Pytorch-UNet UNet", "GPL-3.0", UNet, masks(32, 3, 200, 50), PIXELS,
         compare(pixel_loss), predict(_classes_last), accuracy, Adam, batch=8,
         rewritten=True, classes=3),
    Case("monai-unet", "segmentation", "monai UNet", "Apache-2.0", monai_unet, masks(32, 1, 800, 200), PIXELS,
         compare(pixel_loss), predict(_classes_last), accuracy, Adam, batch=16, classes=3),
    Case("segformer", "segmentation", "transformers SegformerForSemanticSegmentation", "Apache-2.0", segformer,
         masks(32, 3, 800, 200, dicts=True), (*PIXELS, Reading.MODEL_LOSS), own_loss, _segformer_answers, accuracy,
         lambda p: AdamW(p, lr=1e-3), batch=16, classes=3),
    Case("super-resolution", "images from images", "pytorch/examples super_resolution", "BSD-3-Clause", SuperResolution, enlarged,
         (Reading.NUMBERS,), compare(F.mse_loss), predict(), explained, Adam, rewritten=True, batch=16),
    Case("monai-autoencoder", "autoencoders", "monai AutoEncoder", "Apache-2.0", monai_autoencoder, images_twice(32), (Reading.NUMBERS,),
         compare(F.mse_loss), predict(), explained, Adam),
    Case("autoencoder-kl", "autoencoders", "diffusers AutoencoderKL", "Apache-2.0", autoencoder_kl, images_twice(16, 2000, 300),
         (Reading.NUMBERS,), compare(F.mse_loss, _sample), predict(_sample), explained, Adam),
    Case("vae", "autoencoders", "pytorch/examples vae", "BSD-3-Clause", Vae, images_twice(), (Reading.OWN_LOSS,), compare(vae_loss),
         predict(_flat_first), explained, Adam, loss=vae_loss, batch=128, rewritten=True),
    Case("vit-mae", "autoencoders", "transformers ViTMAEForPreTraining", "Apache-2.0", vit_mae, images_alone, (Reading.MODEL_LOSS,), own_loss,
         _mae_answers, explained, lambda p: AdamW(p, lr=1e-3)),
    Case("diffusion-unet", "diffusion", "diffusers UNet2DModel", "Apache-2.0", diffusion_unet, noised, (Reading.NUMBERS,),
         compare(F.mse_loss, _sample), predict(_sample), explained, lambda p: AdamW(p, lr=1e-3)),
    Case("monai-labels", "multi-label", "monai DenseNet with BCEWithLogitsLoss", "Apache-2.0", monai_labels, questions,
         (Reading.OWN_LOSS, Reading.LABELS), compare(F.binary_cross_entropy_with_logits), predict(), binary_accuracy, Adam,
         loss=F.binary_cross_entropy_with_logits),
)  # fmt: skip
