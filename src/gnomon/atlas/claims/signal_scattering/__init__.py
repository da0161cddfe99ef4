"""Claims about signals: Fourier transforms, convolutions, wavelets and scattering transforms."""
