"""What tests have other processes do; a module of its own, so that these can import it."""

import os
import threading
import time

import numpy as np

import adacc
from adacc.estimators.saving import pack


def table(n_rows=4000, n_columns=6, seed=0):
    """Numbers and a rare class; with more values than bins from 300 rows on."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 6 == 0
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :3] += y[:, None] * [1.2, 0.8, 0.5]
    X[::9, 1] = 0.0
    return X, y


def small(method="adacc1", n_estimators=6, **options):
    return adacc.BoostingClassifier(method, n_estimators=n_estimators, random_state=0, **options)


def bits(model):
    """All of a fitted model, as the bytes of its file; how many threads it was given is no part of it."""
    given = model.n_jobs
    try:
        return pack(model.set_params(n_jobs=None), {})
    finally:
        model.set_params(n_jobs=given)


def fitted_bits(method="adacc1", n_jobs=None, **size):
    return bits(small(method, n_jobs=n_jobs).fit(*table(**size)))


def threads_of_fit(n_jobs):
    """Threads of this process that a fit adds while it runs, and that are left of it; those of libraries too."""
    X, y = table(20_000, 24)
    small(n_jobs=n_jobs).fit(X[:300], y[:300])  # all that is loaded once has been loaded
    done, most = threading.Event(), 0

    def watch():
        nonlocal most
        while not done.wait(0.001):
            most = max(most, len(os.listdir("/proc/self/task")))

    def count():
        time.sleep(0.05)  # a thread that was joined is on the system's list for a moment yet
        return len(os.listdir("/proc/self/task"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    before, most = count(), 0
    small(n_jobs=n_jobs, n_estimators=40).fit(X, y)
    after = count()
    done.set()
    watcher.join()
    return most - before, after - before
