"""Fourier transforms, convolutions, wavelets and scattering."""
