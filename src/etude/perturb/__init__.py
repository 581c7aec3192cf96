"""Perturbations: from an episode to another one that differs in one factor and in nothing else."""

from etude.perturb.perturbation import PERTURBATIONS, Perturbation, perturbed, plausible

__all__ = ["PERTURBATIONS", "Perturbation", "perturbed", "plausible"]
