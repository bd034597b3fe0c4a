"""Ctrl-C while worker processes are being started."""

import os
import signal

import pytest

from adacc.study.workers import in_parallel

if not hasattr(signal, "pthread_sigmask"):
    pytest.skip("needs signals of Unix", allow_module_level=True)


def interrupted_at_once():
    os.kill(os.getpid(), signal.SIGINT)  # the first part is taken before the first worker is there
    yield from range(4)


def test_an_interrupt_during_the_start_is_not_lost():
    with pytest.raises(KeyboardInterrupt):
        list(in_parallel(abs, interrupted_at_once(), n_jobs=2))
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
    assert sorted(in_parallel(abs, range(4), n_jobs=2)) == [0, 1, 2, 3]


def signals_blocked(part):
    return {part: set(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, set())))}


def test_workers_are_deaf_from_their_first_moment():
    for answer in in_parallel(signals_blocked, range(4), n_jobs=3):
        for blocked in answer.values():
            assert signal.SIGINT in blocked
