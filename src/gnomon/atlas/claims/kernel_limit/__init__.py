"""Claims about wide networks: their Gaussian processes, tangent kernels, and lazy or feature-learning training."""
