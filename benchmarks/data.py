"""The data of the benchmark: three shapes, each drawn from one generator with a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

SEED = 0


@dataclass(frozen=True)
class Shape:
    rows: int
    columns: int
    positive_share: float
    # Chosen so that the classes overlap: balanced accuracy is well between 0.5 and 1.
    class_separation: float
    # Rounds of a slow peer: all of them where that takes seconds, a sample where it would take minutes.
    slow_rounds: int

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def title(self) -> str:
        return f"{self.rows:,} × {self.columns}, {100 * self.positive_share:g} % positive"

    @property
    def cells(self) -> int:
        return self.rows * self.columns


SHAPES = {
    shape.name: shape
    for shape in (
        Shape(10_000, 20, 0.05, class_separation=1.0, slow_rounds=200),
        Shape(6_000, 600, 0.08, class_separation=2.0, slow_rounds=10),
        Shape(145_000, 74, 0.01, class_separation=1.0, slow_rounds=10),
    )
}


@dataclass(frozen=True)
class Data:
    """`rows` of the shape to fit, and half as many again, a third of all, to score."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def make_data(shape: Shape) -> Data:
    informative = max(8, shape.columns // 10)
    X, y = make_classification(
        n_samples=shape.rows * 3 // 2,
        n_features=shape.columns,
        n_informative=informative,
        n_redundant=informative // 2,  # the rest is noise
        n_clusters_per_class=3,
        weights=[1 - shape.positive_share],
        flip_y=0,  # random labels would outnumber the positives where these are 1 %
        class_sep=shape.class_separation,
        random_state=SEED,
    )
    X, X_test, y, y_test = train_test_split(X, y, train_size=shape.rows, stratify=y, random_state=SEED)
    return Data(X, y, X_test, y_test)


def save_training_rows(data: Data, file: Path) -> None:
    np.savez(file, X=data.X, y=data.y)


def load_training_rows(file: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    with np.load(file) as arrays:
        return arrays["X"], arrays["y"]
