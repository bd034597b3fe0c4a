"""Times a fit on a local Dask cluster, a fit in one process, and LightGBM on the same cluster.

python benchmarks/cluster.py
python benchmarks/cluster.py --rows 200000 --workers 2 --repeats 1

What crosses the network is measured as the bytes that one question and one answer take.
"""

from __future__ import annotations

import pickle
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait
from lightgbm import DaskLGBMClassifier
from report import Report
from tables import aligned, number

import adacc
from adacc.distributed import DaskBoostingClassifier
from adacc.distributed.cluster import DaskPartitions, Workers

N_COLUMNS, N_PARTITIONS, ROUNDS = 30, 20, 100
ASKED_OVERHEAD = 1.5
HERE = Path(__file__).resolve().parent


def part(seed: int, n_rows: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_rows, N_COLUMNS))


def labels(X: np.ndarray, seed: int) -> np.ndarray:
    noise = np.random.default_rng([seed, 1]).normal(size=len(X))
    return (X[:, :5].sum(axis=1) + 2 * noise > 4.5).astype(np.int64)


def in_memory(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    parts = [part(p, n_rows // N_PARTITIONS) for p in range(N_PARTITIONS)]
    y = np.concatenate([labels(X, p) for p, X in enumerate(parts)])
    return np.concatenate(parts), y


def on_workers(n_rows: int) -> tuple[da.Array, da.Array]:
    """The same rows, made and held by the workers."""
    n = n_rows // N_PARTITIONS
    made = [da.from_delayed(delayed(part)(p, n), (n, N_COLUMNS), float) for p in range(N_PARTITIONS)]
    X = da.concatenate(made).persist()
    parts = X.to_delayed().ravel()
    y = da.concatenate([da.from_delayed(delayed(labels)(each, p), (n,), np.int64) for p, each in enumerate(parts)])
    y = y.persist()
    wait([X, y])
    return X, y


class Clock:
    """Seconds in each part of a fit, and the bytes of one question and answer."""

    def __init__(self) -> None:
        self.seconds = {"survey": 0.0, "coding": 0.0, "rounds": 0.0}
        self.asked = self.answered = self.n_questions = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        kept = DaskPartitions.run, DaskPartitions.shard_executor, Workers.ask
        DaskPartitions.run = self._timed("survey", kept[0])  # type: ignore[method-assign]
        DaskPartitions.shard_executor = self._timed("coding", kept[1])  # type: ignore[method-assign]
        Workers.ask = self._timed("rounds", kept[2])  # type: ignore[method-assign]
        try:
            yield
        finally:
            DaskPartitions.run, DaskPartitions.shard_executor, Workers.ask = kept  # type: ignore[method-assign]

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            n_read = arguments[0]._n_read if name == "rounds" else 0
            began = perf_counter()
            answer = function(*arguments, **options)
            self.seconds[name] += perf_counter() - began
            if name == "rounds":
                self.asked += len(pickle.dumps(arguments[1][n_read:]))
                self.answered += len(pickle.dumps(answer))
                self.n_questions += 1
            return answer

        return timed


def seconds_of(repeats: int, fit: Callable[[], Any]) -> tuple[float, Any]:
    found = []
    for _ in range(repeats):
        began = perf_counter()
        model = fit()
        found.append(perf_counter() - began)
    return median(found), model


def in_one_process(n_rows: int, methods: list[str], repeats: int) -> dict[str, dict[str, Any]]:
    """The model of each method, and the seconds that it takes with one thread and with two."""
    X, y = in_memory(n_rows)
    found: dict[str, dict[str, Any]] = {}
    for method in methods:
        found[method] = {"seconds": []}
        for n_jobs in (1, 2):
            adacc.BoostingClassifier(method, n_estimators=2, n_jobs=n_jobs).fit(X[:1000], y[:1000])
            model = adacc.BoostingClassifier(method, n_estimators=ROUNDS, n_jobs=n_jobs)
            seconds, found[method]["model"] = seconds_of(repeats, partial(model.fit, X, y))
            found[method]["seconds"].append(seconds)
    return found


def measure(method: str, n_rows: int, n_workers: int, repeats: int, local: dict[str, Any]) -> dict[str, Any]:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        X, y = on_workers(n_rows)
        n_few = 2 * n_workers * n_rows // N_PARTITIONS
        DaskBoostingClassifier(method, n_estimators=2).fit(X[:n_few], y[:n_few])  # compiled from then on
        clock = Clock()
        with clock.watching():
            seconds, model = seconds_of(repeats, lambda: DaskBoostingClassifier(method, n_estimators=ROUNDS).fit(X, y))
        peer = DaskLGBMClassifier(n_estimators=ROUNDS, num_leaves=2, verbose=-1, client=client)
        lightgbm, _ = seconds_of(1, lambda: peer.fit(X, y))
    same = model.estimators_ == local["model"].estimators_
    return {
        "method": method,
        "rows": n_rows,
        "workers": n_workers,
        "seconds": seconds,
        **{name: value / repeats for name, value in clock.seconds.items()},
        "local_1_thread": local["seconds"][0],
        "local_2_threads": local["seconds"][1],
        "ratio": seconds / local["seconds"][0],
        "lightgbm_dask": lightgbm,
        "bytes_out_per_round": clock.asked / repeats / ROUNDS,
        "bytes_in_per_worker_and_round": clock.answered / repeats / ROUNDS,
        "questions_per_round": clock.n_questions / repeats / ROUNDS,
        "same_splits": same,
        "votes_apart": float(np.abs(model.estimator_weights_ - local["model"].estimator_weights_).max()),
    }


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 1_000_000, 2_000_000, 5_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--methods", nargs="+", default=["adacc1", "adaboost"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cluster")
    options = parser.parse_args()
    report, records = Report(options.out), []
    for n_rows in options.rows:
        local = in_one_process(n_rows, options.methods, options.repeats)
        for method in options.methods:
            for n_workers in options.workers:
                records.append(measure(method, n_rows, n_workers, options.repeats, local[method]))
                print(records[-1], flush=True)
    shown = [name for name in records[0] if name != "votes_apart"]
    rows = [
        [number(each[name]) if isinstance(each[name], float) else str(each[name]) for name in shown] for each in records
    ]
    report.show(aligned([[name.replace("_", " ") for name in shown]], rows, left=(0,)))
    report.write_csv("cluster.csv", records)
    largest = [each for each in records if each["rows"] == max(options.rows) and each["workers"] == 2]
    for each in largest:
        report.headline(
            f"{each['method']}, {each['rows']:,} rows, 2 workers: × local", each["ratio"], "", at_most=ASKED_OVERHEAD
        )
    if not all(each["same_splits"] for each in records):
        report.fail("the models of the cluster are not those of one process")
    report.close()


if __name__ == "__main__":
    main()
