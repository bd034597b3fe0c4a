"""Warnings about categories that did not occur in training."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from adacc.data.category_levels import Unseen
from adacc.data.columns import Table


class UnseenCategoryWarning(UserWarning):
    """Warning that rows have categories that were not seen in training."""


_IGNORED = ContextVar("ignored", default=False)


@contextmanager
def unseen_ignored() -> Iterator[None]:
    """Suppress the warnings in this thread, for cross-validation, where only held-out rows may have a category."""
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def warn_of_unseen(table: Table) -> None:
    """Issue one warning for all columns, which points at the line that called adacc or scikit-learn."""
    if table.unseen and not _IGNORED.get():
        columns = {table.name(column): unseen for column, unseen in sorted(table.unseen.items())}
        text = describe_unseen("X", columns, table.n_rows)
        warnings.warn(text, UnseenCategoryWarning, stacklevel=stacklevel_of_caller())
    table.unseen.clear()


def describe_unseen(where: str, columns: Mapping[str, Unseen], n_rows: int) -> str:
    """Text of the warning; `where` is the name of the table."""
    each = [
        f"{name} in {unseen.n_rows:,} of {n_rows:,} rows ({unseen.n_rows / n_rows:.1%}), such as "
        f"{', '.join(f'{level!r:.60}' for level in unseen.examples)}"
        for name, unseen in columns.items()
    ]
    return (
        f"{where} has categories that were not seen in training: {'; '.join(each)}. They are predicted like a category "
        "that no split tests for: compare the spelling with that of the training rows, or refit the model"
    )


def stacklevel_of_caller() -> int:
    """The `stacklevel` of the first caller outside adacc and scikit-learn, as `warnings.warn` counts."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("adacc", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
