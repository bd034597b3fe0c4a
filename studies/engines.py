"""Time of the study with scikit-learn's stumps: one fold, every method, both engines.

python studies/engines.py wilt --data-dir DIR
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from dataclasses import replace
from time import perf_counter

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import adacc
from adacc.algorithms import METHODS
from adacc.evaluation.fold_data import FoldData
from adacc.evaluation.fold_trainer import FoldTrainer
from adacc.study.protocol import Task, read_protocol
from adacc.study.run import load, split


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--data-dir")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    protocol = replace(read_protocol("paper"), rounds=(options.rounds,))
    data = load(options.dataset, None, options.data_dir)
    train, test = split(protocol, Task(options.dataset, 0, 0), data.target)
    X, X_test, y = data.frame.iloc[train], data.frame.iloc[test], data.target[train]
    fold = FoldData(X, y, X_test, list(protocol.rounds), 0)
    FoldTrainer(fold, protocol.training_options).predict(*next(protocol.variants()))  # compiled, if it was not

    own = others = 0.0
    trainer = FoldTrainer(fold, protocol.training_options)
    for variant in protocol.variants():
        if METHODS[variant.method].sampler is not None:
            continue
        began = perf_counter()
        trainer.predict(*variant)
        own += perf_counter() - began
        began = perf_counter()
        costs = protocol.costs if METHODS[variant.method].rule.uses_costs else [None]
        costs = costs[:1] if METHODS[variant.method].rule.costs_decide_only else costs  # boosted once, there too
        for cost in costs:
            given = {} if cost is None else {"costs": {0: cost, 1: 1.0}}
            stump = DecisionTreeClassifier(max_depth=1)
            model = adacc.BoostingClassifier(
                variant.method,
                dialect=variant.dialect,
                estimator=stump,
                n_estimators=options.rounds,
                pos_label=1,
                **given,
            )
            model.fit(X.to_numpy(dtype=np.float32), y)
        others += perf_counter() - began
        print(f"{variant.method:12} {variant.dialect:8} {own:8.1f} s {others:8.1f} s so far", flush=True)
    print(
        f"{options.dataset}: {own:.1f} s a fold, with scikit-learn's stumps {others:.1f} s ({others / own:.0f} times)"
    )


if __name__ == "__main__":
    main()
