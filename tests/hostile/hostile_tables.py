"""Tables, labels, weights and options as nobody would wish them, for hypothesis to choose from.

Hypothesis draws the structure (kinds of columns, layout, labels, options), so that it can shrink it; the cells come
from a generator with a drawn seed, which is much faster.
"""

import tempfile
from dataclasses import dataclass
from dataclasses import fields as fields_of
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

import adacc
from adacc.algorithms.catalog import METHODS

ODD_NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324,
               2.2e-308, 1e-300, 1.0 + 2**-52, 0.1, 3e38, 65504.0, 2.0**53 + 2, 1e16]  # fmt: skip
ODD_STRINGS = ["", " ", "a", "A", "nan", "None", "0", "1", "1.0", "ü", "日本", "a" * 300, "\x00", "\n", "True", "<NA>"]
ODD_NAMES = [0, 1, -1, 2.5, "a", "", " ", "ü", None, ("a", 1), True, "a" * 100, np.nan, pd.Timestamp("2026-01-01")]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ROWS = [0, 1, 2, 3, 4, 5, 8, 13, 30, 60]


def pick(rng, pool, n):
    """n of the pool, repeatedly; cells are taken by position, for NumPy would make one type of them."""
    return [pool[i] for i in rng.integers(0, len(pool), n)]


def floats(rng, n, dtype="float64"):
    with np.errstate(over="ignore"):  # 1e300 is infinite in half precision: as a file would have it
        odd = np.array(pick(rng, ODD_NUMBERS, n), dtype=dtype)
        plain = rng.normal(size=n).astype(dtype)
    return np.where(rng.random(n) < rng.choice([0.0, 0.3, 1.0]), odd, plain)


def finite(rng, n, dtype="float64"):
    values = floats(rng, n, dtype)
    return np.where(np.isinf(values), np.finfo(dtype).max, values)


def integers(rng, n, dtype="int64"):
    limits = np.iinfo(dtype)
    narrow = rng.integers(0, 5, n).astype(dtype)
    odd = np.array(pick(rng, [int(limits.min), int(limits.max), 0, 1, int(limits.max) - 1], n), dtype=dtype)
    return np.where(rng.random(n) < rng.choice([0.0, 0.3]), odd, narrow)


def with_gaps(rng, values, gaps=(None,)):
    share = rng.choice([0.1, 0.5, 1.0])
    return [gaps[rng.integers(len(gaps))] if rng.random() < share else value for value in values]


def strings(rng, n):
    return pick(rng, ODD_STRINGS[: rng.integers(1, len(ODD_STRINGS) + 1)], n)


def mixed(rng, n):
    pool = [1, 1.0, True, "a", None, np.nan, 2**70, ("t", 1), b"raw", Decimal("1.5"), -0.0, np.float32(3), np.int8(2),
            frozenset({1}), pd.NA, pd.NaT, float("inf"), "1", 10**400]  # fmt: skip
    kept = [pool[i] for i in rng.permutation(len(pool))[: rng.integers(1, 6)]]
    return pd.Series(pick(rng, kept, n), dtype=object)


def category_of(rng, n):
    pools = [ODD_STRINGS, [1, 2, 3], [1.5, -0.0, 1e300], [True, False], [("a", 1), ("b", 2)], ["a", 1, 2.5],
             list(pd.date_range("2026", periods=3)), [1 + 2j, 3j], [pd.Interval(0, 1), pd.Interval(1, 2)]]  # fmt: skip
    labels = pools[rng.integers(len(pools))]
    codes = rng.integers(-1, len(labels), n)
    return pd.Categorical.from_codes(codes, categories=labels, ordered=bool(rng.random() < 0.3))


PLAIN = {
    "normal": lambda rng, n: rng.normal(size=n),
    "odd": finite,
    "gaps": lambda rng, n: np.array(with_gaps(rng, finite(rng, n), (np.nan,)), dtype=float),
    "constant": lambda rng, n: np.full(n, ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]),
    "missing": lambda rng, n: np.full(n, np.nan),
    "half": lambda rng, n: finite(rng, n, "float16"),
    "single": lambda rng, n: finite(rng, n, "float32"),
    "bool": lambda rng, n: rng.random(n) < 0.5,
    "strings": lambda rng, n: strings(rng, n),
    "strings with gaps": lambda rng, n: with_gaps(rng, strings(rng, n)),
    "nothing": lambda rng, n: [None] * n,
} | {dtype: lambda rng, n, dtype=dtype: integers(rng, n, dtype) for dtype in INTEGERS}
"""Columns that every frame library takes."""

NUMBERS = [kind for kind in PLAIN if "strings" not in kind and kind != "nothing"]

OF_PANDAS = {
    "infinite": lambda rng, n: np.array(with_gaps(rng, rng.normal(size=n), (np.inf, -np.inf)), dtype=float),
    "mixed": mixed,
    "category": category_of,
    "Int64": lambda rng, n: pd.array(with_gaps(rng, rng.integers(-3, 3, n).tolist()), dtype="Int64"),
    "Float64": lambda rng, n: pd.array(with_gaps(rng, finite(rng, n).tolist()), dtype="Float64"),
    "boolean": lambda rng, n: pd.array(with_gaps(rng, (rng.random(n) < 0.5).tolist()), dtype="boolean"),
    "string": lambda rng, n: pd.array(with_gaps(rng, strings(rng, n)), dtype="string"),
    "objects": lambda rng, n: pd.Series(with_gaps(rng, finite(rng, n).tolist(), (None, np.nan)), dtype=object),
    "large ints": lambda rng, n: pd.Series(pick(rng, [2**70, -(2**70), 0, 10**400], n), dtype=object),
    "decimals": lambda rng, n: pd.Series(
        pick(rng, [Decimal("0.1"), Decimal("1e400"), Decimal("NaN")], n), dtype=object
    ),
    "dates": lambda rng, n: pd.Series(pick(rng, list(pd.date_range("2026", periods=3)), n)),
    "spans": lambda rng, n: pd.Series(pick(rng, list(pd.to_timedelta([1, 2, 3], unit="D")), n)),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "lists": lambda rng, n: pd.Series([[1, 2]] * n, dtype=object),
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
    "arrow ints": lambda rng, n: pd.array(with_gaps(rng, rng.integers(0, 3, n).tolist()), dtype="int64[pyarrow]"),
}
EVERYDAY = ["normal", "odd", "gaps", "constant", "bool", "strings", "int64"]


@dataclass
class Form:
    """How the columns are put together."""

    name: str
    kinds: tuple
    names: tuple

    def make(self, rng, n):
        """A table of n rows."""
        return FORMS[self.name](rng, n, self)


def in_pandas(rng, n, form):
    kinds = PLAIN | OF_PANDAS
    columns = [pd.Series(kinds[kind](rng, n), index=range(n)) for kind in form.kinds]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(n))
    frame.columns = pd.Index(form.names, dtype=object, tupleize_cols=False)
    return frame


def plain_columns(rng, n, form):
    kinds = [kind if kind in PLAIN else "strings" for kind in form.kinds]
    return {f"c{j}": PLAIN[kind](rng, n) for j, kind in enumerate(kinds)}


def in_polars(rng, n, form):
    return pl.DataFrame({name: pl.Series(values, strict=False) for name, values in plain_columns(rng, n, form).items()})


def in_arrow(rng, n, form):
    return pa.table({name: pa.array(values) for name, values in plain_columns(rng, n, form).items()})


def in_array(rng, n, form):
    columns = [np.asarray(PLAIN[kind if kind in NUMBERS else "odd"](rng, n)) for kind in form.kinds]
    return np.column_stack(columns) if columns else np.empty((n, 0))


def in_objects(rng, n, form):
    columns = [np.array([*PLAIN.get(kind, PLAIN["odd"])(rng, n), None], dtype=object)[:-1] for kind in form.kinds]
    return np.column_stack(columns) if columns else np.empty((n, 0), dtype=object)


def in_one_type(rng, n, form):
    dtype = [*INTEGERS, "bool", "float16", "float32", "float64", ">f8", "complex64", "S3", "U3", "M8[D]", "longdouble"]
    values = rng.integers(0, 4, size=(n, len(form.kinds)))
    return values.astype(dtype[rng.integers(len(dtype))])


def with_infinities(rng, n, form):
    X = rng.normal(size=(n, len(form.kinds)))
    X[rng.random(X.shape) < 0.2] = rng.choice([np.inf, -np.inf])
    return X


def read_only(rng, n, form):
    X = in_array(rng, n, form)
    X.setflags(write=False)
    return X


def mapped(rng, n, form):
    X = rng.integers(0, 5, size=(n, len(form.kinds))).astype(float)
    if X.size == 0:  # which no file can hold
        return X
    with tempfile.TemporaryFile() as file:
        there = np.memmap(file, dtype=float, mode="w+", shape=X.shape)
        there[:] = X
        return there


def in_sparse(rng, n, form):
    kinds = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array]
    dense = finite(rng, n * len(form.kinds)).reshape(n, -1) if n * len(form.kinds) else np.zeros((n, len(form.kinds)))
    return kinds[rng.integers(len(kinds))](dense * (rng.random(dense.shape) < 0.3))


FORMS = {
    "pandas": in_pandas,
    "polars": in_polars,
    "arrow": in_arrow,
    "array": in_array,
    "one type": in_one_type,
    "infinite array": with_infinities,
    "objects": in_objects,
    "mixed objects": lambda rng, n, form: np.array(mixed(rng, n * len(form.kinds)), dtype=object).reshape(n, -1)
    if n * len(form.kinds) else np.empty((n, len(form.kinds)), dtype=object),
    "list": lambda rng, n, form: in_array(rng, n, form).tolist(),
    "fortran": lambda rng, n, form: np.asfortranarray(in_array(rng, n, form)),
    "strided": lambda rng, n, form: np.repeat(np.repeat(in_array(rng, n, form), 2, axis=0), 3, axis=1)[::2, ::-3],
    "backwards": lambda rng, n, form: in_array(rng, n, form)[::-1],
    "read-only": read_only,
    "mapped": mapped,
    "sparse": in_sparse,
    "one-dimensional": lambda rng, n, form: rng.normal(size=n),
    "three-dimensional": lambda rng, n, form: rng.normal(size=(n, 2, 2)),
    "series": lambda rng, n, form: pd.Series(rng.normal(size=n)),
}  # fmt: skip

LABELS = {
    "ints": lambda rng, n, k: rng.integers(0, k, n),
    "rare": lambda rng, n, k: (np.arange(n) == 0).astype(int),
    "bytes": lambda rng, n, k: rng.integers(0, k, n).astype("uint8"),
    "negative": lambda rng, n, k: rng.integers(0, k, n) * 2**62 - 2**62,
    "floats": lambda rng, n, k: rng.integers(0, k, n).astype(float),
    "bools": lambda rng, n, k: rng.random(n) < 0.5,
    "strings": lambda rng, n, k: np.array(pick(rng, ODD_STRINGS[:k], n)),
    "objects": lambda rng, n, k: np.array(pick(rng, ODD_STRINGS[:k], n), dtype=object),
    "categories": lambda rng, n, k: pd.Series(pick(rng, ODD_STRINGS[:k], n), dtype="category"),
    "nullable": lambda rng, n, k: pd.Series(rng.integers(0, k, n), dtype="Int64"),
    "polars": lambda rng, n, k: pl.Series(rng.integers(0, k, n)),
    "arrow": lambda rng, n, k: pa.array(rng.integers(0, k, n)),
    "list": lambda rng, n, k: rng.integers(0, k, n).tolist(),
    "column": lambda rng, n, k: rng.integers(0, k, (n, 1)),
    "gaps": lambda rng, n, k: np.array(with_gaps(rng, rng.integers(0, k, n), (np.nan,)), dtype=float),
    "none": lambda rng, n, k: np.array(with_gaps(rng, rng.integers(0, k, n)), dtype=object),
    "nullable gaps": lambda rng, n, k: pd.array(with_gaps(rng, rng.integers(0, k, n).tolist()), dtype="Int64"),
    "mixed": lambda rng, n, k: np.array(pick(rng, [0, "a", 1.5, True], n), dtype=object),
    "infinite": lambda rng, n, k: np.where(rng.random(n) < 0.5, np.inf, 0.0),
    "continuous": lambda rng, n, k: rng.normal(size=n),
    "wrong length": lambda rng, n, k: rng.integers(0, k, n + 1),
    "two columns": lambda rng, n, k: rng.integers(0, k, (n, 2)),
    "scalar": lambda rng, n, k: 1,
    "one class": lambda rng, n, k: np.ones(n),
    "dates": lambda rng, n, k: np.array(pick(rng, ["2026-01-01", "2026-01-02"], n), dtype="M8[D]"),
    "tuples": lambda rng, n, k: [(1,), (2,)] * (n // 2) + [(1,)] * (n % 2),
}

WEIGHTS = {
    "none": lambda rng, n: None,
    "ones": lambda rng, n: np.ones(n),
    "orders": lambda rng, n: 10.0 ** rng.uniform(-150, 150, n),
    "extremes": lambda rng, n: np.array(pick(rng, [5e-324, 1e-308, 1.0, 1e308, 0.0], n)),
    "zeros": lambda rng, n: rng.integers(0, 2, n),
    "nullable": lambda rng, n: pd.Series(rng.integers(0, 3, n), dtype="Int64"),
    "all zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: rng.normal(size=n),
    "missing": lambda rng, n: np.full(n, np.nan),
    "infinite": lambda rng, n: np.full(n, np.inf),
    "words": lambda rng, n: ["heavy"] * n,
    "short": lambda rng, n: np.ones(max(n - 1, 0)),
    "column": lambda rng, n: np.ones((n, 1)),
    "number": lambda rng, n: 1e-300,
}

COSTS = ["balanced", [1, 1], [1e-300, 1], [1, 1e300], [5e-324, 1e308], [0, 1], [1, 0], [1, 1, 1], [1, 1.1], [np.nan, 1],
         [-1, 1], {0: 1, 1: 20}, "dear"]  # fmt: skip


@st.composite
def parameters(draw, n_classes):
    """A method and options for it."""
    method = draw(st.sampled_from(adacc.methods()))
    options = {
        "n_estimators": draw(st.integers(1, 30)),
        "max_bins": draw(st.sampled_from([255, None, 2, 3, 300])),
        "learning_rate": draw(st.sampled_from([1.0, 1e-6, 10.0, 0.1])),
        "criterion": draw(st.sampled_from(["gini", "entropy", "error"])),
        "calibration": draw(st.sampled_from([None, None, "sigmoid", "isotonic"])),
        "calibration_cv": draw(st.sampled_from([None, None, None, 2])),
        "n_iter_no_change": draw(st.sampled_from([None, None, 1, 5])),
        "validation_fraction": draw(st.sampled_from([0.1, 1e-6, 0.9])),
        "random_state": 0,
    }
    for field in fields_of(METHODS[method].rule):
        options[field.name] = draw(st.sampled_from(METHODS[method].rule.allowed[field.name]))
    if METHODS[method].rule.uses_costs:
        options["costs"] = draw(st.one_of(st.just("balanced"), st.sampled_from(COSTS)))
        if draw(st.booleans()):
            options["costs"] = [
                10.0**e for e in draw(st.lists(st.integers(-300, 300), min_size=n_classes, max_size=n_classes))
            ]
    if METHODS[method].sampler == "smote":
        options |= {"n_synthetic": draw(st.sampled_from([1, 20])), "k_neighbors": draw(st.sampled_from([1, 5, 50]))}
    if METHODS[method].sampler == "under-sample":
        options["sampling_ratio"] = draw(st.sampled_from([1.0, 0.01, 1e-6]))
    return method, options


def often(everyday, others):
    """Mostly what is everyday, so that a table is seldom refused for several reasons at once."""
    return st.sampled_from([*everyday] * (3 * len(others) // len(everyday)) + [*others])


@st.composite
def forms(draw):
    least = draw(st.sampled_from([1, 1, 1, 2, 2, 0]))
    kinds = tuple(
        draw(st.lists(often([*EVERYDAY, *PLAIN], PLAIN | OF_PANDAS), min_size=least, max_size=max(5 * least, 1)))
    )
    names = tuple(f"c{j}" for j in range(len(kinds)))
    if draw(st.integers(0, 9)) == 0:
        names = tuple(draw(st.lists(st.sampled_from(ODD_NAMES), min_size=len(kinds), max_size=len(kinds))))
    elif draw(st.integers(0, 9)) == 0:
        names = tuple(range(len(kinds)))
    return Form(draw(often(["pandas", "array", "polars", "strided"], FORMS)), kinds, names)


@dataclass
class Case:
    """A table to train on and others to predict on, with what goes with them."""

    form: Form
    n_rows: int
    repeats: int
    labels: str
    n_classes: int
    weights: str
    method: str
    options: dict
    seed: int
    others: list
    validation: bool

    def training(self) -> dict[str, Any]:
        """What `fit` is given."""
        rng = np.random.default_rng(self.seed)
        n = self.n_rows
        X = self.form.make(rng, n)
        y = LABELS[self.labels](rng, n, self.n_classes)
        given = {"X": X, "y": y, "sample_weight": WEIGHTS[self.weights](rng, n)}
        if self.repeats > 1 and isinstance(X, np.ndarray) and self.weights == "none" and self.labels == "ints":
            given |= {"X": np.concatenate([X] * self.repeats), "y": np.concatenate([y] * self.repeats)}
        if self.validation:
            given |= {"X_val": self.form.make(rng, n), "y_val": y}
        return given

    def to_predict(self):
        """Tables other than the one trained on."""
        rng = np.random.default_rng(self.seed + 1)
        yield self.form.make(rng, 7)
        for other in self.others:
            yield other.make(rng, 3)


@st.composite
def changed(draw, form):
    """A form like another, with columns of other kinds, left out, added or in another order."""
    kinds, names = list(form.kinds), list(form.names)
    what = draw(st.sampled_from(["kinds", "fewer", "more", "order", "form", "missing", "other"]))
    if what == "kinds":
        kinds = draw(st.lists(st.sampled_from(list(PLAIN | OF_PANDAS)), min_size=len(kinds), max_size=len(kinds)))
    elif what == "fewer":
        kinds, names = kinds[1:], names[1:]
    elif what == "more":
        kinds, names = [*kinds, "normal"], [*names, "more"]
    elif what == "order":
        kinds, names = kinds[::-1], names[::-1]
    elif what == "missing":
        kinds = [draw(st.sampled_from(["missing", "nothing"]))] * len(kinds)
    elif what == "other":
        return draw(forms())
    name = draw(st.sampled_from(list(FORMS))) if what == "form" else form.name
    return Form(name, tuple(kinds), tuple(names))


@st.composite
def cases(draw):
    """Everything at once."""
    form = draw(forms())
    n_classes = draw(st.sampled_from([2, 2, 2, 3, 5]))
    method, options = draw(parameters(n_classes))
    return Case(
        form=form,
        n_rows=draw(often([8, 13, 30, 60], ROWS)),
        repeats=draw(st.sampled_from([1, 1, 1, 5])),
        labels=draw(often(["ints", "strings", "rare"], LABELS)),
        n_classes=n_classes,
        weights=draw(often(["none", "orders", "extremes"], WEIGHTS)),
        method=method,
        options=options,
        seed=draw(st.integers(0, 2**32 - 1)),
        others=draw(st.lists(changed(form), min_size=1, max_size=2)),
        validation=options["n_iter_no_change"] is not None and draw(st.booleans()),
    )
