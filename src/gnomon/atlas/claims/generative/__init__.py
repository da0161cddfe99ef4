"""Autoencoders, adversarial games, diffusion and flows."""
