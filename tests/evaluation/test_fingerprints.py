"""Fingerprints tell whether evaluated rows are training rows."""

import json

import numpy as np
import pandas as pd
import pytest

from adacc.evaluation.fingerprints import N_ROWS, SeenRows, fingerprints


def table(n=3000, seed=0):
    """Numbers, a category, booleans and missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 50, n).astype(float)})
    frame["town"] = pd.Categorical(rng.choice(["Bonn", "Ulm", "Köln"], n))
    frame["known"] = rng.random(n) < 0.5
    return frame.mask(rng.random((n, 4)) < 0.05).astype({"town": "category", "known": object})


def share(stored, *batches):
    seen = SeenRows(stored)
    for batch in batches:
        seen.add(batch)
    return seen.share()


def test_the_share_of_training_rows_is_estimated():
    train, new = table(), table(seed=1)
    stored = json.loads(json.dumps(fingerprints(train)))
    assert share(stored, train) == pytest.approx(1.0)
    assert share(stored, new) == 0.0
    assert share(stored, new, train[:1000]) == pytest.approx(0.25, abs=0.05)
    assert share(stored, train.sample(frac=1, random_state=0)) == pytest.approx(1.0)
    assert len(stored["fingerprints"]) == N_ROWS


def test_equal_values_of_other_types_have_equal_fingerprints():
    train = table()
    other = train.assign(town=train["town"].astype(object), b=train["b"].astype("Int64"), a=train["a"] + 0.0)
    assert share(fingerprints(train), other) == pytest.approx(1.0)
    assert share(fingerprints(train), train.assign(a=train["b"], b=train["a"])) == 0.0


def test_rows_that_coincide_by_chance_are_no_training_rows():
    """Few distinct values: new rows equal training rows, too."""
    rng = np.random.default_rng(0)
    for values, columns in ((2, 6), (3, 6), (4, 7)):
        rows = pd.DataFrame(rng.integers(0, values, (4000, columns)).astype(float)).add_prefix("x")
        assert not share(fingerprints(rows[:2000]), rows[2000:])


def test_without_fingerprints_nothing_is_known():
    frame = table(40)
    assert fingerprints(pd.concat([frame, frame])) is None
    stored = fingerprints(frame)
    for invalid in (None, [], {}, 3, {**stored, "fingerprints": [-1]}, {**stored, "fingerprints": ["a"]},
                    {**stored, "salt": 1}, {**stored, "rows": None}, {**stored, "chance": "x"}):  # fmt: skip
        assert share(invalid, frame) is None
    assert share(stored) is None


def test_fingerprints_do_not_name_a_row():
    """They have 32 bits, and another table has another salt."""
    train = table()
    stored, other = fingerprints(train), fingerprints(train.rename(columns={"a": "z"}))
    assert max(stored["fingerprints"]) < 2**32
    assert not set(stored["fingerprints"]) & set(other["fingerprints"])
