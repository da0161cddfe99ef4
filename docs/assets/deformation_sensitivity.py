"""The picture of docs/topics/scattering.md: sensitivity to dilations over five octaves of frequency.

python docs/assets/deformation_sensitivity.py docs/assets/deformation-sensitivity.png
"""

import sys

import matplotlib.pyplot as plt

from gnomon.scattering import Scattering1d, deformation_sensitivity, fourier_modulus

OCTAVES = [0.25 * 2.0**-k for k in range(6)]


def main(path: str) -> None:
    """Measure both, print the spreads, and draw them on the same axes."""
    scattering = Scattering1d(10, 8192, Q=1)
    settings = {"frequencies": OCTAVES, "warps": (0.002,), "width": 256.0}
    flat = deformation_sensitivity(lambda x: scattering(x) * scattering.gains()[:, None], 8192, **settings)
    steep = deformation_sensitivity(fourier_modulus, 8192, **settings)
    figure, axes = plt.subplots(figsize=(6.4, 4.0), dpi=140)
    for found, name, mark in ((steep, "Fourier modulus", "o"), (flat, "scattering", "s")):
        label = f"{name}: slope {found.growth:.2f}, largest / smallest {found.spread:.2f}"
        print(label)
        axes.loglog(found.frequencies, found.sensitivity[:, 0], marker=mark, label=label)
    axes.set_xlabel("frequency of the wave packet, cycles per sample")
    axes.set_ylabel("change / (dilation |x|)")
    axes.set_title("The same dilation of 0.2 %, at five octaves of frequency")
    axes.legend(loc="upper left")
    axes.set_ylim(top=axes.get_ylim()[1] * 3)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main(sys.argv[1])
