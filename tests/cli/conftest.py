import io
import sys

import numpy as np
import pandas as pd
import pytest
from small_study import command


def claims(n=240, seed=3):
    """Numbers, text, booleans and gaps; one row in eight is fraud."""
    rng = np.random.default_rng(seed)
    fraud = np.arange(n) % 8 == 0
    frame = pd.DataFrame(
        {
            "claim": [f"{i:05d}" for i in range(n)],
            "amount": (rng.normal(size=n) * 40 + 200 + 70 * fraud).round(1),
            "town": np.where(rng.random(n) < 0.3 + 0.4 * fraud, "Bonn", "Köln"),
            "repeated": rng.random(n) < 0.3 + 0.3 * fraud,
            "insured": np.where(rng.random(n) < 0.5, True, False).astype(object),
            "age": rng.integers(18, 80, n).astype(float),
        }
    )
    frame.loc[::7, "age"] = None
    frame.loc[::11, "town"] = None
    frame.loc[::13, "insured"] = None
    frame["outcome"] = np.where(fraud, "fraud", "fine")
    frame["size"] = np.where(frame["amount"] > 250, "large", np.where(frame["amount"] > 180, "middle", "small"))
    frame["code"] = np.where(fraud, 1, 0)
    return frame


OTHER_TARGETS = {"outcome": "size,code", "size": "outcome,code", "code": "outcome,size"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Tables of old and of new claims, a model for each column that may be predicted, and a forest."""
    folder = tmp_path_factory.mktemp("claims")
    old, new = claims(), claims(130, seed=4)
    new.loc[5, "town"] = "Ulm"  # which no model has seen
    for name, frame in (("old", old), ("new", new)):
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet")
    for target, drop in OTHER_TARGETS.items():
        code, _, err = command(
            "train", folder / "old.csv", "--target", target, "--drop", drop, "--id", "claim", "--rounds", 8,
            "--method", "adacc1", "--model", folder / f"{target}.adacc",
        )  # fmt: skip
        assert (code, err) == (0, "")
    asked = ["--method", "adacc-forest", "--drop", "size,code", "--id", "claim", "--rounds", 6]
    assert (
        command("train", folder / "old.csv", "--target", "outcome", *asked, "--model", folder / "forest.adacc")[0] == 0
    )
    return folder


@pytest.fixture
def piped(monkeypatch):
    """Standard input with some content, from which one cannot go back."""

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    def piped(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe(content))))

    return piped
