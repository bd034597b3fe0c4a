"""A model file as the commands use it: what the model is, and other tables read as the one it was trained on."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adacc.cli.options import open_given
from adacc.cli.show import listed, note

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from adacc.data.levels import Unseen
    from adacc.estimators.base import BaseAdditiveClassifier
    from adacc.tables import Batches


@dataclass(frozen=True)
class Saved:
    """A model and where it is from."""

    path: Path
    model: BaseAdditiveClassifier

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
        return self.model.fitted_model_.positive_class

    @property
    def method(self) -> str:
        from adacc.algorithms.catalog import FORESTS
        from adacc.estimators.booster import BaseBoosting, method_of

        if isinstance(self.model, BaseBoosting):
            return str(method_of(self.model))
        return next(name for name, forest in FORESTS.items() if forest.estimator == type(self.model).__name__)

    @cached_property
    def kinds(self) -> dict[str, Any]:
        """What the columns held in training, from the model itself: Python's models have it, too."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{self.path} was trained on an array, whose columns have no names, and those of files go by name; "
                "train it on a data frame"
            )
        bin_mapper = self.model.fitted_model_.bin_mapper
        assert bin_mapper is not None, "a model file holds native learners"
        pairs = zip(names.tolist(), bin_mapper.features, strict=True)
        return {name: _kind(name, feature, self.path) for name, feature in pairs}

    def open(self, options: Namespace, keep: Iterable[str] = ()) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        """The table of a command, some rows at a time: the model's columns, and those to keep.

        It says which other columns the table has, and at its end which categories the model does not know.
        """
        from adacc.tables import open_batches
        from adacc.tables.errors import called

        kinds = self.kinds  # which may be refused, before the table is opened
        batches = open_batches(open_given(options), kinds, keep)
        if batches.ignored:
            note(f"ignored: {listed(batches.ignored)}")
        return self._watched(batches, called(options.data))

    def _watched(self, batches: Batches, where: str) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
        from adacc.estimators.unseen import describe_unseen

        found: dict[str, Unseen] = {}
        n_rows = 0
        for X, kept in batches.pairs():
            for name, unseen in self._unseen(X).items():
                found[name] = found[name] + unseen if name in found else unseen
            n_rows += len(X)
            yield X, kept
        if found:
            note(describe_unseen(where, found, n_rows))

    def _unseen(self, X: pd.DataFrame) -> dict[str, Unseen]:
        """What the table notes of the categorical columns that the model uses."""
        from adacc.estimators.base import read_known

        return self.model.fitted_model_.unseen_categories(read_known(self.model, X))

    def class_index(self, X: Any, threshold: float | None) -> NDArray[np.intp]:
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

    # `Saved.open` counts over all batches, and says it once.
    warnings.simplefilter("ignore", adacc.UnseenCategoryWarning)

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
