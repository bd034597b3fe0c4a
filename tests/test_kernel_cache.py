"""The cache of compiled kernels is found again wherever the same code is, and compilation is announced."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import numba
import pytest

import adacc
from adacc.kernels import warmup

pytestmark = pytest.mark.compiled

PACKAGE = Path(adacc.__file__).parent
ONE_KERNEL = """
    import numpy as np
    from adacc import kernels
    kernels.whole_range(np.arange(3.0))
    print(sum(kernels.whole_range.stats.cache_hits.values()))
"""
REPOSITORY = Path(__file__).parents[1]


def run(code, python=sys.executable, **environment):
    """What code prints on stdout and on stderr, in a process with the user's folders in `HOME`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
    finished = subprocess.run(
        [python, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=True, env={**kept, **environment}, cwd="/",
    )  # fmt: skip
    return finished.stdout.strip(), finished.stderr.strip()


def n_cache_hits(site, home, **environment):
    return int(run(ONE_KERNEL, PYTHONPATH=str(site), HOME=str(home), **environment)[0])


def compiled_kernels(folder):
    """The files that Numba writes; Python adds the bytecode of modules to the same folder."""
    return {file.name: file.read_bytes() for file in folder.glob("*.nb[ci]")}


@pytest.fixture
def site(tmp_path):
    """A folder with a copy of the package without a cache, as after an installation."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "adacc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_other_times_of_the_same_files_keep_the_cache(site, tmp_path):
    assert n_cache_hits(site, tmp_path) == 0
    assert n_cache_hits(site, tmp_path) == 1
    for file in site.rglob("*.py"):
        os.utime(file, (1, 1))
    assert n_cache_hits(site, tmp_path) == 1


def test_a_copy_of_an_environment_has_the_cache(site, tmp_path):
    assert n_cache_hits(site, tmp_path) == 0
    shutil.copytree(site, tmp_path / "copied" / "elsewhere", copy_function=shutil.copy)  # new times
    shutil.rmtree(site)
    assert n_cache_hits(tmp_path / "copied" / "elsewhere", tmp_path) == 1


@pytest.mark.parametrize("changed", ["thresholds.py", "dtypes.py"])
def test_another_text_of_any_kernel_file_compiles_again(site, tmp_path, changed):
    assert n_cache_hits(site, tmp_path) == 0
    file = site / "adacc" / "kernels" / changed
    times = file.stat()
    file.write_text(file.read_text() + "# another text\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert n_cache_hits(site, tmp_path) == 0
    assert n_cache_hits(site, tmp_path) == 1


@pytest.mark.skipif(
    not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this Numba cannot be kept from its folders"
)
def test_a_read_only_installation_uses_the_cache_that_it_was_built_with(site, tmp_path):
    """As in a container: built by one user, then read-only for another, who compiles other kernels elsewhere."""
    assert n_cache_hits(site, tmp_path) == 0
    cache = site / "adacc" / "kernels" / "__pycache__"
    before = compiled_kernels(cache)
    assert before
    home = tmp_path / "home"
    home.mkdir()
    read_only = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserWideCacheLocator"}  # permissions do not bind root
    assert n_cache_hits(site, home, **read_only) == 1
    known = "from adacc.kernels import warmup; print('whole_range' in warmup.missing(warmup.signatures()))"
    assert run(known, PYTHONPATH=str(site), HOME=str(home), **read_only)[0] == "False"
    other = ONE_KERNEL.replace("arange(3.0)", "arange(3, dtype=np.float32)")
    places = {"PYTHONPATH": str(site), "HOME": str(home), **read_only}
    assert [run(other, **places)[0] for _ in range(2)] == ["0", "1"]
    assert compiled_kernels(cache) == before
    assert any(home.rglob("*.nbi"))


@pytest.mark.thorough
def test_a_wheel_that_is_installed_twice_keeps_the_cache(tmp_path):
    built = tmp_path / "repository"
    shutil.copytree(
        REPOSITORY, built, ignore=shutil.ignore_patterns(".*", "__pycache__", "tests", "docs", "benchmarks")
    )
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, built], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python, (wheel,) = tmp_path / "venv" / "bin" / "python", tmp_path.glob("*.whl")
    hits = []
    for _ in range(2):
        subprocess.run([*pip, "--python", python, "install", "--no-deps", "--force-reinstall", wheel], check=True)
        places = {"PYTHONPATH": sysconfig.get_path("purelib"), "HOME": str(tmp_path)}  # the other libraries
        hits.append(int(run(ONE_KERNEL, python, **places)[0]))
    assert hits == [0, 1]


def test_compilation_is_logged_once_and_a_cached_kernel_is_not(site, tmp_path):
    code = ONE_KERNEL + "    kernels.find_first(*(np.zeros(4, dtype=t) for t in (np.uint64, np.uint32, np.uint32)))"
    for expected in (1, 0):
        said = run(code, PYTHONPATH=str(site), HOME=str(tmp_path))[1]
        assert said.count("compiling kernels (once per machine)") == expected
        assert len(said.splitlines()) == expected


@pytest.mark.thorough
def test_after_a_warm_up_nothing_is_compiled(tmp_path):
    """The argument types of `adacc.kernels.warmup` are those of the estimators."""
    code = """
        import logging, sys
        import numpy as np, pandas as pd, scipy.sparse
        import adacc
        from adacc.kernels import warmup
        logging.getLogger("adacc.kernels").setLevel(logging.ERROR)
        names = list(warmup.compile_kernels(warmup.signatures()))
        assert warmup.missing(warmup.signatures()) == []
        logging.getLogger("adacc.kernels").setLevel(logging.INFO)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 6))
        y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=600) > 2).astype(int)
        whole, frame = np.round(X * 3), pd.DataFrame(X).add_prefix("x")
        frame["kind"] = rng.choice(list("abc"), 600)
        sparse = scipy.sparse.random(600, 50, 0.1, "csr", random_state=0)
        three = np.digitize(X[:, 0], [0.0, 1.0])
        weight = rng.random(600)
        for model, data, labels in [
            (adacc.AdaCC1Classifier(), X, y), (adacc.AdaCC1Classifier(), whole, y),
            (adacc.AdaCC1Classifier(), frame, y), (adacc.AdaCC1Classifier(), np.exp(5 * X), y),
            (adacc.AdaCC1Classifier(), sparse, y),
            (adacc.AdaCC1Classifier(), X, three), (adacc.AdaCC1Classifier(max_depth=3), X, y),
            (adacc.AdaCCForestClassifier(), X, y), (adacc.AdaCCForestClassifier(), frame, y),
            (adacc.AdaCCForestClassifier(), X, three), (adacc.RUSBoostClassifier(), X, y),
        ]:
            model.fit(data, labels).predict(data)
        forest = adacc.AdaCCForestClassifier().fit(X, y)
        forest.explain(X)
        forest.shape_functions(X, n_pairs=0)
        adacc.AdaCC1Classifier().fit(X, y, sample_weight=weight).predict_proba(X)
        print(len(names))
    """
    n_compiled, said = run(code, NUMBA_CACHE_DIR=str(tmp_path), HOME=str(tmp_path))
    assert int(n_compiled) == len(warmup.signatures())
    assert said == ""


@pytest.mark.thorough
def test_warm_up_on_the_command_line(tmp_path):
    for expected in ("30 kernels compiled in ", "all kernels were compiled before"):
        said = run("from adacc.cli.main import main; main(['warmup'])", NUMBA_CACHE_DIR=str(tmp_path))[0]
        assert said.startswith(expected)


@pytest.mark.thorough
def test_a_command_compiles_in_a_second_process_and_says_so(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(
        "a,b,t\n" + "".join(f"{i * 37 % 101 / 7},{i % 13},{'yes' if i % 9 == 0 else 'no'}\n" for i in range(300))
    )
    model = tmp_path / "m.adacc"
    train = (
        f"from adacc.cli.main import main; main(['train', {str(table)!r}, '--target', 't', '--model', {str(model)!r}])"
    )
    for expected in (1, 0):
        said = run(train, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[1]
        assert said.count("adacc: compiling kernels (once per machine) ...") == expected
    assert model.exists()
    compiled = {file.name.split(".")[1].rpartition("-")[0] for file in (tmp_path / "cache").rglob("*.nbi")}
    assert {name for name, _ in warmup.signatures("stumps")} <= compiled
