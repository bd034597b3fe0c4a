"""Loads data sets from a directory of the user, the cache, or their public source."""

from __future__ import annotations

import difflib
import os
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from platformdirs import user_cache_dir

from adacc.datasets.catalog import CATALOGUE, Entry, Zenodo
from adacc.datasets.checks import (
    CacheWarning,
    MismatchError,
    Table,
    UnavailableError,
    UnknownSetError,
    check_content,
    check_counts,
)
from adacc.datasets.sources import download as download_table
from adacc.files import whole_file
from adacc.tables import DataError, TableError

Folder: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True)
class Location:
    """A possible file of a data set, and where its path comes from."""

    path: Path
    kind: str


def load(
    name: str, data_dir: Folder | None = None, download: bool = True, *, paper_columns: bool = False
) -> tuple[pd.DataFrame, pd.Series]:
    """Load a data set of the paper.

    It is searched as ``<name>.parquet`` in `data_dir` (by default the directory of the environment variable
    ``ADACC_DATA``), in the cache (``ADACC_CACHE`` sets its directory), and at its public source.

    Parameters
    ----------
    name : str
        A key of `CATALOGUE`.
    data_dir : str or path, default=None
        A directory of Parquet files with feature columns and the column ``target`` of 0 and 1.
    download : bool, default=True
        Whether to download a data set that is not available locally. It is stored in the cache.
    paper_columns : bool, default=False
        Drop the columns that the paper does not use (only spambase has such columns).

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers and categories.
    target : Series of shape (n_rows,)
        Of dtype int8; 1 is the rare class.

    Raises
    ------
    UnknownSetError, UnavailableError, MismatchError
        The name is unknown; the data set is not available; its counts differ from the catalogue.

    Warns
    -----
    ChecksumWarning
        The content differs from the catalogue: results may differ from the published ones.
    CacheWarning
        The cached file is damaged and is downloaded again.

    Examples
    --------
    >>> frame, target = load("abalone")  # doctest: +SKIP
    >>> frame.shape, target.sum()  # doctest: +SKIP
    ((4177, 10), 391)
    """
    entry = find(name)
    tried: list[str] = []
    found = _load_local(entry, _locations(entry, data_dir), tried)
    if found is None:
        table, where = _download(entry, cache_dir(), tried, download), entry.source.address
    else:
        table, where = found[0], str(found[1].path)
    check_content(entry, table, where)
    frame, target = table
    return (_without(frame, entry, where) if paper_columns else frame), target


def fetch(names: str | Iterable[str] | None = None, dest: Folder | None = None) -> dict[str, Path]:
    """Download data sets into the cache, for use without a network.

    Parameters
    ----------
    names : str or list of str, default=None
        Keys of `CATALOGUE`; None is all of them.
    dest : str or path, default=None
        Target directory instead of the cache; pass it as `data_dir` to `load`.

    Returns
    -------
    dict
        The file of each data set.

    Raises
    ------
    UnknownSetError, UnavailableError, MismatchError
        As for `load`; the other data sets are downloaded nevertheless.

    Examples
    --------
    >>> fetch(["abalone", "wilt"], dest="data")  # doctest: +SKIP
    {'abalone': PosixPath('data/abalone.parquet'), 'wilt': PosixPath('data/wilt.parquet')}
    """
    asked = list(CATALOGUE) if names is None else [names] if isinstance(names, str) else list(names)
    folder = cache_dir() if dest is None else Path(dest).expanduser()
    entries = [find(name) for name in asked]
    failed: list[DataError] = []
    paths: dict[str, Path] = {}
    for entry in entries:
        try:
            paths[entry.name] = _fetch_one(entry, folder)
        except DataError as error:
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise UnavailableError(
            f"{len(failed)} of {len(entries)} data sets are not available:\n\n" + "\n\n".join(map(str, failed))
        )
    return paths


def available(name: str, data_dir: Folder | None = None) -> Path | None:
    """The local file of a data set, or None if `load` would download it.

    Parameters
    ----------
    name : str
        Name of the data set.
    data_dir : path, default=None
        Folder to look in first.

    Returns
    -------
    Path or None

    Examples
    --------
    >>> available("abalone", data_dir="no such folder")  # doctest: +SKIP
    PosixPath('/home/me/.cache/adacc/datasets/abalone.parquet')
    """
    locations = _locations(find(name), data_dir)
    return next((place.path for place in locations if place.path.is_file()), None)


def find(name: str) -> Entry:
    """The entry of the catalogue with this name."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(str(name).lower().replace(" ", "_").replace("-", "_"), CATALOGUE, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise UnknownSetError(
        f"unknown data set {name!r}; {hint}`adacc datasets list` and adacc.datasets.CATALOGUE list them"
    )


def cache_dir() -> Path:
    """The cache directory of the data sets."""
    folder = os.environ.get("ADACC_CACHE") or user_cache_dir("adacc", appauthor=False)
    return Path(folder).expanduser() / "datasets"


def _locations(entry: Entry, data_dir: Folder | None, *more: Path) -> list[Location]:
    """The possible files of a data set, in the order of the search."""
    given = [(Path(folder), "cache") for folder in more]
    if data_dir is not None:
        given.append((Path(data_dir), "data_dir"))
    elif os.environ.get("ADACC_DATA"):
        given.append((Path(os.environ["ADACC_DATA"]), "ADACC_DATA"))
    given.append((cache_dir(), "cache"))
    locations = [Location(folder.expanduser() / f"{entry.name}.parquet", kind) for folder, kind in given]
    return list({place.path: place for place in reversed(locations)}.values())[
        ::-1
    ]  # remove duplicates, keep the first


def _load_local(entry: Entry, locations: list[Location], tried: list[str]) -> tuple[Table, Location] | None:
    """The table of the first file that exists; damaged files are skipped in the cache only."""
    for place in locations:
        try:
            table = read(place.path)
            check_counts(entry, table, str(place.path))
            return table, place
        except (FileNotFoundError, NotADirectoryError):
            tried.append(f"{place.path} ({place.kind}): does not exist")
        except (TableError, MismatchError) as error:
            if place.kind != "cache":
                raise
            tried.append(f"{place.path} ({place.kind}): damaged")
            warnings.warn(f"{error}; it is downloaded again", CacheWarning, stacklevel=3)
    return None


def _download(entry: Entry, folder: Path, tried: list[str], allowed: bool = True) -> Table:
    """Download a table and store it in a directory."""
    address = entry.source.address
    if not allowed:
        raise UnavailableError(_advice(entry, [*tried, f"{address}: not tried, because download=False"]))
    with _temporary_directory(folder) as scratch:
        try:
            table = download_table(entry, Path(scratch))
        except (DataError, ImportError):
            raise
        except Exception as error:  # networks, archives and parsers raise many types of errors
            reason = f"{address}: {type(error).__name__}: {error}"
            raise UnavailableError(_advice(entry, [*tried, reason])) from error
        check_counts(entry, table, address)
        write(table, folder / f"{entry.name}.parquet")
        if isinstance(entry.source, Zenodo):
            _store_others(entry, Path(scratch), folder)
    return table


def _temporary_directory(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A temporary directory for raw files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=".download-", dir=folder)
    except OSError as error:
        raise UnavailableError(
            f"Cannot write to the directory {folder}: {error}. Set ADACC_CACHE to another directory."
        ) from error


def _store_others(entry: Entry, scratch: Path, folder: Path) -> None:
    """Store the other data sets of the same archive, so that it is downloaded once."""
    for other in CATALOGUE.values():
        path = folder / f"{other.name}.parquet"
        unpacked = isinstance(other.source, Zenodo) and other != entry and not path.exists()
        if not unpacked:
            continue
        try:
            table = download_table(other, scratch, only_unpacked=True)
            check_counts(other, table, other.source.address)
        except Exception:  # reported when this data set is requested
            continue
        write(table, path)


def _fetch_one(entry: Entry, folder: Path) -> Path:
    path = folder / f"{entry.name}.parquet"
    tried: list[str] = []
    found = _load_local(entry, _locations(entry, None, folder), tried)
    if found is None:
        table, where = _download(entry, folder, tried), entry.source.address
    else:
        table, where = found[0], str(found[1].path)
        if found[1].path != path:
            folder.mkdir(parents=True, exist_ok=True)
            write(table, path)
    check_content(entry, table, where)
    return path


def _advice(entry: Entry, tried: list[str]) -> str:
    lines = "\n".join(f"- {line}" for line in tried)
    return (
        f"data set {entry.name!r} is not available. Tried:\n{lines}\n"
        f"Run `adacc datasets fetch {entry.name}` with network access, or put {entry.name}.parquet (the "
        f"{entry.features} feature columns, then `target`) into a directory and set ADACC_DATA to it."
    )


def _without(frame: pd.DataFrame, entry: Entry, where: str) -> pd.DataFrame:
    missing = [name for name in entry.paper_drops if name not in frame]
    if missing:
        raise MismatchError(f"{where} has no column {missing[0]!r}, which paper_columns=True drops")
    return frame.drop(columns=list(entry.paper_drops))


def read(path: Path) -> Table:
    """Features and target of a Parquet file."""
    try:
        # Not pq.read_table, which creates columns from directories named a=b.
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            frame = file.read().to_pandas()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{path} cannot be read as a Parquet file: {error}") from error
    if "target" not in frame:
        raise TableError(f"{path} has no column 'target'; it has {list(frame.columns[:10])}")
    target = frame.pop("target")
    if not target.isin([0, 1]).all():
        odd = target[~target.isin([0, 1])].iloc[0]
        raise TableError(f"{path}: the column 'target' must contain only 0 and 1, got {odd!r}")
    for name in frame.select_dtypes(exclude=["number", "bool", "category"]):
        frame[name] = frame[name].astype("category")
    return frame.reset_index(drop=True), target.astype(np.int8).reset_index(drop=True)


def write(table: Table, path: Path) -> None:
    """Write a Parquet file atomically."""
    frame, target = table
    content = pa.Table.from_pandas(frame.assign(target=target), preserve_index=False)
    with whole_file(path) as scratch:
        # Page checksums detect damaged files.
        pq.write_table(content, scratch, compression="zstd", write_page_checksum=True)
