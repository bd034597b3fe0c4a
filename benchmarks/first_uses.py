"""The first uses of adacc in a process, one after the other: prints their seconds, and those of each kernel."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from numba.core import event

import adacc

N_ROWS, N_COLUMNS, SMALL = 10_000, 20, 2_000


class KernelTimes(event.Listener):
    """Seconds of compilation by kernel, without those of the kernels and functions that it calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[float] = []

    def on_start(self, event: Any) -> None:
        self._open += [perf_counter(), 0.0]

    def on_end(self, event: Any) -> None:
        inner, began = self._open.pop(), self._open.pop()
        whole = perf_counter() - began
        function = event.data["dispatcher"].py_func
        name = function.__name__ if function.__module__.startswith("adacc") else "functions of Numba"
        self.seconds[name] = self.seconds.get(name, 0.0) + whole - inner
        if self._open:
            self._open[-1] += whole


def uses() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=N_ROWS) > 2.5).astype(int)
    frame = pd.DataFrame(X[:, :5]).add_prefix("x")
    frame["kind"], frame["group"] = rng.choice(list("abcdef"), N_ROWS), pd.Categorical(rng.choice(["u", "v"], N_ROWS))
    three = np.digitize(X[:, 0] + X[:, 1], [0.0, 2.0])
    sparse = scipy.sparse.random(N_ROWS, 200, 0.05, "csr", random_state=0)
    booster, forest = adacc.AdaCC1Classifier(), adacc.AdaCCForestClassifier()
    return {
        f"AdaCC1, fit and predict, {N_ROWS:,} x {N_COLUMNS} numbers, two classes": lambda: booster.fit(X, y).predict(X),
        f"forest, fit and predict, {SMALL:,} of these rows": lambda: forest.fit(X[:SMALL], y[:SMALL]).predict(
            X[:SMALL]
        ),
        "AdaCC1, a frame with categories": lambda: adacc.AdaCC1Classifier().fit(frame, y).predict(frame),
        "AdaCC1, three classes": lambda: adacc.AdaCC1Classifier().fit(X, three).predict(X),
        "AdaCC1, a sparse matrix": lambda: adacc.AdaCC1Classifier().fit(sparse, y).predict(sparse),
    }


def main() -> None:
    logging.getLogger("adacc.kernels").setLevel(logging.ERROR)
    times, seconds = KernelTimes(), {}
    event.register("numba:compile", times)
    for name, use in uses().items():
        began = perf_counter()
        use()
        seconds[name] = perf_counter() - began
    print(json.dumps({"uses": seconds, "kernels": times.seconds}))


if __name__ == "__main__":
    main()
