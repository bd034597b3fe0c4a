"""Model files: a zip of one JSON document and plain arrays, written whole or not at all, and read with suspicion.

Nothing here knows of models. Members are stored, not compressed: what a file may hold is then bounded by its size,
and equal contents are equal bytes whatever compressor a machine has. A list of SHA-256 sums, which ``sha256sum -c``
understands, seals the members against damage. It proves no origin: who edits a file can seal it again, so that whoever
uses the contents must check them as if they came from a stranger.
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
DOCUMENT, SEAL = "model.json", "SHA256SUMS"

MOST_BYTES = 2**31 - 1
"""Of a file; what is larger would need another kind of zip."""

DEEPEST = 32
"""Levels of lists and objects in the document: what walks through it must not run out of stack."""

DTYPES = ("<f8", "<i8", "<i4", "<u4", "|u1")
"""Of the arrays."""

_MEMBER = re.compile(rf"{re.escape(DOCUMENT)}|{SEAL}|[a-z][a-z_]*\.npy")

# Read without NumPy's own reader of headers, which evaluates them, and makes room before it looks for the content.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<dtype>[<|]\w\d)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>\d{1,10},|\d{1,10}(?:, \d{1,10}){1,2})\), \} *\n",
    re.DOTALL,
)

_OF_ZIPFILE = (zipfile.BadZipFile, struct.error, EOFError, IndexError, OSError, RuntimeError)
"""What zipfile raises where a zip is not as it should be, beside ValueError and its kind."""


class ModelFileError(ValueError):
    """A model file that cannot be read or must not be trusted: says which file, and what is wrong with it.

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
    """Errors within are of this file, and say so."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def pack(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The content of a model file; equal content for equal documents and arrays."""
    titled = {"format": FORMAT, "format_version": VERSION, **document}
    members = {DOCUMENT: json.dumps(titled, indent=1, allow_nan=False).encode("ascii")}
    for name in sorted(arrays):
        members[f"{name}.npy"] = _as_npy(name, arrays[name])
    members[SEAL] = _seal(members)
    total = sum(map(len, members.values()))
    if total > MOST_BYTES:
        raise ValueError(f"a model file has room for {MOST_BYTES} bytes, and this model takes {total}")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # which is dated 1980
            info.create_system, info.external_attr = 3, 0o644 << 16  # as on Unix, wherever it is written
            archive.writestr(info, content)
    return file.getvalue()


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Document and arrays, if all is as `pack` makes it: sound as a zip, of this format and version, sealed."""
    members = _members(content)
    if DOCUMENT not in members:
        raise ModelFileError(f"this is not a model file: it has no {DOCUMENT}")
    document = _parse(members[DOCUMENT])
    _check_version(document.pop("format", None), document.pop("format_version", None))
    for name in members:
        if not _MEMBER.fullmatch(name):
            raise ModelFileError(f"the member {name!r:.80} is none of a model file")
    if members.pop(SEAL, None) != _seal(members):
        raise ModelFileError(f"the contents do not match their checksums in {SEAL}: the file is damaged or was edited")
    del members[DOCUMENT]
    return document, {name.removesuffix(".npy"): _from_npy(name, member) for name, member in members.items()}


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, whole or not at all."""
    with whole_file(path) as scratch:
        scratch.write_bytes(content)


def read(path: str | os.PathLike[str]) -> bytes:
    """The content of a file that may be a model file; no more than its beginning and its size is looked at yet."""
    with open(path, "rb") as file, naming(path):
        if file.read(4) != b"PK\x03\x04":
            raise ModelFileError("this is not a model file")
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES:
            raise ModelFileError(f"the file has {size} bytes, and a model file at most {MOST_BYTES}")
        file.seek(0)
        return file.read(size)


def _members(content: bytes) -> dict[str, bytes]:
    """The members of a zip, which together are no larger than it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            _check_listed(listed, len(content))
            return {info.orig_filename: _read_member(archive, info) for info in listed}
    except ModelFileError:
        raise
    except (ValueError, OverflowError, *_OF_ZIPFILE) as error:
        raise ModelFileError(f"the file is damaged or no zip: {error}") from None


def _check_listed(listed: list[zipfile.ZipInfo], size: int) -> None:
    names: set[str] = set()
    for info in listed:
        name = info.orig_filename
        if name in names:
            raise ModelFileError(f"there are two members {name!r:.80}")
        names.add(name)
        if info.flag_bits & 0x1:
            raise ModelFileError(f"the member {name!r:.80} is encrypted, which those of model files are not")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFileError(f"the member {name!r:.80} is compressed, which those of model files are not")
    total = sum(info.file_size for info in listed)
    if total > size:
        raise ModelFileError(f"the members claim {total} bytes, and the whole file has {size}")


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as file:
        content = file.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise ModelFileError(f"{info.orig_filename!r:.80} has {len(content)} bytes and claims {info.file_size}")
    return content


def _seal(members: Mapping[str, bytes]) -> bytes:
    return "".join(f"{sha256(content).hexdigest()}  {name}\n" for name, content in members.items()).encode()


def _parse(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{DOCUMENT} is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise ModelFileError(f"{DOCUMENT} must hold an object, not a {type(document).__name__}")
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        inside = [node.values() if isinstance(node, dict) else node for node in level if isinstance(node, dict | list)]
        level = [child for children in inside for child in children]
    if level:
        raise ModelFileError(f"{DOCUMENT} is nested more than {DEEPEST} levels deep")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _check_version(name: Any, version: Any) -> None:
    if name != FORMAT:
        raise ModelFileError(f"this is not a model file: its format is {name!r:.80} and not {FORMAT!r}")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"format_version must be a whole number of at least 1, got {version!r:.80}")
    if version > VERSION:
        raise ModelFileError(f"this file has format version {version}; this adacc reads up to {VERSION}: update adacc")


def _as_npy(name: str, array: NDArray[Any]) -> bytes:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise TypeError(f"the array {name!r} has the dtype {array.dtype}, and a model file holds {', '.join(DTYPES)}")
    file = io.BytesIO()
    np.lib.format.write_array(file, plain, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _from_npy(name: str, content: bytes) -> NDArray[Any]:
    header = _HEADER.match(content)
    if header is None or header.end() != 10 + int.from_bytes(header["length"], "little"):
        raise ModelFileError(f"{name} is no array of plain numbers as NumPy writes it")
    code, shape = header["dtype"].decode(), tuple(int(size) for size in header["shape"].split(b",") if size)
    if code not in DTYPES:
        raise ModelFileError(f"{name} has the dtype {code!r}; allowed are {', '.join(DTYPES)}")
    dtype, size = np.dtype(code), len(content) - header.end()
    # An array without elements may have any other size: too much for NumPy, though it would take no room.
    if prod(shape) * dtype.itemsize != size or max(shape) > len(content):
        raise ModelFileError(f"{name} has {size} bytes, which is not what the shape {shape} takes")
    stored: NDArray[Any] = np.ndarray(shape, dtype, content, header.end())
    return stored.astype(dtype.newbyteorder("="))  # a copy, which may be written to
