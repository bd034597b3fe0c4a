"""What Python itself sees while hostile model files are loaded: nothing imported, unpickled, run; no other opened."""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]


def sibling(path):
    """Another file of tests, for what it holds beside them."""
    spec = importlib.util.spec_from_file_location(Path(path).stem + "_for_audit", TESTS / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Named:
    """In a pickle, the import of a module and the call of its function."""

    def __reduce__(self):
        return __import__("trap").spring, ()


WATCHED = """
    import os
    import sys
    import adacc

    folder, golden = sys.argv[1:]
    seen, watching = [], False
    forbidden = "import", "exec", "compile", "pickle.", "marshal.", "os.", "subprocess.", "socket.", "ctypes."

    def watch(event, args):
        if watching and (event.startswith(forbidden) or event == "open" and args[0] != path):
            seen.append((event, str(args)[:200]))

    names = sorted(os.listdir(folder))
    adacc.load(golden)  # so that all is loaded that reading a good file takes
    sys.addaudithook(watch)
    refused = 0
    for name in names:
        path = os.path.join(folder, name)
        watching = True
        try:
            adacc.load(path)
        except adacc.ModelFileError:
            refused += 1
        watching = False
    print(len(names), refused, seen, sep=";")
    watching = True
    __import__("trap")
    print("trap" in str(seen))
"""


def hostile_files():
    containers, models = sibling("model/test_archive.py"), sibling("estimators/test_model_file.py")
    objects = np.empty(1, dtype=object)
    objects[0] = Named()
    yield from (content for content, _ in containers.FAULTS.values())
    yield from (models.packed(change) for change, _ in models.HOSTILE.values())
    yield pickle.dumps(Named())
    yield b"PK\x03\x04" + pickle.dumps(Named())
    members = containers.members_of(models.WHOLE)
    for name in members:
        if name.endswith(".npy"):
            yield containers.zipped(containers.sealed(members | {name: containers.npy(objects)}))
            yield containers.zipped(containers.sealed(members | {name: pickle.dumps(Named())}))
    document = json.loads(members["model.json"])
    for named in ("trap", "trap.spring", "trap:spring", "__import__('trap')"):
        for key in document:
            edited = json.dumps(document | {key: named}).encode()
            yield containers.zipped(containers.sealed(members | {"model.json": edited}))
        for key in document["parameters"]:
            for value in (named, {"array": [1], "dtype": named}, {named: [1]}, {"scalar": 1, "dtype": named}):
                edited = json.dumps(document | {"parameters": document["parameters"] | {key: value}}).encode()
                yield containers.zipped(containers.sealed(members | {"model.json": edited}))


@pytest.mark.compiled
def test_a_loader_imports_opens_and_runs_nothing_that_a_file_names(tmp_path, monkeypatch):
    folder, modules = tmp_path / "files", tmp_path / "modules"
    folder.mkdir()
    modules.mkdir()
    (modules / "trap.py").write_text("def spring():\n    raise SystemExit('caught')\n")
    monkeypatch.syspath_prepend(modules)
    for number, content in enumerate(hostile_files()):
        (folder / f"{number:04}.adacc").write_bytes(content)
    sys.modules.pop("trap")
    golden = TESTS / "estimators" / "golden" / "format-1-frame.adacc"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WATCHED), str(folder), str(golden)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(modules), os.environ.get("PYTHONPATH", "")])},
    )
    assert done.returncode == 0, done.stderr
    counts, watch_sees = done.stdout.splitlines()
    n_files, refused, seen = counts.split(";")
    assert seen == "[]"
    assert watch_sees == "True"  # or the line above would say nothing
    assert int(n_files) > 300
    assert int(refused) > 0.5 * int(n_files)
