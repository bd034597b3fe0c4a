import logging
import os
import signal
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # There is a worker for each core: the threads of a library would only wait for each other's.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A job in the background is begun deaf to Ctrl-C, and so would be all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A kernel that is not compiled yet must not change what a command prints; tests/test_kernel_cache.py sees the message.
logging.getLogger("adacc.kernels").setLevel(logging.ERROR)

settings.register_profile(
    "adacc", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("adacc")

JIT_IS_OFF = bool(numba.config.DISABLE_JIT)
DATA = Path(os.environ.get("ADACC_DATA", Path(__file__).parents[2] / "shared" / "datasets"))


BEGUN_FIRST = ("test_examples.py", "test_established.py", "test_concurrency.py")
"""Files with long tests: begun last, one of these would keep one worker busy when the others have nothing left."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in BEGUN_FIRST)


@pytest.fixture
def data_dir():
    """The folder with the paper's data sets, if it has these."""

    def find(*names):
        for name in names:
            if not (DATA / f"{name}.parquet").exists():
                pytest.skip(f"{name}.parquet is not in the data folder; point ADACC_DATA at the folder that has it")
        return DATA

    return find


@pytest.fixture
def load_table(data_dir):
    """A real data set by name: features as a frame, target 0 / 1."""

    def load(name):
        frame = pd.read_parquet(data_dir(name) / f"{name}.parquet")
        return frame.drop(columns="target"), frame["target"].to_numpy()

    return load


@pytest.fixture
def paper_table():
    """A table of the paper as data, by name."""

    def load(name):
        path = DATA.parent / "paper" / f"{name}.csv"
        if not path.exists():
            pytest.skip(f"{path.name} is not beside the data folder")
        return pd.read_csv(path)

    return load


@pytest.fixture
def rare():
    """Two overlapping clouds, one row in six positive."""
    rng = np.random.default_rng(7)
    y = (np.arange(240) % 6 == 0).astype(int)
    X = rng.normal(size=(240, 5))
    X[:, :3] += y[:, None] * [1.2, 0.8, 0.5]
    return X, y


@pytest.fixture
def three():
    """Three overlapping clouds of different size."""
    rng = np.random.default_rng(11)
    y = np.repeat([0, 1, 2], [120, 60, 30])
    X = rng.normal(size=(210, 4))
    X[np.arange(210), y] += 1.5
    order = rng.permutation(210)
    return X[order], y[order]


@pytest.fixture
def matplotlib_stays_as_it_is():
    """Draw without a display, and see that no setting is left changed."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
