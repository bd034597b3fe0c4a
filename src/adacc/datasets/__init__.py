"""The data sets of the AdaCC paper, and tables of the user for a study."""

from adacc.datasets.catalog import CATALOGUE, Entry
from adacc.datasets.checks import (
    CacheWarning,
    ChecksumWarning,
    MismatchError,
    UnavailableError,
    UnknownSetError,
    checksum,
)
from adacc.datasets.store import available, fetch, load
from adacc.datasets.tables import read_table
from adacc.datasets.toy import make_toy
from adacc.tables import DataError, TableError

__all__ = [
    "CATALOGUE",
    "CacheWarning",
    "ChecksumWarning",
    "DataError",
    "Entry",
    "MismatchError",
    "TableError",
    "UnavailableError",
    "UnknownSetError",
    "available",
    "checksum",
    "fetch",
    "load",
    "make_toy",
    "read_table",
]
