"""Files that a command writes: looked at before any work is done, and complete or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def check_output(path: Path, *read: str | Path) -> None:
    """Refuse a file that could not be written, or that is one of those to `read`."""
    if str(path) == "-" or path.absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
        raise ValueError(f"{path} is no file that could be replaced; name one")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}; make it, or name another file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe; name a file")
    if not os.access(path.parent, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"{path} may not be written by you; change permissions, or name another file")
    for other in read:
        source = Path(other).expanduser()
        if str(other) != "-" and path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"{path} is read by this command and would be lost; name another file to write")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Another path to write to; what is there in the end becomes the file, and of a failure nothing stays."""
    target = path.resolve()  # a link stays one
    scratch = target.with_name(f".adacc-{uuid4().hex}.tmp")
    try:
        yield scratch
        os.replace(scratch, target)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        scratch.unlink(missing_ok=True)
