"""Training settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from adacc.algorithms import Method, Rule
from adacc.learners.growth import Growth
from adacc.learners.splits import MonotonicCst
from adacc.model.coding import Codes, one_vs_one, one_vs_rest

MAX_PAIRED_CLASSES = 10
"""By default, up to this many classes are told apart in pairs, and more of them one against the rest."""


@dataclass(frozen=True)
class Settings:
    """Everything that determines a fitted model, except the data."""

    method: Method
    rule: Rule
    options: dict[str, Any]
    estimator: Any
    n_rounds: int
    learning_rate: float
    criterion: str
    growth: Growth
    subsample: float
    out_of_bag: bool
    max_bins: int | None
    patience: int | None
    validation_fraction: float
    n_threads: int
    seed: int
    multi_class: str = "joint"
    monotonic_cst: MonotonicCst | None = None

    def with_costs(self, costs: Any) -> Settings:
        """The settings with other costs."""
        return replace(self, options={**self.options, "costs": costs})

    def codes(self, n_classes: int) -> Codes | None:
        """The two-class problems that are boosted for so many classes; None if all classes are boosted together."""
        if n_classes == 2 or self.multi_class == "joint":
            return None
        pairwise = self.multi_class == "one_vs_one" or (self.multi_class == "auto" and n_classes <= MAX_PAIRED_CLASSES)
        return one_vs_one(n_classes) if pairwise else one_vs_rest(n_classes)

    @property
    def native_learner(self) -> str | None:
        """Name of the weak learner in `LEARNERS`; None for an external classifier."""
        if self.estimator is None:
            return "stump" if self.growth.is_stump else "tree"
        return self.estimator if isinstance(self.estimator, str) else None

    @property
    def calibration(self) -> str | None:
        return self.options["calibration"]

    @property
    def draws_rows(self) -> bool:
        """Whether the weak learner of a round is fitted to a sample of the rows."""
        return self.method.sampler is not None or self.subsample < 1.0

    @property
    def decides_by_probability(self) -> bool:
        """Whether calibrated probabilities, instead of votes, determine the predicted class."""
        return self.calibration is not None and self.method.decides_by_probability
