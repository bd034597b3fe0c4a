"""Files that a command writes, looked at before any work is done."""

from __future__ import annotations

import os
from pathlib import Path


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
