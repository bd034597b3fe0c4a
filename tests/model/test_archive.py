"""The container of model files: what is written comes back, and what is not as it was written is refused."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adacc.model.serialization import archive
from adacc.model.serialization.archive import ModelFileError

DOCUMENT = {"whole": 1, "real": 1.0, "yes": True, "text": "1", "none": None, "nested": [{"ä\ud800": []}]}
ARRAYS = {
    "reals": np.array([[0.1, -0.0, np.inf], [np.nan, 1e-320, -1e308]]),
    "wholes": np.array([-(2**63), 2**63 - 1]),
    "features": np.array([-1, 7], dtype=np.int32),
    "cuts": np.array([[[2**32 - 1]]], dtype=np.uint32),
    "classes": np.arange(256, dtype=np.uint8),
    "empty": np.empty(0),
}
CONTENT = archive.pack(DOCUMENT, ARRAYS)


def members_of(content=CONTENT):
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return {info.filename: opened.read(info) for info in opened.infolist()}


def sealed(members):
    """The members with checksums that are right, as somebody who edits a file would make them."""
    members = {name: content for name, content in members.items() if name != archive.CHECKSUMS}
    return members | {archive.CHECKSUMS: archive._checksums(members)}


def zipped(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        for name, content in members.items() if isinstance(members, dict) else members:
            opened.writestr(name, content)
    return file.getvalue()


def with_member(name, content):
    return zipped(sealed(members_of() | {name: content}))


def with_document(**changed):
    document = json.loads(members_of()[archive.DOCUMENT]) | changed
    return with_member(archive.DOCUMENT, json.dumps(document).encode())


def npy(array=None, header=None, data=b""):
    """An array as NumPy writes it, or a header of one's own."""
    file = io.BytesIO()
    if array is not None:
        np.save(file, array, allow_pickle=True)
        return file.getvalue()
    header = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def shaped(shape, descr="'<f8'", order="False"):
    return npy(header=f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")


def patched(offset, value, signature=b"PK\x01\x02"):
    """The content with a number changed in the first entry of the zip's directory."""
    at = CONTENT.index(signature) + offset
    return CONTENT[:at] + value + CONTENT[at + len(value) :]


def test_what_is_packed_comes_back():
    document, arrays = archive.unpack(CONTENT)
    assert repr(document) == repr(DOCUMENT)
    assert sorted(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array, strict=True)
        assert arrays[name].flags.writeable
        assert arrays[name].tobytes() == array.tobytes()  # signs of zeros too


def test_equal_contents_are_equal_bytes_whatever_the_order_and_layout():
    turned = {name: np.asfortranarray(array) for name, array in reversed(ARRAYS.items())}
    assert archive.pack(DOCUMENT, turned) == CONTENT
    swapped = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in ARRAYS.items()}
    assert archive.pack(DOCUMENT, swapped) == CONTENT


def test_other_tools_can_read_it():
    members = members_of()
    np.testing.assert_array_equal(np.load(io.BytesIO(members["reals.npy"]), allow_pickle=False), ARRAYS["reals"])
    assert json.loads(members["model.json"])["format_version"] == archive.VERSION
    lines = members["SHA256SUMS"].decode().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["model.json", *sorted(f"{name}.npy" for name in ARRAYS)]


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array([1.0], dtype=np.float32)])
def test_only_plain_arrays_are_packed(array):
    with pytest.raises(TypeError, match="the array 'odd' must have a dtype of"):
        archive.pack({}, {"odd": array})


def test_a_file_has_its_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="must have at most 1000 bytes, got a model of"):
        archive.pack(DOCUMENT, ARRAYS)
    (tmp_path / "large.adacc").write_bytes(CONTENT)
    with pytest.raises(ModelFileError, match=r"large\.adacc: a model file must have at most 1000 bytes, got \d+"):
        archive.read(tmp_path / "large.adacc")


class Payload:
    """Leaves a mark where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


FAULTS = {
    "no zip": (CONTENT[:4] + bytes(500), "damaged or not a zip archive"),
    "truncated": (CONTENT[:-1], "damaged or not a zip archive"),
    "cut in half": (CONTENT[: len(CONTENT) // 2], "damaged or not a zip archive"),
    "without its beginning": (CONTENT[200:], "damaged|checksums|no model.json"),
    "a changed byte": (CONTENT.replace(b'"whole": 1', b'"whole": 2'), "Bad CRC-32 for file 'model.json'"),
    "an edited document": (zipped(members_of() | {"model.json": b'{"format": "adacc model", "format_version": 1}'}),
                           "do not match their checksums"),
    "no checksums": (zipped({name: member for name, member in members_of().items() if name != archive.CHECKSUMS}),
                     "do not match their checksums"),
    "no document": (zipped(sealed({"reals.npy": members_of()["reals.npy"]})), r"it has no model\.json"),
    "another zip": (zipped({"word/document.xml": b"<xml/>"}), r"not a model file: it has no model\.json"),
    "of another format": (with_document(format="skops"), "'format' must be 'adacc model', got 'skops'"),
    "of a later version": (with_document(format_version=3),
                           "this file has format version 3; this adacc reads up to 2: update adacc"),
    "of no version": (with_document(format_version=True), "format_version must be a whole number"),
    "a list": (with_member("model.json", b"[]"), "must hold an object, got a list"),
    "no JSON": (with_member("model.json", b"{"), "must be valid JSON"),
    "not ASCII": (with_member("model.json", b'{"\xff": 1}'), "must be valid JSON"),
    "NaN": (with_member("model.json", b'{"x": NaN}'), "NaN is not a JSON number"),
    "a number without end": (with_member("model.json", b'{"x": ' + b"9" * 5000 + b"}"), "must be valid JSON"),
    "deep": (with_document(x=json.loads("[" * 40 + "]" * 40)), "more than 32 levels deep"),
    "too deep to parse": (with_member("model.json", b'{"x": ' + b"[" * 100_000), "must be valid JSON"),
    "a path upwards": (with_member("../../evil.npy", npy(np.zeros(1))), "must not have a member '../../evil.npy'"),
    "an absolute path": (with_member("/tmp/evil.npy", npy(np.zeros(1))), "must not have a member '/tmp/evil.npy'"),
    "a hidden name": (zipped(members_of() | {"reals.npyX.exe": b""}).replace(b"npyX", b"npy\0"), "must not have"),
    "a folder": (with_member("folder/", b""), "must not have a member 'folder/'"),
    "a script": (with_member("setup.py", b"import os"), "must not have a member 'setup.py'"),
    "compressed": (zipped(members_of(), zipfile.ZIP_DEFLATED), "must not be compressed"),
    "encrypted": (patched(8, b"\x01"), "must not be encrypted"),
    "an unknown compression": (patched(10, b"\x63"), "must not be compressed"),
    "a size that is a lie": (patched(20, struct.pack("<II", 2**31, 2**31)), "the members declare 2147"),
    "two sizes": (patched(24, struct.pack("<I", 7)), "must not be compressed"),
    "a place beyond the end": (patched(42, struct.pack("<I", 2**31)), "damaged or not a zip archive"),
    "objects": (with_member("reals.npy", npy(np.array([None]))), "must be an array of numbers"),
    "strings": (with_member("reals.npy", npy(np.array(["a"]))), "must have a dtype of .* got '<U1'"),
    "half floats": (with_member("reals.npy", npy(np.zeros(2, np.float16))), "must have a dtype of .* got '<f2'"),
    "big-endian": (with_member("reals.npy", npy(np.zeros(2, ">f8"))), "must be an array of numbers"),
    "records": (with_member("reals.npy", npy(np.zeros(2, [("a", "f8")]))), "must be an array of numbers"),
    "no dimension": (with_member("reals.npy", npy(np.array(1.0))), "must be an array of numbers"),
    "by columns": (with_member("reals.npy", npy(np.asfortranarray(np.zeros((2, 2))))), "must be an array of"),
    "a header that is code": (with_member("reals.npy", shaped("(__import__('os').getpid(),)")), "must be an array"),
    "a header of brackets": (with_member("reals.npy", shaped("(" * 5000)), "must be an array of numbers"),
    "an empty member": (with_member("reals.npy", b""), "must be an array of numbers"),
    "a shape without content": (with_member("reals.npy", shaped("(9000000000,)")), "does not match the shape"),
    "a shape of nothing": (with_member("reals.npy", shaped("(0, 9000000000, 9000000000)")), "does not match the shape"),
    "too much content": (with_member("reals.npy", npy(np.zeros(3)) + b"x"), "does not match the shape"),
    "a header of another length": (with_member("reals.npy", npy(np.zeros(3)).replace(b"v\0", b"w\0", 1)),
                                   "must be an array of numbers"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused(fault):
    content, message = FAULTS[fault]
    with pytest.raises(ModelFileError, match=message):
        archive.unpack(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_a_name_are_refused():
    twice = [*members_of().items(), ("reals.npy", npy(np.zeros(1)))]
    with pytest.raises(ModelFileError, match=r"the member 'reals\.npy' must be unique"):
        archive.unpack(zipped(twice))


def test_nothing_is_unpickled(tmp_path):
    mark = tmp_path / "mark"
    pickles = np.empty(1, dtype=object)
    pickles[0] = Payload(mark)
    content = npy(pickles)
    with pytest.raises(ModelFileError):
        archive.unpack(with_member("reals.npy", content))
    with pytest.raises(ModelFileError):
        archive.unpack(with_member("model.json", pickle.dumps(Payload(mark))))
    assert not mark.exists()
    np.load(io.BytesIO(content), allow_pickle=True)  # what would have happened
    assert mark.exists()


@pytest.mark.parametrize(
    "bomb",
    [
        zipped(members_of() | {"zeros.npy": bytes(50_000_000)}, zipfile.ZIP_DEFLATED),
        FAULTS["a shape without content"][0],
        FAULTS["a size that is a lie"][0],
    ],
    ids=["compressed", "shape", "size"],
)
def test_a_bomb_takes_no_more_memory_than_its_size_allows(bomb):
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            archive.unpack(bomb)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=200), st.integers(0, len(CONTENT)), st.integers(0, 200))
def test_damage_is_noticed_or_harmless(inserted, at, removed):
    """Zips have room for what nobody reads; what is read is sealed."""
    damaged = CONTENT[:at] + inserted + CONTENT[at + removed :]
    try:
        document, arrays = archive.unpack(damaged)
    except ModelFileError:
        return
    assert document == DOCUMENT
    assert archive.pack(document, arrays) == CONTENT


@given(st.binary(max_size=300))
def test_any_bytes_are_no_archive(content):
    with pytest.raises(ModelFileError):
        archive.unpack(b"PK\x03\x04" + content)
    with pytest.raises(ModelFileError):
        archive.unpack(with_member("reals.npy", content))
    with pytest.raises(ModelFileError):
        archive.unpack(with_member("model.json", content))


class TestFiles:
    def test_a_link_stays_a_link(self, tmp_path):
        path, link = tmp_path / "real.adacc", tmp_path / "latest.adacc"
        path.write_bytes(b"old")
        link.symlink_to(path)
        archive.write(link, b"new")
        assert link.is_symlink()
        assert path.read_bytes() == b"new"

    def test_written_as_a_whole(self, tmp_path):
        path = tmp_path / "m.adacc"
        archive.write(path, b"PK\x03\x04 one")
        archive.write(str(path), b"PK\x03\x04 two")
        assert archive.read(path) == b"PK\x03\x04 two"
        assert os.listdir(tmp_path) == ["m.adacc"]

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
    def test_permissions_are_those_of_any_file(self, tmp_path):
        (tmp_path / "any").touch()
        archive.write(tmp_path / "m.adacc", CONTENT)
        assert (tmp_path / "m.adacc").stat().st_mode == (tmp_path / "any").stat().st_mode

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_a_failure_leaves_the_old_file_and_nothing_else(self, step, error, tmp_path, monkeypatch):
        def fail(*_):
            raise error

        path = tmp_path / "m.adacc"
        archive.write(path, b"old")
        monkeypatch.setattr(os, step, fail)
        with pytest.raises(type(error)) as raised:
            archive.write(path, b"new")
        assert isinstance(error, KeyboardInterrupt) or raised.value.filename == str(path)
        assert os.listdir(tmp_path) == ["m.adacc"]
        assert path.read_bytes() == b"old"

    def test_where_nothing_can_be_written_the_error_names_the_file(self, tmp_path):
        (tmp_path / "file").touch()
        for path, kind in [
            (tmp_path / "nowhere" / "m.adacc", FileNotFoundError),
            (tmp_path / "file" / "m.adacc", NotADirectoryError),
            (tmp_path, IsADirectoryError),
        ]:
            with pytest.raises(kind) as raised:
                archive.write(path, CONTENT)
            assert raised.value.filename == str(path)
        assert os.listdir(tmp_path) == ["file"]

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_may_not_be_written_to(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match=r"m\.adacc"):
            archive.write(tmp_path / "m.adacc", CONTENT)
        tmp_path.chmod(0o700)

    def test_other_files_are_told_at_their_beginning(self, tmp_path):
        path = tmp_path / "m.adacc"
        for content in (b"", b"PK", pickle.dumps(1), b"\x93NUMPY"):
            path.write_bytes(content)
            with pytest.raises(ModelFileError, match=r"m\.adacc: this is not a model file"):
                archive.read(path)
        with pytest.raises(FileNotFoundError):
            archive.read(tmp_path / "other")
