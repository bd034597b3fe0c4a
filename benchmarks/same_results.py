"""Checks that two versions of adacc give bit-identical models on every published set.

python benchmarks/same_results.py write before.json     with the version before a change
python benchmarks/same_results.py check before.json     with the version after it

Every method, trees, a calibrated booster and the forest are fitted to each set; what is compared is a digest of the
votes, the history, the scores and the probabilities.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from data import default_folder, find_sets, load_set
from sklearn.exceptions import ConvergenceWarning

import adacc

ROUNDS = 20
TRAINED_ROWS = 20_000
"""Rows of a larger set that are trained on; all are predicted."""


def main() -> None:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("write", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--data-dir", type=Path, default=default_folder(), help="the folder of the sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = {name: dict(digests(path)) for name, path in find_sets(options.data_dir).items()}
    if options.action == "write":
        options.file.write_text(json.dumps(found, indent=1) + "\n")
        return
    before = json.loads(options.file.read_text())
    different = {
        name: [model for model in models if before[name].get(model, "new") != models[model]]
        for name, models in found.items()
    }
    for name, models in different.items():
        if models:
            print(f"{name}: {', '.join(models)}")
    equal = sum(not models for models in different.values())
    print(f"{equal} of {len(found)} equal, {len(models_to_fit())} models each")
    sys.exit(equal < len(found))


def models_to_fit() -> dict[str, Callable[[], Any]]:
    """Constructors, by name."""
    settings = {"n_estimators": ROUNDS, "random_state": 0}
    boosters = {
        f"{method} {dialect}": partial(adacc.BoostingClassifier, method, dialect=dialect, **settings)
        for method in adacc.methods()
        for dialect in ("paper", "authors")
    }
    return {
        **boosters,
        "trees": partial(adacc.AdaCC1Classifier, max_depth=3, max_leaf_nodes=6, **settings),
        "sampled trees": partial(adacc.AdaCC2Classifier, max_depth=4, subsample=0.5, rates="out-of-bag", **settings),
        "calibrated": partial(adacc.AdaCC2Classifier, calibration="isotonic", calibration_cv=3, **settings),
        "stopped early": partial(adacc.AdaCC1Classifier, n_iter_no_change=5, **settings),
        "search": lambda: adacc.CostSearchCV(adacc.CGAdaClassifier(**settings), rounds=[5, ROUNDS], cv="training"),
        "forest": partial(adacc.AdaCCForestClassifier, n_estimators=6, random_state=0),
    }


def digests(path: Path) -> Iterator[tuple[str, str]]:
    data = load_set(path)
    trained = data.sample(TRAINED_ROWS)
    for name, make in models_to_fit().items():
        print(f"{data.name}: {name}", file=sys.stderr)
        try:
            model = make().fit(trained.X, trained.y)
        except ValueError as error:  # such as gaps, which SMOTEBoost refuses
            yield name, f"ValueError: {error}"
            continue
        yield name, digest(model, data.X)


def digest(model: Any, X: Any) -> str:
    fitted = getattr(model, "best_estimator_", model)
    history = [fitted.history_[key] for key in sorted(fitted.history_)]
    parts = [*history, fitted.estimator_weights_, fitted.decision_function(X), fitted.predict_proba(X)]
    found = hashlib.sha256()
    for part in parts:
        found.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()
