"""Comparison of all methods on the same splits of a table, with tests of the differences."""

from adacc.comparison.binary_problem import BinaryProblem
from adacc.comparison.cross_validation import MethodInfo, Outcome, Plan, available_methods, run_comparison
from adacc.comparison.multiclass_problem import MulticlassProblem
from adacc.comparison.reading import digits, read_problem
from adacc.comparison.splits import Split, make_splits

__all__ = [
    "BinaryProblem",
    "MethodInfo",
    "MulticlassProblem",
    "Outcome",
    "Plan",
    "Split",
    "available_methods",
    "digits",
    "make_splits",
    "read_problem",
    "run_comparison",
]
