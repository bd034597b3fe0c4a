import io

import pytest

from adacc.tables import TableError


@pytest.fixture
def write(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refused(tmp_path):
    """What is said when a call is refused: one line; the folder is left out."""

    def refused(call, *args, **kwargs):
        with pytest.raises(TableError) as caught:
            call(*args, **kwargs)
        message = str(caught.value)
        assert "\n" not in message
        return message.replace(f"{tmp_path}/", "")

    return refused


@pytest.fixture
def piped(monkeypatch):
    """Standard input with some content, from which one cannot go back."""

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation

    def piped(content):
        stream = io.BufferedReader(Pipe(content if isinstance(content, bytes) else content.encode()))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))

    return piped
