"""The family: each method as formulas on K×K numbers."""

from adacc.algorithms.base import Rule
from adacc.algorithms.catalog import METHODS, Method, methods

__all__ = ["METHODS", "Method", "Rule", "methods"]
