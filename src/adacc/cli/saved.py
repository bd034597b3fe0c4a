"""A model file as the commands use it: what the model is, and other tables read as the one it was trained on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adacc.cli.options import open_given
from adacc.cli.show import listed, note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adacc.estimators.voting import Voting
    from adacc.tables import Batches


@dataclass(frozen=True)
class Saved:
    """A model and where it is from."""

    path: Path
    model: Voting

    @property
    def notes(self) -> dict[str, Any]:
        """What `adacc train` noted; a model that Python saved may have none, or others."""
        return self.model.notes_

    @property
    def labels(self) -> list[Any]:
        return self.model.classes_.tolist()

    @property
    def positive(self) -> int | None:
        """The number of the class to be found; None where there are more than two."""
        return 1 - self.model._ensemble.tie_class if len(self.labels) == 2 else None

    @property
    def method(self) -> str:
        from adacc.estimators.base import BaseBoosting
        from adacc.study.baselines import FORESTS

        if isinstance(self.model, BaseBoosting):
            return str(self.model._settable()["method"])
        return next(name for name, classifier in FORESTS.items() if isinstance(self.model, classifier))

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """What the columns held in training, from the model itself: Python's models have it, too."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{self.path} was trained on an array, whose columns have no names, and those of files go by name; "
                "train it on a data frame"
            )
        models: Any = self.model._ensemble.models  # native ones: a file holds no others
        features = models.coder.features
        return {name: _kind(name, feature, self.path) for name, feature in zip(names.tolist(), features, strict=True)}

    def open(self, options: Namespace, keep: Iterable[str] = ()) -> Batches:
        """The table of a command with the model's columns, some rows at a time; says which others it has."""
        from adacc.tables import open_batches

        kinds = self.kinds  # which may be refused, before the table is opened
        batches = open_batches(open_given(options), kinds, keep)
        if batches.ignored:
            note(f"ignored: {listed(batches.ignored)}")
        return batches

    def decide(self, X: Any, threshold: float | None) -> NDArray[np.intp]:
        """The number of each row's class: as the model decides, or by the probability of the class to be found."""
        import pandas as pd

        if threshold is None or self.positive is None:
            return pd.Index(self.model.classes_).get_indexer(self.model.predict(X))
        found = self.model.predict_proba(X)[:, self.positive] >= threshold
        return (found == bool(self.positive)).astype("intp")

    def check_two_classes(self, what: str) -> None:
        if len(self.labels) != 2:
            raise ValueError(f"{what} is for two classes, and {self.path} tells {len(self.labels)} apart")


def read_saved(path: Path) -> Saved:
    """The model of a file."""
    import adacc

    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a model file in it")
    if not path.exists():
        raise ValueError(f"there is no model file {path}; `adacc train` makes one")
    return Saved(path, adacc.load(path))


def _kind(name: str, feature: Any, path: Path) -> str:
    if not feature.categorical:
        return "number"
    labels = {label for label in feature.values if label is not None}
    if labels and all(isinstance(label, bool) for label in labels):
        return "boolean"
    if all(isinstance(label, str) for label in labels):
        return "boolean category" if labels and labels <= {"True", "False"} else "category"
    raise ValueError(
        f"{path}: column {name!r} held categories in training that are no text, such as "
        f"{min(labels, key=str)!r}, and those of files are; train with them as strings"
    )
