"""Generative claims: autoencoders, adversarial games, diffusion and normalizing flows."""
