"""What several tests of rows on a Dask cluster need."""

from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster

WATCH_LITTLE = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""Dask's profiler and its monitors take a tenth of a core by themselves; so set, a quarter of that."""


@contextmanager
def cluster_of(n_workers, n_threads=1):
    """A client of workers that are processes of their own."""
    options = {"n_workers": n_workers, "threads_per_worker": n_threads, "processes": True, "dashboard_address": None}
    with (
        dask.config.set(WATCH_LITTLE),
        LocalCluster(**options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def in_chunks(sizes, *arrays):
    """Arrays as Dask's, cut into so many rows each."""
    return [da.from_array(array, chunks=(tuple(sizes), *array.shape[1:])) for array in arrays]


def from_parts(parts):
    """A frame or series of these partitions, as they are: Dask makes their types the same in nothing."""
    parts = list(parts)
    with dask.config.set({"dataframe.convert-string": False}):  # or pandas 2's objects, 1 among them, become text
        return dd.from_delayed([delayed(part) for part in parts], meta=parts[0].iloc[:0], verify_meta=False)


def assert_same_model(found, local, rtol=1e-12):
    """The same splits, and numbers but for the rounding of sums."""
    assert found.classes_.tolist() == local.classes_.tolist()
    assert found.estimators_ == local.estimators_
    close = {"rtol": rtol, "atol": 1e-12}
    np.testing.assert_allclose(found.estimator_weights_, local.estimator_weights_, **close)
    assert found.history_.keys() == local.history_.keys()
    for name in local.history_:
        np.testing.assert_allclose(found.history_[name], local.history_[name], err_msg=name, **close)
    assert found.n_features_in_ == local.n_features_in_
    assert getattr(found, "feature_names_in_", None) is None or (
        found.feature_names_in_.tolist() == local.feature_names_in_.tolist()
    )
