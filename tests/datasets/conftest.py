from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from public_sources import point_to, running

from adacc.datasets import CATALOGUE, checksum


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of the cache, empty; and no way to the network, nor to the user's files."""
    monkeypatch.setenv("ADACC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ADACC_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    point_to("http://127.0.0.1:9", monkeypatch.setattr)  # nobody listens
    return tmp_path / "cache" / "datasets"


@pytest.fixture
def server(monkeypatch):
    with running() as server:
        point_to(server.base, monkeypatch.setattr)
        yield server


@pytest.fixture
def toy(monkeypatch):
    """A small table in the place of a data set of the catalogue, with its columns: 9 rows of 50 are rare."""

    def make(name, seed=0):
        entry, rng = CATALOGUE[name], np.random.default_rng(seed)
        columns = {
            column: pd.Categorical(rng.choice(["a", "b", "c d"], 50))
            if column in entry.categorical
            else rng.choice([0.1, -2.0, 3.25, 1e-7], 50)
            for column in entry.columns
        }
        table = pd.DataFrame(columns), pd.Series((np.arange(50) % 6 == 2).astype(np.int8), name="target")
        rare = int(table[1].sum())
        small = replace(entry, minority=rare, majority=50 - rare, checksum=checksum(*table))
        monkeypatch.setitem(CATALOGUE, name, small)
        return table

    return make
