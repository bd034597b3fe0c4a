"""The libraries of the benchmark, and their settings for stumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from data import Data
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

ROUNDS = 200


@dataclass(frozen=True, eq=False)  # there is one of each
class Peer:
    """A classifier, and what it needs to boost so many stumps with so many threads."""

    name: str
    distribution: str
    module: str
    classifier: str
    fitted_rounds: Callable[[Any], int]
    options: Mapping[str, Any] = field(default_factory=dict)
    rounds_option: str = "n_estimators"
    # None: it has one thread, or is told by `limited_threads`.
    threads_option: str | None = "n_jobs"
    threaded: bool = True
    # Options that weigh the classes equally, from the labels; None where the method needs none.
    class_weights: Callable[[NDArray[np.int64]], dict[str, Any]] | None = None
    takes_categories: bool = True
    # Only a few of its rounds are run where all would take minutes.
    slow: bool = False
    # What its fit raises where it can do nothing with the data.
    refusal: tuple[type[Exception], ...] = ()

    @property
    def version(self) -> str:
        return version(self.distribution)

    @property
    def model(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.classifier}({settings})"

    def make(self, rounds: int, threads: int, **more: Any) -> Any:
        more[self.rounds_option] = rounds
        if self.threads_option is not None:
            more[self.threads_option] = threads
        return getattr(import_module(self.module), self.classifier)(**self.options, **more)

    def read(self, data: Data) -> Any:
        """X as the library takes it."""
        return data.X if self.takes_categories else data.one_hot

    def why_missing(self) -> str | None:
        """None when the library can be used, else a word on why not."""
        try:
            import_module(self.module)
        except ModuleNotFoundError:
            return "not installed"
        # Whatever a broken installation raises (a missing OpenMP library, say) must not end the benchmark.
        except Exception as error:
            return f"cannot be imported: {type(error).__name__}"
        return None


ADACC = Peer(
    "adacc", "adacc", "adacc.estimators.classifiers", "AdaCC1Classifier", fitted_rounds=lambda model: model.n_iter_
)

RUSBOOST = Peer(
    "RUSBoost",
    "imbalanced-learn",
    "imblearn.ensemble",
    "RUSBoostClassifier",
    fitted_rounds=lambda model: len(model.estimators_),
    options={"estimator": DecisionTreeClassifier(max_depth=1), "random_state": 0},
    threads_option=None,
    threaded=False,
    takes_categories=False,
    slow=True,
    refusal=(ValueError,),  # already its first stump is no better than chance
)

PEERS = {
    peer.name: peer
    for peer in (
        ADACC,
        Peer(
            "scikit-learn",
            "scikit-learn",
            "sklearn.ensemble",
            "AdaBoostClassifier",
            fitted_rounds=lambda model: len(model.estimators_),
            options={"estimator": DecisionTreeClassifier(max_depth=1)},
            threads_option=None,
            threaded=False,
            takes_categories=False,
            slow=True,
        ),
        Peer(
            "LightGBM",
            "lightgbm",
            "lightgbm",
            "LGBMClassifier",
            fitted_rounds=lambda model: model.booster_.num_trees(),
            # The layout that LightGBM would else spend part of the fit to find; the model is the same.
            options={"num_leaves": 2, "force_col_wise": True, "verbose": -1},
            class_weights=lambda y: {"class_weight": "balanced"},
        ),
        Peer(
            "XGBoost",
            "xgboost",
            "xgboost",
            "XGBClassifier",
            fitted_rounds=lambda model: model.get_booster().num_boosted_rounds(),
            options={"tree_method": "hist", "max_depth": 1, "enable_categorical": True},
            class_weights=lambda y: {"scale_pos_weight": float(np.sum(y == 0) / np.sum(y == 1))},
        ),
        Peer(
            "HistGB",
            "scikit-learn",
            "sklearn.ensemble",
            "HistGradientBoostingClassifier",
            fitted_rounds=lambda model: model.n_iter_,
            options={"max_leaf_nodes": 2, "early_stopping": False, "categorical_features": "from_dtype"},
            rounds_option="max_iter",
            threads_option=None,
            class_weights=lambda y: {"class_weight": "balanced"},
        ),
        RUSBOOST,
    )
}


def usable_peers() -> tuple[list[Peer], list[str]]:
    """The peers at hand, and a line on each that is not."""
    reasons = {name: peer.why_missing() for name, peer in PEERS.items()}
    usable = [peer for name, peer in PEERS.items() if reasons[name] is None]
    return usable, [f"{name}: skipped, {reason}" for name, reason in reasons.items() if reason is not None]


def limited_threads(threads: int) -> AbstractContextManager[Any]:
    """So many threads for libraries that ask OpenMP alone; these must be imported by then."""
    return threadpool_limits(threads)
