"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Another path to write to; what is there in the end becomes the file, and of a failure nothing stays.

    It is never seen half written, not even after a power cut, and a link stays a link.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/greeting.txt") as scratch:
    ...         _ = scratch.write_text("hello")
    ...     [file.name for file in Path(folder).iterdir()]
    ['greeting.txt']
    """
    target = Path(path).resolve()
    scratch = target.with_name(f".adacc-{uuid4().hex}.tmp")
    try:
        yield scratch
        with open(scratch, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(scratch, target)
    except OSError as error:  # of the file that was asked for, not of one that nobody knows
        if error.errno is None:  # as of libraries that say it in their own words
            raise OSError(f"{os.fspath(path)} cannot be written: {error}") from error
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):  # there is none if it could not be made, or has been given its name
            scratch.unlink()
