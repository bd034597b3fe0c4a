"""The boosting methods as formulas on K×K numbers, and their catalogue."""

from adacc.algorithms.base import Rule
from adacc.algorithms.catalog import METHODS, Method, methods

__all__ = ["METHODS", "Method", "Rule", "methods"]
