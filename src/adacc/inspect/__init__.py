"""Displays of models and results, with `plot()` and `frame()`. The only package that imports matplotlib."""

from adacc.inspect.boundary import BoundaryDisplay
from adacc.inspect.confidence import ConfidenceDisplay
from adacc.inspect.contributions import (
    BeeswarmDisplay,
    ContributionDisplay,
    DependenceDisplay,
    WaterfallDisplay,
)
from adacc.inspect.curves import LearningCurveDisplay
from adacc.inspect.importance import ImportanceDisplay
from adacc.inspect.ranks import CriticalDifferenceDisplay, RankDisplay
from adacc.inspect.shapes import ShapeDisplay
from adacc.inspect.training import BoundDisplay, TrainingDisplay

__all__ = [
    "BeeswarmDisplay",
    "BoundDisplay",
    "BoundaryDisplay",
    "ConfidenceDisplay",
    "ContributionDisplay",
    "CriticalDifferenceDisplay",
    "DependenceDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "RankDisplay",
    "ShapeDisplay",
    "TrainingDisplay",
    "WaterfallDisplay",
]
