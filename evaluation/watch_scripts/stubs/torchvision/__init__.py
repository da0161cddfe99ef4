"""The few names of torchvision that the scripts use, on local data."""

from torchvision import datasets, transforms, utils

__all__ = ["datasets", "transforms", "utils"]
