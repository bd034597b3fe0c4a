"""Real clusters: schedulers, and workers that are processes of their own.

The one that most tests use is started once for this folder; the others end with the file that needed them.
"""

import pytest


@pytest.fixture(scope="module")
def one():
    """A client of one worker with two threads."""
    from on_dask import cluster_of  # here, since not all that is tested in this folder needs Dask

    with cluster_of(1, n_threads=2) as client:
        yield client


@pytest.fixture(scope="package")
def two():
    """A client of two workers."""
    from on_dask import cluster_of

    with cluster_of(2) as client:
        yield client


@pytest.fixture(scope="module")
def four():
    """A client of four workers."""
    from on_dask import cluster_of

    with cluster_of(4) as client:
        yield client
