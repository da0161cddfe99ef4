"""captum's attributions of the networks of bench_attribution.py, with the time of each.

python captum_maps.py OUT.pt
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
from attribution_networks import SAMPLES, STEPS, best, problems  # noqa: E402
from captum.attr import (  # noqa: E402
    FeatureAblation,
    IntegratedGradients,
    LayerGradCam,
    LayerIntegratedGradients,
    NoiseTunnel,
    Occlusion,
    Saliency,
)


def images(net, x, y, layer):
    window = (x.shape[1], 7, 7)
    size = 0.15 * float(x.max() - x.min())
    smooth = {"nt_type": "smoothgrad", "nt_samples": SAMPLES, "stdevs": size, "abs": False, "nt_samples_batch_size": 1}
    return {
        "gradient": lambda: Saliency(net).attribute(x, target=y, abs=False),
        "integrated gradients": lambda: IntegratedGradients(net).attribute(x, target=y, n_steps=STEPS),
        "SmoothGrad": lambda: NoiseTunnel(Saliency(net)).attribute(x, target=y, **smooth),
        "occlusion": lambda: Occlusion(net).attribute(
            x, sliding_window_shapes=window, strides=(x.shape[1], 7, 7), target=y
        ),
        "Grad-CAM": lambda: LayerGradCam(net, net[layer]).attribute(x, target=y, relu_attributions=True),
    }


def tokens(net, x, y, _):
    zero = torch.zeros_like(x)
    layer = LayerIntegratedGradients(net, net.embedding)
    return {
        "integrated gradients": lambda: layer.attribute(x, baselines=zero, target=y, n_steps=STEPS).sum(2),
        "occlusion": lambda: FeatureAblation(net).attribute(x, baselines=zero, target=y),
    }


found = {}
for name, (net, x, y, layer) in problems().items():
    for method, run in (images if x.is_floating_point() else tokens)(net, x, y, layer).items():
        value, seconds = best(run)
        found[f"{name}, {method}"] = (value.detach(), seconds)
torch.save(found, sys.argv[1])
