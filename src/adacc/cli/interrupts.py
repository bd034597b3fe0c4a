"""Ctrl-C that ends a command, also if a library swallows it.

C code of libraries clears exceptions in some places: numpy, for one, takes an object whose ``__len__`` fails for a
scalar. A KeyboardInterrupt that is raised there is lost, or comes back as a ValueError. So Ctrl-C is also recorded.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_received: list[int] = []


@contextmanager
def interrupts_recorded() -> Iterator[None]:
    """Record Ctrl-C within the block, which ends as a block of `lost_interrupts_raised`."""
    _received.clear()
    usual: Any = signal.getsignal(signal.SIGINT)
    # Only the main thread can set a handler; where Ctrl-C is ignored, it stays so.
    can_record = callable(usual) and threading.current_thread() is threading.main_thread()

    def handler(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        usual(number, frame)

    if can_record:
        signal.signal(signal.SIGINT, handler)
    try:
        with lost_interrupts_raised():
            yield
    finally:
        if can_record:
            signal.signal(signal.SIGINT, usual)


@contextmanager
def lost_interrupts_raised() -> Iterator[None]:
    """If Ctrl-C is received, the block ends with KeyboardInterrupt, whatever else it raises."""
    try:
        yield
        raise_if_interrupted()
    except Exception as error:
        if _received:
            raise KeyboardInterrupt from error
        raise


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was received."""
    if _received:
        raise KeyboardInterrupt


def forget_interrupts() -> None:
    """After KeyboardInterrupt is handled: later errors are errors again."""
    _received.clear()
