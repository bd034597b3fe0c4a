"""What may be wrong with a table, said in one line: which file, where in it, and how to mend it."""

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
    """Something is the matter with data; the errors that derive from it say what."""


class TableError(DataError, ValueError):
    """A table cannot be used as it is.

    Attributes
    ----------
    columns : tuple of str
        The columns to leave out, if that is the advice with which the message ends.
    ids : tuple of str
        Those of them that look like ids.
    decimal : str or None
        The decimal sign to read the table with, if that is the advice.
    """

    def __init__(
        self, message: str, columns: Iterable[str] = (), ids: Iterable[str] = (), decimal: str | None = None
    ) -> None:
        super().__init__(message)
        self.columns, self.ids, self.decimal = tuple(columns), tuple(ids), decimal


def called(source: Source) -> str:
    """How to speak of a source in a message."""
    return "standard input" if source == "-" else os.path.expanduser(source)


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Names between commas, not too many of them."""
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Of some names the one that was perhaps meant; neither capitals nor spaces around it count."""
    plain = {other.strip().casefold(): other for other in names}
    near = get_close_matches(name.strip().casefold(), plain, n=1)
    return plain[near[0]] if near else None


UNNAMED = "Unnamed: 0"
"""What pandas calls a first column without a name when it reads a CSV file: the index that it wrote itself."""


def is_unnamed_index(name: str) -> bool:
    """Whether pandas gave a column this name because it had none, once or several times over."""
    return re.fullmatch(rf"{UNNAMED}(\.[0-9]+)*", name) is not None


def no_column(where: str, name: str, names: Sequence[str], purpose: str = "") -> TableError:
    """The error for a column that was asked for and is not there."""
    near = nearest(name, names)
    hint = "" if near is None else f"did you mean {near!r}? "
    if len(names) == 1 and any(sign in names[0] for sign in ",;\t|: "):
        hint = "are its cells separated by another character? "
    return TableError(f"{where} has no column {name!r}{purpose}; {hint}{'It' if hint else 'it'} has {listed(names)}")


def check_names(names: Sequence[str], where: str) -> None:
    """Columns go by their names: each must have one, and no two the same."""
    if not names:
        raise TableError(f"{where} is empty; the names of the columns are expected in the first line")
    unnamed = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise TableError(
            f"{where}: column {unnamed[0]} of {len(names)} has no name; give it one, or write the file without it"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{where} has {names.count(twice[0])} columns called {twice[0]!r}; names must differ")


@contextmanager
def explained(where: str, form: str) -> Iterator[None]:
    """What libraries say of a file that they cannot read, as one line that names the file."""
    try:
        yield
    except TableError:
        raise
    except (EOFError, zlib.error):
        raise TableError(f"{where} is cut off or damaged: unpacking it failed; fetch or pack it again") from None
    except gzip.BadGzipFile:
        raise TableError(f"{where} is not packed by gzip, as its name says; leave .gz out of its name") from None
    except PermissionError:
        raise TableError(f"{where} may not be read by you; change its permissions") from None
    except (pa.ArrowException, OSError, ValueError, CSVError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        mend = "is it CSV?" if form == "CSV" else "if it is cut off, fetch or write it again"
        raise TableError(f"{where} cannot be read as {form}: {reason}; {mend}") from error
