"""What is said of categories that training has not seen."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from adacc.data.category_levels import Unseen
from adacc.data.columns import Table


class UnseenCategoryWarning(UserWarning):
    """Rows have categories that were not seen in training."""


_IGNORED = ContextVar("ignored", default=False)


@contextmanager
def unseen_ignored() -> Iterator[None]:
    """No warnings of this thread, as in cross-validation, where a rare level may be in the held-out rows alone."""
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def warn_of_unseen(table: Table) -> None:
    """One warning for all columns, once, that points at the line which called adacc or scikit-learn."""
    if table.unseen and not _IGNORED.get():
        columns = {table.name(column): unseen for column, unseen in sorted(table.unseen.items())}
        text = describe_unseen("X", columns, table.n_rows)
        warnings.warn(text, UnseenCategoryWarning, stacklevel=_level_of_caller())
    table.unseen.clear()


def describe_unseen(where: str, columns: Mapping[str, Unseen], n_rows: int) -> str:
    """The text of the warning; `where` names the table."""
    each = [
        f"{name} in {unseen.n_rows:,} of {n_rows:,} rows ({unseen.n_rows / n_rows:.1%}), such as "
        f"{', '.join(f'{level!r:.60}' for level in unseen.examples)}"
        for name, unseen in columns.items()
    ]
    return (
        f"{where} has categories that were not seen in training: {'; '.join(each)}. They are predicted as a category "
        "that no split asks for: compare the spelling with that of the training rows, or fit the model again"
    )


def _level_of_caller() -> int:
    """As `warnings.warn` counts from the function that calls it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("adacc", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
