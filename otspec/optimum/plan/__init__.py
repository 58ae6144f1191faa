"""Couplings of drafts and output, and the best of them."""

from otspec.optimum.plan.completed import Decomposition, Plan, optimal_plan, plan_from

__all__ = ["Decomposition", "Plan", "optimal_plan", "plan_from"]
