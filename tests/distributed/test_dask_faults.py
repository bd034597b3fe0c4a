"""Workers are killed, schedulers lost, sources fail: the same model comes out, or one error that says what happened."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import dask
import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster
from on_dask import assert_same_model, cluster_of, in_chunks
from support import thinned

import adacc
from adacc.distributed import ClusterError, DaskBoostingClassifier, cluster

N = 160
SIZES = [40] * 4
RNG = np.random.default_rng(9)
Y = (RNG.random(N) < 0.3).astype(int)
X = RNG.normal(size=(N, 3)) + Y[:, None] * [1.0, 0.6, -0.4]
OPTIONS = {"method": "adacc2", "n_estimators": 8, "calibration": "sigmoid", "calibration_cv": "training"}


def bounded(function, seconds=60.0):
    """What the function does, but a failure if it takes so long: it would have been for ever."""
    outcome = []

    def run():
        try:
            outcome.append((function(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, f"not done in {seconds:.0f} seconds"
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def fit(client, rows=None, labels=None, **options):
    dX, dy = in_chunks(SIZES, X, Y)
    model = DaskBoostingClassifier(**{**OPTIONS, **options}, client=client)
    return bounded(lambda: model.fit(dX if rows is None else rows, dy if labels is None else labels))


def assert_undisturbed(found, **options):
    local = adacc.BoostingClassifier(**{**OPTIONS, **options}).fit(X, Y)
    assert_same_model(found, local)
    np.testing.assert_allclose(found.to_local().predict_proba(X), local.predict_proba(X), rtol=1e-9)


class AtRounds(io.StringIO):
    """Stands where a fit reports its rounds, and acts at some of them."""

    def __init__(self, *rounds, act):
        super().__init__()
        self.awaited, self.act = [f"round {t} of" for t in rounds], act

    def write(self, text):
        if self.awaited and self.awaited[0] in text:
            self.awaited.pop(0)
            self.act()
        return super().write(text)


@pytest.fixture
def at_rounds(monkeypatch):
    def set_up(*rounds, act):
        hook = AtRounds(*rounds, act=act)
        monkeypatch.setattr(sys, "stderr", hook)
        return hook

    return set_up


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """A cluster without workers is given up after two seconds."""
    monkeypatch.setattr(cluster, "NO_WORKER_TIMEOUT", 2.0)
    monkeypatch.setattr(cluster, "POLL_SECONDS", 0.3)


def pids(client):
    return list(client.run(os.getpid).values())


def kill(*processes):
    for process in processes:
        os.kill(process, signal.SIGKILL)


def until(something):
    while not something():
        time.sleep(0.05)


@pytest.fixture
def nannies(monkeypatch, hasty):
    """Two workers that are started again when they die, long before the cluster is given up; no other test's."""
    monkeypatch.setattr(cluster, "NO_WORKER_TIMEOUT", 50.0)
    with cluster_of(2) as client:
        yield client


@contextmanager
def process(*command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen([sys.executable, "-m", "dask", *command], **quiet)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@contextmanager
def workers_at(address, n, folder):
    """Worker processes that nobody starts again."""
    with ExitStack() as stack:
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
        yield [stack.enter_context(process("worker", address, *options)) for _ in range(n)]


@contextmanager
def scheduler_alone():
    options = {"n_workers": 0, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as started, Client(started, set_as_default=False) as client:
        yield client


@pytest.fixture
def mortals(tmp_path):
    """A client of two workers that nobody starts again."""
    with scheduler_alone() as client, workers_at(client.scheduler.address, 2, tmp_path):
        bounded(lambda: until(lambda: len(client.nthreads()) == 2))
        yield client


# Workers that are lost.


@pytest.mark.parametrize(
    "noticed", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["noticed by asking", "known before"]
)
def test_a_worker_killed_between_rounds(nannies, at_rounds, noticed):
    """In the second case the next round begins only when Dask knows of it."""

    def kill_one():
        address, pid = next(iter(nannies.run(os.getpid).items()))
        kill(pid)
        if noticed:
            until(lambda: address not in nannies.nthreads())
            time.sleep(0.2)  # for the client to hear of it

    hook = at_rounds(3, act=kill_one)
    found = fit(nannies, verbose=1)
    assert not hook.awaited
    assert_undisturbed(found)


@pytest.mark.thorough
def test_all_workers_killed_at_once_and_started_again(nannies, at_rounds):
    """After the last round: what is left is calibration."""
    hook = at_rounds(8, act=lambda: kill(*pids(nannies)))
    found = fit(nannies, verbose=1)
    assert not hook.awaited
    assert_undisturbed(found)


def source(act, folder):
    """The rows, of which the third partition acts when it is computed, and is told how often it was before."""

    def third(rows):
        n_times = len(os.listdir(folder))
        with open(os.path.join(folder, str(time.time_ns())), "w"):
            pass
        act(n_times)
        return rows

    rows = in_chunks(SIZES, X)[0]
    made = da.from_delayed(delayed(third)(X[80:120]), (40, 3), dtype=float)
    return da.concatenate([rows[:80], made, rows[120:]])


@pytest.mark.thorough
@pytest.mark.parametrize("fatal", [0, 2], ids=["columns are looked at", "rows are coded"])
def test_a_worker_that_dies_of_reading_rows(nannies, tmp_path, fatal):
    def die(n_times):
        if n_times == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    assert_undisturbed(fit(nannies, source(die, str(tmp_path))))
    assert len(list(tmp_path.iterdir())) >= 4, "three times, as ever, and once more for the one that was fatal"


@pytest.mark.thorough
def test_a_worker_that_dies_of_its_rows_every_time(nannies, tmp_path):
    nannies.cluster.scheduler.allowed_failures = 0
    with pytest.raises(ClusterError, match=r"workers died repeatedly at the same task .* smaller partitions"):
        fit(nannies, source(lambda _: os.kill(os.getpid(), signal.SIGKILL), str(tmp_path)))


@pytest.mark.thorough
def test_the_worker_that_is_left_goes_on_until_it_is_lost_too(mortals, at_rounds):
    hook = at_rounds(3, act=lambda: kill(pids(mortals)[0]))
    found = fit(mortals, verbose=1)
    assert not hook.awaited
    assert len(mortals.nthreads()) == 1
    assert_undisturbed(found)
    at_rounds(3, act=lambda: kill(*pids(mortals)))
    with pytest.raises(ClusterError, match=r"^the cluster has had no worker for 2 seconds; start workers"):
        fit(mortals, verbose=1)


def test_a_cluster_that_never_had_a_worker():
    with scheduler_alone() as client, pytest.raises(ClusterError, match=r"^the cluster has had no worker for 2 sec"):
        fit(client)


@pytest.mark.thorough
def test_rows_that_only_the_lost_worker_had(mortals, at_rounds):
    victim, pid = next(iter(mortals.run(os.getpid).items()))
    kept = mortals.scatter([X[:80], X[80:]], workers=[victim])
    rows = da.concatenate([da.from_delayed(piece, (80, 3), dtype=float) for piece in kept])
    at_rounds(3, act=lambda: kill(pid))
    with pytest.raises(ClusterError) as caught:
        fit(mortals, rows, verbose=1)
    assert str(caught.value) == ("a worker was lost with rows that cannot be read or computed again")


# A scheduler that is lost.


@pytest.mark.thorough
def test_the_scheduler_is_lost_between_rounds_and_stays_lost(tmp_path, at_rounds):
    file = tmp_path / "scheduler.json"
    command = ["scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    quick = {"distributed.comm.timeouts.connect": "2s", "distributed.comm.retry.count": 0}
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quick))
        scheduler = stack.enter_context(process(*command))
        bounded(lambda: until(lambda: file.exists() and file.read_text()))
        client = stack.enter_context(Client(scheduler_file=str(file), set_as_default=False))
        stack.enter_context(workers_at(client.scheduler.address, 2, tmp_path))
        bounded(lambda: until(lambda: len(client.nthreads()) == 2))
        hook = at_rounds(3, act=scheduler.kill)
        for _ in range(2):
            with pytest.raises(ClusterError, match=r"^the connection to the scheduler was lost$"):
                fit(client, verbose=1)
        assert not hook.awaited


# Sources that fail.


FAILURES = {
    "KeyError": KeyError("price"),
    "FileNotFoundError": FileNotFoundError(2, "No such file or directory", "part-3.csv"),
    "TimeoutError": TimeoutError("the bucket does not answer"),
    "ValueError": ValueError("line 7 has 4 fields, not 3"),
}


@pytest.mark.parametrize("n_before", [0, 2], ids=["at once", "when coded"])
@pytest.mark.parametrize("kind", thinned(FAILURES, ["TimeoutError", "ValueError"]))
def test_the_error_of_a_source_comes_through_as_it_is(two, tmp_path, kind, n_before):
    error = FAILURES[kind]

    def fail(n_times):
        if n_times >= n_before:
            raise error

    with pytest.raises(type(error)) as caught:
        fit(two, source(fail, str(tmp_path)))
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)
    assert caught.value.__cause__ is None
    assert any(entry.name == "fail" for entry in caught.traceback), "the user's line is in the traceback"


def test_the_error_of_a_source_of_labels(two):
    def fail():
        raise FileNotFoundError(2, "No such file or directory", "labels.csv")

    labels = da.from_delayed(delayed(fail)(), (N,), dtype=int)
    with pytest.raises(FileNotFoundError, match=r"labels\.csv"):
        fit(two, labels=labels)


@pytest.mark.thorough
def test_a_source_that_is_gone_when_it_is_needed_again(nannies, tmp_path, at_rounds):
    """After the workers died, that is: what was read three times cannot be read a fourth time."""

    def fail(n_times):
        if n_times >= 3:
            raise FileNotFoundError(2, "No such file or directory", "part-3.csv")

    at_rounds(3, act=lambda: kill(*pids(nannies)))
    with pytest.raises(FileNotFoundError, match=r"part-3\.csv"):
        fit(nannies, source(fail, str(tmp_path)), verbose=1)
