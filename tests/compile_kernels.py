"""Compile what the tests need of the kernels, before several processes want it at once and each compiles all of it."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from scipy import sparse

import adacc
from adacc.kernels.warmup import compile_kernels, signatures

STUMPS = [{}, {"max_bins": None}, {"subsample": 0.5}]
TREES = [{"max_bins": max_bins, "max_depth": depth} for max_bins in (255, None) for depth in (3, None)]


CONSTRAINED = [{}, *({"max_depth": 3, **options} for options in ({}, {"criterion": "entropy"}, {"max_features": 1}))]


def compile_and_fit(common, each, constrained):
    """The common kernels; models with these options of tables of each kind, with weights, two and three classes; models
    with constraints.
    """
    list(compile_kernels(common))
    rng = np.random.default_rng(0)
    y = np.arange(600) % 6
    X = np.column_stack([rng.normal(size=(600, 3)) + (y == 0)[:, None], rng.random(600) < 0.1, np.arange(600) % 9])
    frame = pd.DataFrame(X).rename(columns=str).assign(text=np.where(y % 2, "a", "b"))
    for labels in (y == 0, np.minimum(y, 2)):
        for options in each:
            for rows in (X, X[:, 3:], frame, sparse.csr_array(X)):
                model = adacc.AdaCC1Classifier(n_estimators=20, random_state=0, **options)
                model.fit(rows, labels, sample_weight=rng.random(600)).predict_proba(rows)
                model.fit(rows, labels)
                if options in TREES:
                    model.explain(rows[:9], interactions=True)
                    model.explain(rows[:9], background=rows[:9], interactions=True)
                    model.shape_functions()
                    model.shape_functions(rows[:9])
    for options in constrained:
        adacc.AdaCC1Classifier(n_estimators=2, monotonic_cst=[1, 0, 0, 0, 0], **options).fit(X, y == 0)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        constrained = CONSTRAINED[:2], CONSTRAINED[2:]
        list(pool.map(compile_and_fit, [signatures(), signatures()[::-1]], [STUMPS, TREES], constrained))
