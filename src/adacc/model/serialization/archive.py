"""The container of model files: a zip archive of one JSON document and plain arrays, written atomically.

This module does not depend on the content of models. Members are not compressed, so that the size of the content is
bounded by the size of the file, and equal contents give equal bytes. A list of SHA-256 checksums, in the format of
``sha256sum -c``, detects damage. It does not authenticate the file: anyone who edits a file can update the checksums,
so the reader must validate the content as untrusted input.
"""

from __future__ import annotations

import io
import json
import os
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from adacc.files import whole_file

FORMAT, VERSION = "adacc model", 2
DOCUMENT, CHECKSUMS = "model.json", "SHA256SUMS"

MAX_BYTES = 2**31 - 1
"""Maximum size of a file; a larger one would need the zip64 format."""

MAX_NESTING = 32
"""Maximum nesting of lists and objects in the document, so that recursive readers do not exceed the stack."""

DTYPES = ("<f8", "<i8", "<i4", "<u4", "|u1")
"""Allowed dtypes of the arrays."""

_MEMBER = re.compile(rf"{re.escape(DOCUMENT)}|{CHECKSUMS}|[a-z][a-z_]*\.npy")

# NumPy's reader evaluates the header, and allocates the array before it checks the size of the content.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<dtype>[<|]\w\d)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,10},|\d{1,10}(?:, \d{1,10}){1,2})\), \} *\n",
    re.DOTALL,
)

_ZIP_ERRORS = (zipfile.BadZipFile, struct.error, EOFError, IndexError, OSError, RuntimeError)
"""Exceptions that zipfile raises for invalid archives, besides ValueError and OverflowError."""


class ModelFileError(ValueError):
    """Error for an invalid model file; the message names the file and the fault.

    Examples
    --------
    >>> import tempfile
    >>> import adacc
    >>> with tempfile.NamedTemporaryFile(suffix=".adacc") as file:
    ...     try:
    ...         adacc.load(file.name)
    ...     except adacc.ModelFileError as error:
    ...         print(str(error).rpartition(": ")[2])
    this is not a model file
    """


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the path to the message of a `ModelFileError`."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def pack(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Content of a model file; equal documents and arrays give equal bytes."""
    with_format = {"format": FORMAT, "format_version": VERSION, **document}
    members = {DOCUMENT: json.dumps(with_format, indent=1, allow_nan=False).encode("ascii")}
    for name in sorted(arrays):
        members[f"{name}.npy"] = _as_npy(name, arrays[name])
    members[CHECKSUMS] = _checksums(members)
    total = sum(map(len, members.values()))
    if total > MAX_BYTES:
        raise ValueError(f"a model file must have at most {MAX_BYTES} bytes, got a model of {total}")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # with a fixed date, 1980
            info.create_system, info.external_attr = 3, 0o644 << 16  # the same on all platforms
            archive.writestr(info, content)
    return file.getvalue()


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Document and arrays of a model file, after checks of the archive, the format, the version and the checksums."""
    members = _members(content)
    if DOCUMENT not in members:
        raise ModelFileError(f"this is not a model file: it has no {DOCUMENT}")
    document = _parse(members[DOCUMENT])
    _check_version(document.pop("format", None), document.pop("format_version", None))
    for name in members:
        if not _MEMBER.fullmatch(name):
            raise ModelFileError(f"a model file must not have a member {name!r:.80}")
    if members.pop(CHECKSUMS, None) != _checksums(members):
        raise ModelFileError(
            f"the contents do not match their checksums in {CHECKSUMS}: the file is damaged or was edited"
        )
    del members[DOCUMENT]
    return document, {name.removesuffix(".npy"): _from_npy(name, member) for name, member in members.items()}


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically."""
    with whole_file(path) as scratch:
        scratch.write_bytes(content)


def read(path: str | os.PathLike[str]) -> bytes:
    """Content of a file, after checking its first bytes and its size."""
    with open(path, "rb") as file, naming(path):
        if file.read(4) != b"PK\x03\x04":
            raise ModelFileError("this is not a model file")
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            raise ModelFileError(f"a model file must have at most {MAX_BYTES} bytes, got {size}")
        file.seek(0)
        return file.read(size)


def _members(content: bytes) -> dict[str, bytes]:
    """Read the members of a zip archive, whose total size must not exceed that of the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            _check_members(infos, len(content))
            return {info.orig_filename: _read_member(archive, info) for info in infos}
    except ModelFileError:
        raise
    except (ValueError, OverflowError, *_ZIP_ERRORS) as error:
        raise ModelFileError(f"the file is damaged or not a zip archive: {error}") from None


def _check_members(infos: list[zipfile.ZipInfo], size: int) -> None:
    names: set[str] = set()
    for info in infos:
        name = info.orig_filename
        if name in names:
            raise ModelFileError(f"the member {name!r:.80} must be unique, got two")
        names.add(name)
        if info.flag_bits & 0x1:
            raise ModelFileError(f"the member {name!r:.80} must not be encrypted")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFileError(f"the member {name!r:.80} must not be compressed")
    total = sum(info.file_size for info in infos)
    if total > size:
        raise ModelFileError(f"the members declare {total} bytes, but the file has {size}")


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise ModelFileError(f"{info.orig_filename!r:.80} declares {info.file_size} bytes, but has {len(content)}")
    return content


def _checksums(members: Mapping[str, bytes]) -> bytes:
    return "".join(f"{sha256(content).hexdigest()}  {name}\n" for name, content in members.items()).encode()


def _parse(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{DOCUMENT} must be valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise ModelFileError(f"{DOCUMENT} must hold an object, got a {type(document).__name__}")
    level: list[Any] = [document]
    for _ in range(MAX_NESTING):
        nested = [node.values() if isinstance(node, dict) else node for node in level if isinstance(node, dict | list)]
        level = [child for children in nested for child in children]
    if level:
        raise ModelFileError(f"{DOCUMENT} is nested more than {MAX_NESTING} levels deep")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check_version(name: Any, version: Any) -> None:
    if name != FORMAT:
        raise ModelFileError(f"this is not a model file: 'format' must be {FORMAT!r}, got {name!r:.80}")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"format_version must be a whole number of at least 1, got {version!r:.80}")
    if version > VERSION:
        raise ModelFileError(f"this file has format version {version}; this adacc reads up to {VERSION}: update adacc")


def _as_npy(name: str, array: NDArray[Any]) -> bytes:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise TypeError(f"the array {name!r} must have a dtype of {', '.join(DTYPES)}, got {array.dtype}")
    file = io.BytesIO()
    np.lib.format.write_array(file, plain, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _from_npy(name: str, content: bytes) -> NDArray[Any]:
    header = _HEADER.match(content)
    if header is None or header.end() != 10 + int.from_bytes(header["length"], "little"):
        raise ModelFileError(f"{name} must be an array of numbers in NumPy's format 1.0")
    code, shape = header["dtype"].decode(), tuple(int(size) for size in header["shape"].split(b",") if size)
    if code not in DTYPES:
        raise ModelFileError(f"{name} must have a dtype of {', '.join(DTYPES)}, got {code!r}")
    dtype, size = np.dtype(code), len(content) - header.end()
    # An empty array may have another dimension that is too large for NumPy.
    if prod(shape) * dtype.itemsize != size or max(shape) > len(content):
        raise ModelFileError(f"{name} has {size} bytes, which does not match the shape {shape}")
    stored: NDArray[Any] = np.ndarray(shape, dtype, content, header.end())
    return stored.astype(dtype.newbyteorder("="))  # a writable copy
