"""The data of the benchmark: published sets, and synthetic rows of any shape."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

SEED = 0
TARGET = "target"
TEST_SHARE = 0.2
# A sample keeps so many rows of the rare class (or all there are): with one or two, boosting ends at once.
LEAST_RARE_ROWS = 20


class Shape(NamedTuple):
    """What a result says of its data, which is not kept."""

    name: str
    rows: int
    columns: int
    positive_share: float

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def size(self) -> str:
        return f"{self.rows:,} × {self.columns:,}"


@dataclass(frozen=True)
class Data:
    """Rows and their labels, of which 1 is the rare one. X is a frame where it has categories, else an array."""

    name: str
    X: NDArray[np.float64] | pd.DataFrame
    y: NDArray[np.int64]

    @property
    def shape(self) -> Shape:
        return Shape(self.name, *self.X.shape, float(np.mean(self.y)))

    @cached_property
    def one_hot(self) -> NDArray[np.float64]:
        """X for libraries that take numbers alone: a column for each category."""
        if isinstance(self.X, np.ndarray):
            return self.X
        return np.ascontiguousarray(pd.get_dummies(self.X).to_numpy(dtype=np.float64))

    def take(self, rows: NDArray[np.intp]) -> Data:
        X = self.X[rows] if isinstance(self.X, np.ndarray) else self.X.iloc[rows]
        return Data(self.name, X, self.y[rows])

    def sample(self, rows: int) -> Data:
        """At most so many rows, in the proportions of the classes but for `LEAST_RARE_ROWS`."""
        if rows >= len(self.y):
            return self
        rng = np.random.default_rng(SEED)
        rare = rng.permutation(np.flatnonzero(self.y == 1))
        others = rng.permutation(np.flatnonzero(self.y == 0))
        rare = rare[: max(LEAST_RARE_ROWS, round(rows * len(rare) / len(self.y)))]
        return self.take(rng.permutation(np.concatenate([rare, others[: rows - len(rare)]])))

    def split(self) -> tuple[Data, Data]:
        """Rows to fit and rows to score."""
        train, test = train_test_split(np.arange(len(self.y)), test_size=TEST_SHARE, stratify=self.y, random_state=SEED)
        return self.take(train), self.take(test)


def default_folder() -> Path:
    """Where the sets are, unless an option says otherwise."""
    return Path(os.environ.get("ADACC_DATA", Path(__file__).resolve().parents[2] / "shared" / "datasets"))


def find_sets(folder: Path) -> dict[str, Path]:
    """The files of the sets in a folder, by name."""
    return {file.stem: file for file in sorted(folder.glob("*.parquet"))}


def choose(sets: dict[str, Path], names: Sequence[str]) -> list[Path]:
    """The files of the sets of these names."""
    unknown = [name for name in names if name not in sets]
    if unknown:
        raise ValueError(f"no set {', '.join(unknown)}; there are {', '.join(sets)}")
    return [sets[name] for name in names]


def load_set(file: Path) -> Data:
    frame = pd.read_parquet(file)
    y = frame.pop(TARGET).to_numpy(dtype=np.int64)
    has_categories = any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes)
    X = frame if has_categories else np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    return Data(file.stem, X, y)


def synthetic(rows: int, columns: int, positive_share: float = 0.05) -> Data:
    """Dense and continuous: no equal rows, no sparse columns, nothing that any library could save work on.

    The informative columns come first and the rows in random order, so that the first rows or columns are a smaller
    problem of the same kind.
    """
    X, y = make_classification(
        n_samples=rows,
        n_features=columns,
        n_informative=8,
        n_redundant=4,  # the rest is noise
        n_clusters_per_class=3,
        weights=[1 - positive_share],
        flip_y=0,
        shuffle=False,
        random_state=SEED,
    )
    order = np.random.default_rng(SEED).permutation(rows)
    return Data(f"{rows}x{columns}", X[order], y[order])


def save_rows(data: Data, file: Path) -> None:
    """For a fresh process; only of arrays."""
    np.savez(file, X=data.X, y=data.y)


def load_rows(file: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    with np.load(file) as arrays:
        return arrays["X"], arrays["y"]
