"""Training settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from adacc.algorithms import Method, Rule
from adacc.learners.growth import Growth


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

    def with_costs(self, costs: Any) -> Settings:
        """The settings with other costs."""
        return replace(self, options={**self.options, "costs": costs})

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
