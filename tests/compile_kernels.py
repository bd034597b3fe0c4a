"""Compile what the tests need of the kernels in one process, before several want it at once and each compiles it."""

import numpy as np
import pandas as pd
from scipy import sparse

import adacc


def main():
    """Tables of each kind, two and three classes, stumps and trees, all rows and some of them."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 6
    X = np.column_stack([rng.normal(size=(600, 3)) + (y == 0)[:, None], rng.random(600) < 0.1, np.arange(600) % 9])
    frame = pd.DataFrame(X).rename(columns=str).assign(text=np.where(y % 2, "a", "b"))
    for labels in (y == 0, np.minimum(y, 2)):
        for options in ({}, {"max_bins": None}, {"max_depth": 3}, {"subsample": 0.5}):
            for rows in (X, X[:, 3:], frame, sparse.csr_array(X), X.astype(np.float32)):
                model = adacc.AdaCC1Classifier(n_estimators=20, random_state=0, **options)
                model.fit(rows, labels, sample_weight=rng.random(600)).predict_proba(rows)
                model.fit(rows, labels)
        for method in ("rareboost", "rusboost", "smoteboost"):
            adacc.BoostingClassifier(method, n_estimators=3, random_state=0).fit(X, labels).predict(X)
        adacc.AdaCCForestClassifier(n_estimators=3, random_state=0).fit(X, labels).predict(X)


if __name__ == "__main__":
    main()
