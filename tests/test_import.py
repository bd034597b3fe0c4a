"""What `import adacc` brings along, and that it works where nothing can be written."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import pytest

import adacc


def run(code, **environment):
    script = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_nothing_heavy():
    loaded = run(
        """
        import sys
        import adacc
        heavy = ["matplotlib", "polars", "imblearn", "dask", "jinja2", "altair", "lightgbm", "xgboost"]
        print([name for name in heavy if name in sys.modules])
        """
    )
    assert loaded == "[]"


def test_rooms_open_by_their_names():
    found = run(
        """
        import adacc
        print(adacc.export.to_onnx.__name__, adacc.distributed.fit_parquet.__name__, adacc.tables.__name__)
        """
    )
    assert found == "to_onnx fit_parquet adacc.tables"


@pytest.mark.parametrize("opened", ["tables", "distributed.fit_parquet"])
def test_a_pyarrow_that_garbles_text_is_refused(opened):
    said = run(
        f"""
        import pyarrow
        pyarrow.__version__ = "23.0.1"
        import adacc
        try:
            adacc.{opened}
        except ImportError as error:
            print(error)
        """
    )
    assert said == (
        'adacc.tables needs pyarrow 24 or newer, which reads text correctly, got 23.0.1: pip install "pyarrow>=24"'
    )


@pytest.mark.compiled
def test_nothing_is_compiled_at_import():
    compiled = run(
        """
        import adacc
        from adacc import kernels
        print([name for name, f in vars(kernels).items() if getattr(f, "signatures", None)])
        """
    )
    assert compiled == "[]"


ONE_KERNEL = """
    import numpy as np
    from adacc import kernels
    kernels.whole_range(np.arange(3.0))
    print(3)
"""
A_FIT = """
    import numpy as np
    import adacc
    X = np.arange(40.0)[:, None] % 7
    print(adacc.AdaCC1Classifier(n_estimators=3).fit(X, np.arange(40) % 3 == 0).n_iter_)
"""
each_use = pytest.mark.parametrize(
    "code", [ONE_KERNEL, pytest.param(A_FIT, marks=pytest.mark.thorough)], ids=["one kernel", "all of a fit"]
)


# As in a container with a read-only image: neither the package's folder nor the user's may be used for the cache.
NOWHERE = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
can_be_nowhere = pytest.mark.skipif(
    not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this Numba cannot be kept from its folders"
)


@pytest.fixture
def uncached(tmp_path):
    """The place of a copy of the package that has no compiled kernels."""
    shutil.copytree(Path(adacc.__file__).parent, tmp_path / "adacc", ignore=shutil.ignore_patterns("__pycache__"))
    return {"PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path), **NOWHERE}


@can_be_nowhere
@pytest.mark.compiled
@each_use
def test_where_no_folder_can_be_written_a_private_one_serves(tmp_path, uncached, code):
    assert run(code, **uncached) == "3"
    folder = next(tmp_path.glob("adacc-kernels-*"))
    assert folder.stat().st_mode & 0o077 == 0
    assert any(folder.rglob("*.nbi"))


@can_be_nowhere
@pytest.mark.compiled
@each_use
def test_a_cache_folder_that_others_may_write_to_is_not_used(tmp_path, uncached, code):
    folder = tmp_path / f"adacc-kernels-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert run(code, **uncached) == "3"
    assert not any(folder.iterdir())
