"""The most that any rule accepts, lossless or nearly so, with a certificate (Theory, 1 and 27)."""

from otspec.optimum.acceptance import (
    MaskPrice,
    optimal_acceptance,
    optimal_acceptances,
    price_of_mask,
)
from otspec.optimum.budgets import Budget, FrontierProgram, TotalVariation
from otspec.optimum.certificate import LossyOptimum, Optimum
from otspec.optimum.chosen_law import BestLaw, SafestLaw
from otspec.optimum.cuts.minimum import cut_bound
from otspec.optimum.divergences import KullbackLeibler, Renyi, ReverseKullbackLeibler
from otspec.optimum.inclusion import InclusionBound, inclusion_bound, safest_bound
from otspec.optimum.law_search import best_law, safest_law

__all__ = [
    "BestLaw",
    "Budget",
    "FrontierProgram",
    "InclusionBound",
    "KullbackLeibler",
    "LossyOptimum",
    "MaskPrice",
    "Optimum",
    "Renyi",
    "ReverseKullbackLeibler",
    "SafestLaw",
    "TotalVariation",
    "best_law",
    "cut_bound",
    "inclusion_bound",
    "optimal_acceptance",
    "optimal_acceptances",
    "price_of_mask",
    "safest_bound",
    "safest_law",
]
