"""What SMOTE or an under-sampler in front of AdaCCForestClassifier does to its predictions.

    python studies/resampling_first.py --data DIR

Takes the numeric sets of at most 4,000 rows without missing values and with 1 to 15 % positive rows, in two stratified
folds, and prints average precision and balanced accuracy.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from imblearn.over_sampling import SMOTE
from imblearn.under_sampling import RandomUnderSampler
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from adacc import AdaCCForestClassifier

MAX_ROWS, RATES = 4_000, (0.01, 0.15)
SAMPLERS = {"none": None, "SMOTE": SMOTE(random_state=0), "under-sampling": RandomUnderSampler(random_state=0)}


def measures(X: pd.DataFrame, y: np.ndarray) -> dict[str, np.ndarray]:
    """Average precision and balanced accuracy, by sampler."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SAMPLERS}
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        for name, sampler in SAMPLERS.items():
            rows = X.iloc[train], y[train]
            model = AdaCCForestClassifier(random_state=0).fit(*(sampler.fit_resample(*rows) if sampler else rows))
            score, predicted = model.predict_proba(X.iloc[test])[:, 1], model.predict(X.iloc[test])
            found[name].append((average_precision_score(y[test], score), balanced_accuracy_score(y[test], predicted)))
    return {name: np.mean(each, axis=0) for name, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    results = []
    for path in sorted(parser.parse_args().data.glob("*.parquet")):
        frame = pd.read_parquet(path)
        X, y = frame.drop(columns="target"), frame["target"].to_numpy()
        numeric = all(pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes) and not X.isna().any().any()
        if numeric and len(X) <= MAX_ROWS and RATES[0] < y.mean() < RATES[1]:
            results.append(measures(X.astype(float), y))
            print(path.stem, {name: each.round(3).tolist() for name, each in results[-1].items()}, flush=True)
    for name in SAMPLERS:
        print(f"mean of {len(results)} sets, {name}: {np.mean([each[name] for each in results], axis=0).round(3)}")


if __name__ == "__main__":
    main()
