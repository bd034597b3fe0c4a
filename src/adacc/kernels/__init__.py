"""All compiled functions. Their arguments are arrays and numbers.

The files, in the order of their use: `thresholds` (values to bin thresholds), `binning` (values to bins), `histograms`
(bins to histograms), `splits` (histograms to splits), `monotonic` (constraints of splits), `trees` (splits to trees),
`gradients` (gradient boosting of symmetric trees), `leaves` (the leaves of rows in trees), `weights` (predictions to
scores and weights), and `shapley` and `effects` (explanations of trees). Rows are grouped by class: rows
``starts[k]:starts[k + 1]`` belong to class k. Outputs are the last arguments, preallocated.
"""

from adacc.kernels.binning import (
    add_steps,
    all_same,
    bin_by_search,
    bin_integers,
    bin_on_grid,
    bin_rows,
    find_first,
    hash_entries,
    hash_rows,
    pad,
    take_columns,
)
from adacc.kernels.effects import add_main_effects, add_pair_effects
from adacc.kernels.gradients import boost_gradients
from adacc.kernels.histograms import add_entries, add_rows, fill_defaults
from adacc.kernels.leaves import PACKED_BLOCK, add_leaves, add_packed_leaves, find_leaves
from adacc.kernels.shapley import MAX_PATTERN_FEATURES, add_interactions, add_shapley_values
from adacc.kernels.splits import ENTROPY, ERROR, GINI, best_monotone_splits, best_splits, best_splits_two, choose_split
from adacc.kernels.thresholds import (
    BLOCK,
    MAX_GROUPS,
    MIN_VALUES_PER_INTEGER,
    count_integers,
    fill_bins,
    group_values,
    whole_range,
)
from adacc.kernels.trees import MAX_SMALL_NODE_ROWS, grow_tree
from adacc.kernels.weights import add_votes, add_votes_each, reweigh, weigh_pairs

__all__ = [
    "BLOCK",
    "ENTROPY",
    "ERROR",
    "GINI",
    "MAX_GROUPS",
    "MAX_PATTERN_FEATURES",
    "MAX_SMALL_NODE_ROWS",
    "MIN_VALUES_PER_INTEGER",
    "PACKED_BLOCK",
    "add_entries",
    "add_interactions",
    "add_leaves",
    "add_main_effects",
    "add_packed_leaves",
    "add_pair_effects",
    "add_rows",
    "add_shapley_values",
    "add_steps",
    "add_votes",
    "add_votes_each",
    "all_same",
    "best_monotone_splits",
    "best_splits",
    "best_splits_two",
    "bin_by_search",
    "bin_integers",
    "bin_on_grid",
    "bin_rows",
    "boost_gradients",
    "choose_split",
    "count_integers",
    "fill_bins",
    "fill_defaults",
    "find_first",
    "find_leaves",
    "group_values",
    "grow_tree",
    "hash_entries",
    "hash_rows",
    "pad",
    "reweigh",
    "take_columns",
    "weigh_pairs",
    "whole_range",
]
