"""Transformations of one image, which is a tensor of bytes here."""

import torch


class Compose:
    """One transformation after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        """The changed image."""
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    """Bytes to numbers between 0 and 1, with an axis of channels."""

    def __call__(self, image):
        """The changed image."""
        return image[None].to(torch.float32).div(255)


class Normalize:
    """Subtracts a mean and divides by a standard deviation."""

    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean).view(-1, 1, 1), torch.tensor(std).view(-1, 1, 1)

    def __call__(self, image):
        """The changed image."""
        return (image - self.mean) / self.std


class Lambda:
    """Any function."""

    def __init__(self, function):
        self.function = function

    def __call__(self, image):
        """The changed image."""
        return self.function(image)
