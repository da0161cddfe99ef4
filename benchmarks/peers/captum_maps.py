"""captum's attributions of the networks of bench_attribution.py, as functions to call; each as captum has it by default.

Imported where captum is on the path; `bench_attribution.py` puts it there.
"""

import warnings

import torch
from captum.attr import (
    FeatureAblation,
    IntegratedGradients,
    LayerGradCam,
    LayerIntegratedGradients,
    NoiseTunnel,
    Occlusion,
    Saliency,
)

warnings.filterwarnings("ignore", message="Input Tensor 0 did not already require gradients")


def images(net, x, y, layer, steps, samples):
    """By method; SmoothGrad twice: all samples at once, and one after the other."""
    size = 0.15 * float(x.max() - x.min())
    smooth = {"nt_type": "smoothgrad", "nt_samples": samples, "stdevs": size, "abs": False}
    window = (x.shape[1], 7, 7)
    return {
        "gradient": [lambda: Saliency(net).attribute(x, target=y, abs=False)],
        "integrated gradients": [lambda: IntegratedGradients(net).attribute(x, target=y, n_steps=steps)],
        "SmoothGrad": [
            lambda: NoiseTunnel(Saliency(net)).attribute(x, target=y, **smooth),
            lambda: NoiseTunnel(Saliency(net)).attribute(x, target=y, nt_samples_batch_size=1, **smooth),
        ],
        "occlusion": [
            lambda: Occlusion(net).attribute(x, sliding_window_shapes=window, strides=window, target=y),
        ],
        "Grad-CAM": [lambda: LayerGradCam(net, net[layer]).attribute(x, target=y, relu_attributions=True)],
    }


def tokens(net, x, y, _, steps, __):
    """The same for tokens."""
    zero = torch.zeros_like(x)
    layer = LayerIntegratedGradients(net, net.embedding)
    return {
        "integrated gradients": [lambda: layer.attribute(x, baselines=zero, target=y, n_steps=steps).sum(2)],
        "occlusion": [lambda: FeatureAblation(net).attribute(x, baselines=zero, target=y)],
    }
