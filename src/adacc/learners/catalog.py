"""The native weak learners by name. CONTRIBUTING.md shows how to add one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adacc.learners.base import Learner, LearnerInput, Models
from adacc.learners.stump import StumpLearner, Stumps
from adacc.learners.tree import TreeLearner, Trees


class NativeLearner(NamedTuple):
    """A weak learner that reads binned data.

    Attributes
    ----------
    make : callable
        Makes the learner from a `LearnerInput`.
    models : type of Models
        The fitted models of all rounds.
    onnx : str or None
        Function that writes the votes to an ONNX graph, as "module:name"; None if they cannot be exported. It is named,
        not imported, because onnx is an optional dependency.
    monotonic : bool
        Whether the learner keeps monotonic constraints.
    """

    make: Callable[[LearnerInput], Learner]
    models: type[Models]
    onnx: str | None = None
    monotonic: bool = False


LEARNERS = {
    "stump": NativeLearner(StumpLearner.make, Stumps, "adacc.export.additive:as_sum", monotonic=True),
    "tree": NativeLearner(TreeLearner.make, Trees, "adacc.export.trees:as_forest", monotonic=True),
}
