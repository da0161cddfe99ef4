"""Networks with fixed sizes that several files of cases share."""

from functools import partial

from torch import nn

from evaluation.faults.models.dense import dense_for_table, perceptron
from evaluation.faults.models.images import ResNet18
from evaluation.faults.models.transformers import Mixer, VisionTransformer

mnist_dense = partial(perceptron, (784, 256, 128, 10))
mnist_dense_tanh = partial(perceptron, (784, 256, 128, 10), nn.Tanh)
eight_columns = partial(perceptron, (8, 64, 64, 1))
ten_columns = partial(perceptron, (10, 64, 64, 1))
ten_columns_shallow = partial(perceptron, (10, 64, 1))
robot_arm_dense = partial(perceptron, (4, 96, 96, 3))
rent_dense = partial(perceptron, (7, 64, 64, 1))
wine_dense = partial(perceptron, (13, 32, 3))
cancer_dense = partial(perceptron, (30, 64, 2))
color_resnet = partial(ResNet18, 16)
texture_resnet = partial(ResNet18, 16, 6)
shape_resnet = partial(ResNet18, 16, 5, shortcut_norm=False)
texture_vit = partial(VisionTransformer, 3, 32, 8, layers=3, classes=6, expansion=4, dropout=0.1)
texture_mixer = partial(Mixer, 3, 32, 4, layers=3, classes=6)


def gelu_table(name):
    """A dense network with GELU and one hidden layer for a table of UCI."""
    return dense_for_table(name, (96,), nn.GELU)


def silu_table(name, width=96, **options):
    """A dense network with SiLU and two hidden layers for a table of UCI."""
    return dense_for_table(name, (width, width), nn.SiLU, **options)
