"""Which method for this table? Every method on the same splits, and a verdict that says what is real."""

from adacc.compare.contest import Contestant, Outcome, Plan, contest, contestants
from adacc.compare.problem import Problem, digits, read_problem
from adacc.compare.splits import Split, make_splits

__all__ = [
    "Contestant",
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
