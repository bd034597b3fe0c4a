"""Threads, processes, clusters, caches: whoever fits or asks a model, and how many at once, the bits are the same."""

import io
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Barrier

import in_worker
import joblib
import numpy as np
import pandas as pd
import pytest
from in_worker import bits, small, table
from support import DETERMINISTIC, thinned

import adacc
from adacc import kernels

TESTS = Path(in_worker.__file__).parent
X, Y = table()
QUESTIONS = {
    "decision_function": lambda model, X: model.decision_function(X),
    "predict": lambda model, X: model.predict(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
    "explain": lambda model, X: model.explain(X, background=X).contributions,
}


def start(code, **environment):
    """Python in a process of its own, told where the tests' modules are."""
    paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
    )


def end(process):
    """What it printed; no process here may take minutes."""
    try:
        out, err = process.communicate(timeout=240)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out.strip()


def digest(content):
    return sha256(content).hexdigest()


FITS = """
    from hashlib import sha256
    from in_worker import fitted_bits
    print(sha256(fitted_bits(n_rows=400)).hexdigest())
"""
ASKS = """
    import numpy as np
    from adacc import kernels
    print(*kernels.whole_range(np.arange(9.0)))
"""
USES = {
    "one kernel": (ASKS, lambda: " ".join(map(str, kernels.whole_range(np.arange(9.0))))),
    "all of a fit": (FITS, lambda: digest(in_worker.fitted_bits(n_rows=400))),
}


@pytest.mark.compiled
def test_a_model_is_asked_by_many_threads_at_once():
    """A model just loaded has computed nothing yet, so that what it keeps for later is computed by all of them."""
    expected = {name: ask(small(calibration="sigmoid").fit(X, Y), X) for name, ask in QUESTIONS.items()}
    content = pickle.dumps(small(calibration="sigmoid").fit(X, Y))
    for _ in range(5):
        model, together = pickle.loads(content), Barrier(8)

        def ask_all(number, model=model, together=together):
            names = list(QUESTIONS)
            together.wait()
            return {name: QUESTIONS[name](model, X) for name in names[number % 4 :] + names[: number % 4]}

        with ThreadPoolExecutor(8) as pool:
            for answers in pool.map(ask_all, range(8)):
                for name, answer in answers.items():
                    np.testing.assert_array_equal(answer, expected[name], err_msg=name)


@pytest.mark.thorough
@pytest.mark.compiled
def test_threads_may_meet_in_the_compiler(tmp_path):
    """The very first use in a process with an empty cache: eight threads want all kernels at once."""
    code = """
        from concurrent.futures import ThreadPoolExecutor
        from hashlib import sha256
        from threading import Barrier
        from in_worker import fitted_bits
        together = Barrier(8)
        def fit(_):
            together.wait()
            return sha256(fitted_bits(n_rows=400)).hexdigest()
        with ThreadPoolExecutor(8) as pool:
            print(*set(pool.map(fit, range(8))))
    """
    assert end(start(code, NUMBA_CACHE_DIR=str(tmp_path))) == digest(in_worker.fitted_bits(n_rows=400))


@pytest.mark.compiled
@pytest.mark.parametrize("use", thinned(USES, ["all of a fit"]))
def test_two_processes_may_fill_one_cache_at_once(tmp_path, use):
    """In a folder that neither has found there."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "no" / "such" / "folder")}
    code, in_this_process = USES[use]
    both = [start(code, **environment) for _ in range(2)]
    expected = in_this_process()
    assert [end(process) for process in both] == [expected] * 2
    assert end(start(code, **environment)) == expected  # from what the two have left there
    assert any(tmp_path.rglob("*.nbi"))


@pytest.mark.compiled
@pytest.mark.parametrize("place", thinned(["file", "file/folder"], ["file/folder"]))
def test_a_cache_folder_that_cannot_be_had_is_no_error(place, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / place), "TMPDIR": str(tmp_path / "temporary")}
    assert end(start(FITS, **environment)) == digest(in_worker.fitted_bits(n_rows=400))


@pytest.mark.compiled
def test_without_the_compiler_the_model_is_the_same():
    code = """
        from hashlib import sha256
        import adacc
        from in_worker import fitted_bits
        for method in adacc.methods():
            print(method, sha256(fitted_bits(method, n_rows=300, n_columns=4)).hexdigest())
    """
    plain = end(start(code, NUMBA_DISABLE_JIT="1")).splitlines()
    ours = [f"{method} {digest(in_worker.fitted_bits(method, n_rows=300, n_columns=4))}" for method in adacc.methods()]
    assert plain == ours


@pytest.mark.compiled
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_answers_and_learns_the_same():
    model = small().fit(X, Y)
    in_two_threads = small(n_jobs=2).fit(X, Y)  # threads that a fork would not have
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for question in (model.predict, model.predict_proba, in_two_threads.decision_function):
            np.testing.assert_array_equal(pool.submit(question, X).result(60), question(X))
        for again in (small().fit, small(n_jobs=2).fit):
            assert bits(pool.submit(again, X, Y).result(60)) == bits(model)


@pytest.mark.compiled
def test_a_spawned_process_answers_and_learns_the_same():
    model = small().fit(X, Y)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for question in (model.predict, model.predict_proba):
            np.testing.assert_array_equal(pool.submit(question, X).result(120), question(X))
        assert bits(pool.submit(small(n_jobs=2).fit, X, Y).result(120)) == bits(model)


@pytest.mark.compiled
def test_workers_of_joblib_learn_the_same():
    methods = adacc.methods()
    with joblib.parallel_config("loky", n_jobs=2):
        theirs = joblib.Parallel()(joblib.delayed(small(method).fit)(X, Y) for method in methods)
    for method, model in zip(methods, theirs, strict=True):
        assert bits(model) == bits(small(method).fit(X, Y)), method


@pytest.mark.thorough
@pytest.mark.compiled
def test_workers_of_dask_learn_the_same():
    distributed = pytest.importorskip("distributed")
    methods = ["adacc1", "cgada-cal", "rusboost"]
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        theirs = client.gather([client.submit(small(method).fit, X, Y, pure=False) for method in methods * 2])
    for method, model in zip(methods * 2, theirs, strict=True):
        assert bits(model) == bits(small(method).fit(X, Y)), method


@pytest.mark.compiled
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux lists them")
def test_a_fit_takes_the_threads_it_was_given_and_no_more(monkeypatch):
    """In each of two workers: no pool of a library beside ours, and none that outlives the fit."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # which would keep libraries from having one
    with joblib.parallel_config("loky", n_jobs=2):
        counted = joblib.Parallel()(joblib.delayed(in_worker.threads_of_fit)(n) for n in (2, 2, None, 1))
    assert [left for _, left in counted] == [0, 0, 0, 0]
    assert [added for added, _ in counted] == [2, 2, 0, 0]


@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_threads_and_repetitions_change_no_bit(method):
    X, y = table(300)
    models = {bits(small(method, n_jobs=n_jobs).fit(X, y)) for n_jobs in (1, 2, None, -1, 1)}
    assert len(models) == 1


@pytest.mark.compiled
@pytest.mark.parametrize("method", thinned(DETERMINISTIC))
def test_the_order_of_up_to_50_000_rows_changes_no_split_and_no_label(method):
    """Votes are logarithms of sums, the last bits of which depend on the order of summation."""
    X, y = table(50_000, 4)
    model = small(method).fit(X, y)
    for order in (slice(None, None, -1), np.random.default_rng(1).permutation(50_000)):
        other = small(method, n_jobs=2).fit(X[order], y[order])
        assert other.estimators_ == model.estimators_
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_allclose(other.estimator_weights_, model.estimator_weights_, rtol=1e-13)
        np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)


FRAME = pd.DataFrame({"number": X[:300, 0], "text": np.where(X[:300, 1] > 0, "a", "b"), "flag": X[:300, 2] > 1})
KEPT = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "oldest pickle": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "joblib": lambda model: by_joblib(model),
    "skops": lambda model: by_skops(model),
}


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return joblib.load(io.BytesIO(file.getvalue()))


SKOPS_MUST_TRUST = {
    "adacc.data.binning.CategoryBins",
    "adacc.data.binning.BinMapper",
    "adacc.data.binning.NumericBins",
    "adacc.model.ensemble.Ensemble",
    "adacc.model.fitted.FittedModel",
    "adacc.model.fitted.TuningScores",
    "adacc.learners.stump.Stumps",
    "adacc.learners.step_functions.Steps",
    "adacc.model.calibration.Calibrator",
    "adacc.model.calibration.Isotonic",
    "adacc.model.calibration.Sigmoid",
    "adacc.estimators.classifiers.BoostingClassifier",
}


def by_skops(model):
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(model)
    asked = skops.get_untrusted_types(data=content)
    assert set(asked) <= SKOPS_MUST_TRUST
    return skops.loads(content, trusted=asked)


@cache
def model_and_answers(method, calibration):
    model = small(method, calibration=calibration).fit(FRAME, Y[:300])
    asked = set(QUESTIONS) - ({"explain"} if calibration == "isotonic" else set())  # no sum to take apart
    return model, {name: QUESTIONS[name](model, FRAME) for name in asked}


@pytest.mark.parametrize("way", KEPT)
@pytest.mark.parametrize("method", thinned(adacc.methods()))
def test_every_method_comes_back_from_other_libraries_files(method, way):
    for calibration in (None, "sigmoid", "isotonic"):
        model, answers = model_and_answers(method, calibration)  # what it has computed for later goes with it
        again = KEPT[way](model)
        assert bits(again) == bits(model)
        for name, answer in answers.items():
            np.testing.assert_array_equal(QUESTIONS[name](again, FRAME), answer, err_msg=name)


def test_a_copy_of_another_process_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(small().fit(X, Y))).predict(X)
