"""Comparison of all methods on the same splits of a table, with tests of the differences."""

from adacc.compare.binary_problem import Problem
from adacc.compare.comparison import Contestant, Outcome, Plan, contest, contestants
from adacc.compare.multiclass_problem import MulticlassProblem
from adacc.compare.reading import digits, read_problem
from adacc.compare.splits import Split, make_splits

__all__ = [
    "Contestant",
    "MulticlassProblem",
    "Outcome",
    "Plan",
    "Problem",
    "Split",
    "contest",
    "contestants",
    "digits",
    "make_splits",
    "read_problem",
]
