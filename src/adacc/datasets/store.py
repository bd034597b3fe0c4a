"""Where data sets are kept: the folder of the user, the cache, and if need be the public source."""

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

from adacc.datasets.catalogue import CATALOGUE, Entry, Zenodo
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
class Place:
    """A file that may hold a data set, and who says so."""

    path: Path
    kind: str


def load(
    name: str, data_dir: Folder | None = None, download: bool = True, *, paper_columns: bool = False
) -> tuple[pd.DataFrame, pd.Series]:
    """A data set of the paper.

    It is looked for as ``<name>.parquet`` in `data_dir` (if None, in the folder that the environment variable
    ``ADACC_DATA`` names), then in the user's cache (``ADACC_CACHE`` names another), then at its public source.

    Parameters
    ----------
    name : str
        A key of `CATALOGUE`.
    data_dir : str or path, default=None
        A folder with Parquet files: feature columns, and ``target`` of 0 and 1.
    download : bool, default=True
        Whether to download what is not at hand. It is then kept in the cache.
    paper_columns : bool, default=False
        Leave out the columns that the paper's figures do without (spambase has such).

    Returns
    -------
    frame : DataFrame of shape (n_rows, n_features)
        Numbers and categories.
    target : Series of shape (n_rows,)
        int8; 1 is the rare class.

    Raises
    ------
    UnknownSetError, UnavailableError, MismatchError
        No such name; not to be found nor downloaded; other counts than the catalogue's.

    Warns
    -----
    ChecksumWarning
        The counts are the catalogue's but the content is not: results may differ from the published ones.
    CacheWarning
        The cached file is damaged and is fetched again.

    Examples
    --------
    >>> frame, target = load("abalone")  # doctest: +SKIP
    >>> frame.shape, target.sum()  # doctest: +SKIP
    ((4177, 10), 391)
    """
    entry = find(name)
    tried: list[str] = []
    found = _at_hand(entry, _places(entry, data_dir), tried)
    if found is None:
        table, where = _downloaded(entry, cache_dir(), tried, download), entry.source.address
    else:
        table, where = found[0], str(found[1].path)
    check_content(entry, table, where)
    frame, target = table
    return (_without(frame, entry, where) if paper_columns else frame), target


def fetch(names: str | Iterable[str] | None = None, dest: Folder | None = None) -> dict[str, Path]:
    """Make sure that data sets are in the cache, for a time without a network.

    Parameters
    ----------
    names : str or list of str, default=None
        Keys of `CATALOGUE`; None is all of them.
    dest : str or path, default=None
        Another folder to put them into; it can then be the `data_dir` of `load`.

    Returns
    -------
    dict
        The file of each data set.

    Raises
    ------
    UnknownSetError, UnavailableError, MismatchError
        As `load`; what can be had is there all the same.

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
            f"{len(failed)} of {len(entries)} data sets could not be had:\n\n" + "\n\n".join(map(str, failed))
        )
    return paths


def available(name: str, data_dir: Folder | None = None) -> Path | None:
    """The file that `load` would read a data set from now, or None if it would have to be downloaded.

    Examples
    --------
    >>> available("abalone", data_dir="no such folder")  # doctest: +SKIP
    PosixPath('/home/me/.cache/adacc/datasets/abalone.parquet')
    """
    places = _places(find(name), data_dir)
    return next((place.path for place in places if place.path.is_file()), None)


def find(name: str) -> Entry:
    """The catalogue's entry of a name."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = difflib.get_close_matches(str(name).lower().replace(" ", "_").replace("-", "_"), CATALOGUE, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise UnknownSetError(
        f"no data set is called {name!r}; {hint}`adacc datasets list` lists them, in Python adacc.datasets.CATALOGUE"
    )


def cache_dir() -> Path:
    """The folder of the downloaded data sets."""
    folder = os.environ.get("ADACC_CACHE") or user_cache_dir("adacc", appauthor=False)
    return Path(folder).expanduser() / "datasets"


def _places(entry: Entry, data_dir: Folder | None, *more: Path) -> list[Place]:
    """Files to look at, in this order."""
    given = [(Path(folder), "cache") for folder in more]
    if data_dir is not None:
        given.append((Path(data_dir), "data_dir"))
    elif os.environ.get("ADACC_DATA"):
        given.append((Path(os.environ["ADACC_DATA"]), "ADACC_DATA"))
    given.append((cache_dir(), "cache"))
    places = [Place(folder.expanduser() / f"{entry.name}.parquet", kind) for folder, kind in given]
    return list({place.path: place for place in reversed(places)}.values())[::-1]  # each file once, the first stays


def _at_hand(entry: Entry, places: list[Place], tried: list[str]) -> tuple[Table, Place] | None:
    """The table of the first file that is there. A damaged one of the cache is passed over, one of the user is not."""
    for place in places:
        try:
            table = read(place.path)
            check_counts(entry, table, str(place.path))
            return table, place
        except (FileNotFoundError, NotADirectoryError):
            tried.append(f"{place.path} ({place.kind}): not there")
        except (TableError, MismatchError) as error:
            if place.kind != "cache":
                raise
            tried.append(f"{place.path} ({place.kind}): damaged")
            warnings.warn(f"{error}; it is fetched again", CacheWarning, stacklevel=3)
    return None


def _downloaded(entry: Entry, folder: Path, tried: list[str], allowed: bool = True) -> Table:
    """The table from its public source; kept in a folder."""
    address = entry.source.address
    if not allowed:
        raise UnavailableError(_advice(entry, [*tried, f"{address}: not asked, because of download=False"]))
    with _scratch(folder) as scratch:
        try:
            table = download_table(entry, Path(scratch))
        except (DataError, ImportError):
            raise
        except Exception as error:  # a network, archives and parsers: there is no end to what may be raised
            reason = f"{address}: {type(error).__name__}: {error}"
            raise UnavailableError(_advice(entry, [*tried, reason])) from error
        check_counts(entry, table, address)
        write(table, folder / f"{entry.name}.parquet")
        if isinstance(entry.source, Zenodo):
            _keep_others(entry, Path(scratch), folder)
    return table


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A place for raw files, in a folder that is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=".download-", dir=folder)
    except OSError as error:
        raise UnavailableError(
            f"the folder {folder} for data sets cannot be written to: {error}. ADACC_CACHE names another."
        ) from error


def _keep_others(entry: Entry, scratch: Path, folder: Path) -> None:
    """One archive holds many data sets: those that are not in the folder yet are put there, to download it once."""
    for other in CATALOGUE.values():
        path = folder / f"{other.name}.parquet"
        unpacked = isinstance(other.source, Zenodo) and other != entry and not path.exists()
        if not unpacked:
            continue
        try:
            table = download_table(other, scratch, only_unpacked=True)
            check_counts(other, table, other.source.address)
        except Exception:  # not asked for: whoever asks for it is told
            continue
        write(table, path)


def _fetch_one(entry: Entry, folder: Path) -> Path:
    path = folder / f"{entry.name}.parquet"
    tried: list[str] = []
    found = _at_hand(entry, _places(entry, None, folder), tried)
    if found is None:
        table, where = _downloaded(entry, folder, tried), entry.source.address
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
        f"the data set {entry.name!r} could not be had. Tried:\n{lines}\n"
        f"Either run `adacc datasets fetch {entry.name}` where there is a network, or put {entry.name}.parquet (the "
        f"{entry.features} feature columns, then `target`) into a folder and name the folder in ADACC_DATA."
    )


def _without(frame: pd.DataFrame, entry: Entry, where: str) -> pd.DataFrame:
    absent = [name for name in entry.paper_drops if name not in frame]
    if absent:
        raise MismatchError(f"{where} has no column {absent[0]!r}, which paper_columns=True would leave out")
    return frame.drop(columns=list(entry.paper_drops))


def read(path: Path) -> Table:
    """Features and target of a Parquet file."""
    try:
        # Not read_table: it makes features of folders that are called a=b.
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
        raise TableError(f"{path}: the column 'target' must hold 0 and 1, found {odd!r}")
    for name in frame.select_dtypes(exclude=["number", "bool", "category"]):
        frame[name] = frame[name].astype("category")
    return frame.reset_index(drop=True), target.astype(np.int8).reset_index(drop=True)


def write(table: Table, path: Path) -> None:
    """Write a Parquet file that is never seen half written, whoever else writes it at the same time."""
    frame, target = table
    content = pa.Table.from_pandas(frame.assign(target=target), preserve_index=False)
    with whole_file(path) as scratch:
        # With checksums of its pages, so that a damaged file is noticed.
        pq.write_table(content, scratch, compression="zstd", write_page_checksum=True)
