"""Downloads the data sets from public sources and prepares the tables of the catalogue."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import fetch_openml

from adacc.datasets.catalog import Entry, OpenML, Zenodo
from adacc.datasets.checks import MismatchError, Table

TIMEOUT = 60.0
"""Network timeout in seconds."""


def download(entry: Entry, folder: Path, only_unpacked: bool = False) -> Table:
    """Download a data set. Raw files are stored in `folder`; an archive that is unpacked there is reused."""
    with _network_timeout(), warnings.catch_warnings():
        # scikit-learn warns at every retry; the final error is raised once.
        warnings.filterwarnings("ignore", message="A network error occurred|Invalid cache|Downloaded file could")
        if isinstance(entry.source, Zenodo):
            return prepare(entry, *_from_zenodo(entry.name, folder, only_unpacked))
        return prepare(entry, *_from_openml(entry.source, folder))


@contextmanager
def _network_timeout() -> Iterator[None]:
    """Set the default socket timeout, as the libraries have no parameter for it."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT if before is None else before)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _from_openml(source: OpenML, folder: Path) -> tuple[pd.DataFrame, Any]:
    bunch = fetch_openml(
        data_id=source.number,
        data_home=str(folder),
        as_frame=True,
        # The pandas parser fails on numeric labels (pandas 3.1), and before pandas 3.1 it is not exact.
        parser="liac-arff",
    )
    frame = bunch.data
    return frame.drop(columns=[name for name in source.no_features if name in frame]), bunch.target


def _from_zenodo(name: str, folder: Path, only_unpacked: bool) -> tuple[pd.DataFrame, Any]:
    try:
        from imblearn.datasets import fetch_datasets
    except ImportError:
        raise ImportError(f'downloading {name!r} needs imbalanced-learn: pip install "adacc[resampling]"') from None
    bunch = fetch_datasets(data_home=str(folder), filter_data=(name,), download_if_missing=not only_unpacked)[name]
    return pd.DataFrame(bunch.data), bunch.target


def prepare(entry: Entry, frame: pd.DataFrame, labels: Any) -> Table:
    """Convert a downloaded table to the names, types, rows and target of the catalogue."""
    source = entry.source
    if frame.shape[1] != entry.features:
        raise MismatchError(
            f"{source.address} is not the data set {entry.name!r} of the catalogue; features: expected "
            f"{entry.features}, got {frame.shape[1]}"
        )
    pairs = zip(entry.columns, (frame.iloc[:, j] for j in range(entry.features)), strict=True)
    columns = {name: (_category if name in entry.categorical else _numbers)(column) for name, column in pairs}
    table = pd.DataFrame({**columns, "target": pd.Series(np.asarray(labels, dtype=str), index=frame.index)})
    if isinstance(source, OpenML):
        table = _chosen_rows(source, table)
    labels = table.pop("target")
    if labels.nunique() != 2:
        raise MismatchError(f"{source.address} must have 2 labels, got {labels.nunique()}: {sorted(set(labels))[:5]}")
    target = rarer_is_one(labels)
    if isinstance(source, OpenML) and source.z_scores:
        table = table.apply(_z_scores)
    return compact(table.reset_index(drop=True)), target.reset_index(drop=True)


def _category(column: pd.Series) -> pd.Series:
    text = column.astype(object).map(lambda level: str(level).strip(), na_action="ignore")
    return text.where(text != "?").astype("category")


def _numbers(column: pd.Series) -> pd.Series:
    """Convert a column to numbers; some numeric columns of OpenML are categorical."""
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    return pd.to_numeric(plain).astype(np.float64)


def _chosen_rows(source: OpenML, table: pd.DataFrame) -> pd.DataFrame:
    if source.drop_missing:
        table = table.dropna()
    if source.drop_level is not None:
        column, level = source.drop_level
        table = table[table[column] != level]
    return table.drop_duplicates() if source.drop_duplicates else table


def _z_scores(column: pd.Series) -> pd.Series:
    scores = (column - column.mean()) / column.std(ddof=1)
    levels = {score: float(f"{score:.6g}") for score in scores.unique()}
    return scores.map(levels)


def rarer_is_one(labels: pd.Series) -> pd.Series:
    """1 for the rarer of two labels, 0 for the other; ties go to the last label in sorted order."""
    counts = labels.value_counts().sort_index()
    rare = counts.index[0] if counts.iloc[0] < counts.iloc[1] else counts.index[1]
    return (labels == rare).astype(np.int8).rename("target")


def compact(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert numbers to the smallest exact type, and sort the levels of categories."""
    return pd.DataFrame({name: _compact(frame[name]) for name in frame})


def _compact(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.set_categories(sorted(column.cat.remove_unused_categories().cat.categories))
    values = column.to_numpy(dtype=np.float64)
    if np.isfinite(values).all() and (values == np.rint(values)).all() and np.abs(values).max(initial=0) < 2**53:
        return pd.to_numeric(column.astype(np.int64), downcast="integer")
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return column.astype(np.float32) if np.array_equal(narrow, values, equal_nan=True) else column
