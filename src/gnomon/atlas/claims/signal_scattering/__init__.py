"""Signal claims: Fourier transforms, convolutions, wavelets and scattering transforms."""
