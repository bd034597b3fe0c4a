"""Reading of tables from files and standard input, for training and prediction."""

from adacc.tables.batches import Batches, open_batches
from adacc.tables.errors import DataError, TableError
from adacc.tables.features import check_features
from adacc.tables.kinds import Kind, kinds_of
from adacc.tables.reader import read_frame
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
