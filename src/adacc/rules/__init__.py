"""The family: each method as formulas on K×K numbers."""

from adacc.rules.base import Rule
from adacc.rules.registry import METHODS, Method, methods

__all__ = ["METHODS", "Method", "Rule", "methods"]
