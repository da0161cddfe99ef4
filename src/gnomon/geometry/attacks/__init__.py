"""Attacks, one family in a file: objects that say how to look for a wrong decision, and what runs them."""

from gnomon.geometry.attacks.apgd import APGD, TargetedAPGD
from gnomon.geometry.attacks.base import AbstractAttack
from gnomon.geometry.attacks.closest import Closest, Sampled
from gnomon.geometry.attacks.deepfool import DeepFool
from gnomon.geometry.attacks.gradient import FGSM, PGD
from gnomon.geometry.attacks.minimum import MinimumNorm
from gnomon.geometry.attacks.run import Attack, attack, minimal_distance
from gnomon.geometry.attacks.shrinking import Shrinking
from gnomon.geometry.attacks.square import Square
from gnomon.geometry.attacks.universal import UniversalPerturbation, universal_perturbation

__all__ = [
    "APGD",
    "FGSM",
    "PGD",
    "Sampled",
    "AbstractAttack",
    "Attack",
    "Closest",
    "DeepFool",
    "MinimumNorm",
    "Shrinking",
    "Square",
    "TargetedAPGD",
    "UniversalPerturbation",
    "attack",
    "minimal_distance",
    "universal_perturbation",
]
