"""Claims about wide networks and their kernels: Gaussian processes, tangent kernels, lazy and feature training."""
