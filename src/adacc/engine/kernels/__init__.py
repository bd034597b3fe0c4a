"""Every compiled function. They know arrays and nothing else.

Five files, in the order of their use: values to bins, and to codes, these to splits, splits to trees, and either to
weights. Rows stand grouped by class: ``starts[k]:starts[k + 1]`` are the rows of class k, so no label is ever looked
up. Outputs come last, preallocated.
"""

from adacc.engine.kernels.binning import find_thresholds, whole_range
from adacc.engine.kernels.coding import (
    add_steps,
    all_same,
    code_values,
    commonest,
    find_first,
    hash_entries,
    hash_rows,
    take_columns,
)
from adacc.engine.kernels.growing import add_leaves, find_leaves, grow_tree
from adacc.engine.kernels.splitting import (
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
from adacc.engine.kernels.weighing import add_votes, add_votes_each, reweigh, weigh_pairs

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
