"""The user's own tables: files and standard input, to learn from and to predict for."""

from adacc.tables.batches import Batches, open_batches
from adacc.tables.errors import DataError, TableError
from adacc.tables.features import check_features
from adacc.tables.frames import read_frame
from adacc.tables.kinds import Kind, kinds_of
from adacc.tables.sources import open_table
from adacc.tables.target import Target, find_label, read_labels, read_target

__all__ = [
    "Batches",
    "DataError",
    "Kind",
    "TableError",
    "Target",
    "check_features",
    "find_label",
    "kinds_of",
    "open_batches",
    "open_table",
    "read_frame",
    "read_labels",
    "read_target",
]
