"""Adversarial attacks, one family of attacks per file, and the functions that run them."""

from gnomon.robustness.attacks.apgd import APGD, TargetedAPGD
from gnomon.robustness.attacks.attack_order import MostVulnerableFirst, SampleFirst
from gnomon.robustness.attacks.base import AbstractAttack
from gnomon.robustness.attacks.deepfool import DeepFool
from gnomon.robustness.attacks.gradient import FGSM, PGD
from gnomon.robustness.attacks.minimum import MinimumNormAttack
from gnomon.robustness.attacks.run import AttackResult, attack, minimal_distance
from gnomon.robustness.attacks.shrinking import ShrinkingSteps
from gnomon.robustness.attacks.square import SquareAttack
from gnomon.robustness.attacks.universal import UniversalPerturbation, universal_perturbation

__all__ = [
    "APGD",
    "FGSM",
    "PGD",
    "SampleFirst",
    "AbstractAttack",
    "AttackResult",
    "MostVulnerableFirst",
    "DeepFool",
    "MinimumNormAttack",
    "ShrinkingSteps",
    "SquareAttack",
    "TargetedAPGD",
    "UniversalPerturbation",
    "attack",
    "minimal_distance",
    "universal_perturbation",
]
