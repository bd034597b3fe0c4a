"""A local server in the place of OpenML and Zenodo: the same questions, the same formats, small answers."""

import hashlib
import io
import json
import re
import tarfile
import threading
import types
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import sklearn.datasets._openml as openml

ARCHIVE = "/record/61452/files/benchmark-imbalanced-learn.tar.gz"


class Server:
    """Serves what is put into `pages`; paths in `broken` break off in the middle."""

    def __init__(self, base):
        self.base = base
        self.pages = {}
        self.broken = set()
        self.asked = []

    def serve_openml(self, number, frame, labels):
        """A table as fetch_openml asks for it: description, features, qualities and the ARFF file."""
        table = frame.assign(**{"class": pd.Categorical(np.asarray(labels, dtype=str))})
        content = arff(table).encode()
        self.pages |= {
            f"/api/v1/json/data/{number}": as_json(
                data_set_description={
                    "id": str(number),
                    "name": "toy",
                    "version": "1",
                    "format": "ARFF",
                    "status": "active",
                    "file_id": str(number),
                    "description": "a toy",
                    "url": f"{self.base}/data/v1/download/{number}",
                    "md5_checksum": hashlib.md5(content).hexdigest(),
                }
            ),
            f"/api/v1/json/data/features/{number}": as_json(
                data_features={"feature": [describe(table, j) for j in range(table.shape[1])]}
            ),
            f"/api/v1/json/data/qualities/{number}": as_json(
                data_qualities={"quality": [{"name": "NumberOfInstances", "value": str(len(table))}]}
            ),
            f"/data/v1/download/{number}": content,
        }

    def serve_archive(self, **tables):
        """The archive of Zenodo with the arrays of some data sets, labels -1 and 1."""
        from imblearn.datasets._zenodo import MAP_NAME_ID

        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, (frame, target) in tables.items():
                arrays = io.BytesIO()
                np.savez_compressed(
                    arrays,
                    data=frame.to_numpy(dtype=np.float64),
                    label=np.where(np.asarray(target) == 1, 1, -1),
                )
                info = tarfile.TarInfo(f"x{MAP_NAME_ID[name]}data.npz")
                info.size = len(arrays.getvalue())
                archive.addfile(info, io.BytesIO(arrays.getvalue()))
        self.pages[ARCHIVE] = packed.getvalue()


def as_json(**content):
    return json.dumps(content).encode()


def describe(table, j):
    kind = "nominal" if isinstance(table.dtypes.iloc[j], pd.CategoricalDtype) else "numeric"
    return {
        "index": str(j),
        "name": str(table.columns[j]),
        "data_type": kind,
        "is_target": "true" if table.columns[j] == "class" else "false",
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": str(int(table.iloc[:, j].isna().sum())),
    }


def arff(table):
    lines = ["% a toy", "@RELATION toy"]
    for name, column in table.items():
        nominal = isinstance(column.dtype, pd.CategoricalDtype)
        kind = "{" + ",".join(f"'{level}'" for level in column.cat.categories) + "}" if nominal else "REAL"
        lines.append(f"@ATTRIBUTE '{name}' {kind}")
    cells = [column.map(cell, na_action="ignore").astype(object).fillna("?").tolist() for _, column in table.items()]
    return "\n".join([*lines, "@DATA", *map(",".join, zip(*cells, strict=True))]) + "\n"


def cell(value):
    if isinstance(value, str):
        return f"'{value}'" if " " in value else value
    return repr(float(value))


@contextmanager
def running():
    """A server on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append(self.path)
            content = server.pages.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write((content or b"")[: len(content or b"") // (2 if self.path in server.broken else 1)])

        def log_message(self, *args):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def point_to(base, setattr=setattr):
    """Make both libraries ask this address."""
    import imblearn.datasets._zenodo as zenodo

    point_openml_to(base, setattr)
    setattr(zenodo, "URL", base + ARCHIVE)


def point_openml_to(base, setattr=setattr):
    """Make scikit-learn ask this address, and retry without a pause."""
    if hasattr(openml, "_OPENML_PREFIX"):  # before scikit-learn 1.9 the paths are relative to it
        setattr(openml, "_OPENML_PREFIX", f"{base}/")
    else:
        for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
            setattr(openml, name, re.sub(r"^https?://[^/]+", base, getattr(openml, name)))
    setattr(openml, "time", types.SimpleNamespace(sleep=lambda seconds: None))
