"""The libraries that are compared, and how each is asked for stumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

ROUNDS = 200


@dataclass(frozen=True)
class Peer:
    """A classifier with ``n_estimators``; what else it needs to boost stumps is in `options`."""

    name: str
    distribution: str
    module: str
    classifier: str
    fitted_rounds: Callable[[Any], int]
    options: Mapping[str, Any] = field(default_factory=dict)
    # Options that weigh the classes equally, from the labels; None where that is not asked.
    class_weights: Callable[[NDArray[np.int64]], dict[str, Any]] | None = None
    threaded: bool = True
    slow: bool = False

    @property
    def version(self) -> str:
        return version(self.distribution)

    @property
    def model(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.classifier}({settings})"

    def make(self, rounds: int, threads: int, **more: Any) -> Any:
        if self.threaded:
            more["n_jobs"] = threads
        return getattr(import_module(self.module), self.classifier)(n_estimators=rounds, **self.options, **more)

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


ADACC = Peer("adacc", "adacc", "adacc", "AdaCC1Classifier", fitted_rounds=lambda model: model.n_iter_)

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
            threaded=False,
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
            options={"tree_method": "hist", "max_depth": 1},
            class_weights=lambda y: {"scale_pos_weight": float(np.sum(y == 0) / np.sum(y == 1))},
        ),
    )
}


def usable_peers() -> tuple[list[Peer], list[str]]:
    """The peers at hand, and a line on each that is not."""
    reasons = {name: peer.why_missing() for name, peer in PEERS.items()}
    usable = [peer for name, peer in PEERS.items() if reasons[name] is None]
    return usable, [f"{name}: skipped, {reason}" for name, reason in reasons.items() if reason is not None]
