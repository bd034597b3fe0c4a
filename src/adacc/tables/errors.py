"""Errors of tables: each message names the file, the row or column, and the fix."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from csv import Error as CSVError
from difflib import get_close_matches
from typing import Any, TypeAlias

import pyarrow as pa

Source: TypeAlias = str | os.PathLike[str]
"""A path, or `"-"` for standard input."""


class DataError(Exception):
    """Base class of the errors about data."""


class TableError(DataError, ValueError):
    """A table cannot be used.

    Attributes
    ----------
    columns : tuple of str
        The columns to leave out, if the message suggests that.
    ids : tuple of str
        The columns among them that look like ids.
    decimal : str or None
        The decimal separator to use, if the message suggests that.
    """

    def __init__(
        self, message: str, columns: Iterable[str] = (), ids: Iterable[str] = (), decimal: str | None = None
    ) -> None:
        super().__init__(message)
        self.columns, self.ids, self.decimal = tuple(columns), tuple(ids), decimal


def source_name(source: Source) -> str:
    """The name of a source in messages."""
    return "standard input" if source == "-" else os.path.expanduser(source)


def listed(names: Sequence[Any], max_names: int = 10) -> str:
    """The first names, quoted and separated by commas."""
    return ", ".join(map(repr, names[:max_names])) + (", ..." if len(names) > max_names else "")


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The most similar name, ignoring case and outer spaces; None if no name is similar."""
    plain = {other.strip().casefold(): other for other in names}
    near = get_close_matches(name.strip().casefold(), plain, n=1)
    return plain[near[0]] if near else None


UNNAMED = "Unnamed: 0"
"""The name that pandas gives to an unnamed first column of a CSV file, which is an index written by `to_csv`."""


def is_unnamed_index(name: str) -> bool:
    """Whether this is the name that pandas gives to an unnamed column."""
    return re.fullmatch(rf"{UNNAMED}(\.[0-9]+)*", name) is not None


def missing_column(where: str, name: str, names: Sequence[str], purpose: str = "") -> TableError:
    """The error for a column that does not exist."""
    near = closest_name(name, names)
    hint = "" if near is None else f"did you mean {near!r}? "
    if len(names) == 1 and any(char in names[0] for char in ",;\t|: "):
        hint = "is the field separator another character? "
    return TableError(f"{where} has no column {name!r}{purpose}; {hint}{'It' if hint else 'it'} has {listed(names)}")


def check_names(names: Sequence[str], where: str) -> None:
    """Raise TableError unless all columns have names and these are unique."""
    if not names:
        raise TableError(f"{where} is empty; the first line must contain the column names")
    unnamed = [position for position, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise TableError(f"{where}: column {unnamed[0]} of {len(names)} has no name; name it or remove it")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise TableError(
            f"{where} has {names.count(repeated[0])} columns named {repeated[0]!r}; column names must be unique"
        )


@contextmanager
def table_errors(where: str, form: str) -> Iterator[None]:
    """Convert the errors of libraries that read a file to TableError."""
    try:
        yield
    except TableError:
        raise
    except (EOFError, zlib.error):
        raise TableError(
            f"{where} is truncated or damaged: decompression failed; download or compress it again"
        ) from None
    except gzip.BadGzipFile:
        raise TableError(f"{where} is not a gzip file; remove .gz from its name") from None
    except PermissionError:
        raise TableError(f"Permission denied: {where}") from None
    except (pa.ArrowException, OSError, ValueError, CSVError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        hint = "is it CSV?" if form == "CSV" else "it may be truncated or damaged"
        raise TableError(f"{where} cannot be read as {form}: {reason}; {hint}") from error
