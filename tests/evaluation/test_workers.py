"""Worker processes: Ctrl-C while they are being started, in a process of its own, and what a part may begin in one."""

import signal
import subprocess
import sys

import pytest
from joblib.parallel import get_active_backend

from adacc.evaluation.workers import connected, in_parallel

if not hasattr(signal, "pthread_sigmask"):
    pytest.skip("needs signals of Unix", allow_module_level=True)

INTERRUPTED = """
import os, signal
from adacc.evaluation.workers import in_parallel

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is begun without

def parts():
    os.kill(os.getpid(), signal.SIGINT)  # the first part is taken before the first worker is there
    yield from range(4)

try:
    list(in_parallel(abs, parts(), n_jobs=2))
except KeyboardInterrupt:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    print("heard, and still deaf" if signal.SIGINT in blocked else "heard")
"""

DEAF = """
import signal
from adacc.evaluation.workers import in_parallel

def is_deaf(part):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, set())

print(list(in_parallel(is_deaf, range(4), n_jobs=2)))
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [(INTERRUPTED, "heard\n"), (DEAF, "[True, True, True, True]\n")],
    ids=["an interrupt is not lost", "workers are deaf from their first moment"],
)
def test_while_workers_begin(script, says):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == (says, 0), done.stderr


def backend_of(part):
    return type(get_active_backend()[0]).__name__


@pytest.mark.parametrize("executor", ["process", "local", "dask"])
def test_a_part_does_not_spread(executor):
    """On a cluster an inner loop of joblib's would go back to the cluster, and fail there with some versions."""
    with connected(executor, None, 1):
        assert set(in_parallel(backend_of, range(2), 1, executor)) == {"SequentialBackend"}
