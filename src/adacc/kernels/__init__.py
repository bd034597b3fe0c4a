"""Every compiled function. They know arrays and nothing else.

Five files, in the order of their use: values to bins, and to codes, these to splits, splits to trees, and either to
weights. Rows stand grouped by class: ``starts[k]:starts[k + 1]`` are the rows of class k, so no label is ever looked
up. Outputs come last, preallocated.
"""

from adacc.kernels.binning import (
    add_steps,
    all_same,
    code_values,
    commonest,
    find_first,
    hash_entries,
    hash_rows,
    take_columns,
)
from adacc.kernels.splits import (
    ENTROPY,
    ERROR,
    GINI,
    add_entries,
    add_rows,
    best_splits,
    best_splits_two,
    carry,
    choose_split,
    fill_defaults,
)
from adacc.kernels.thresholds import find_thresholds, whole_range
from adacc.kernels.trees import add_leaves, find_leaves, grow_tree
from adacc.kernels.weights import add_votes, add_votes_each, reweigh, weigh_pairs

__all__ = [
    "ENTROPY",
    "ERROR",
    "GINI",
    "add_entries",
    "add_leaves",
    "add_rows",
    "add_steps",
    "add_votes",
    "add_votes_each",
    "all_same",
    "best_splits",
    "best_splits_two",
    "carry",
    "choose_split",
    "code_values",
    "commonest",
    "fill_defaults",
    "find_first",
    "find_leaves",
    "find_thresholds",
    "grow_tree",
    "hash_entries",
    "hash_rows",
    "reweigh",
    "take_columns",
    "weigh_pairs",
    "whole_range",
]
