"""Balanced accuracy on test rows, beside the times."""

from __future__ import annotations

from typing import Any, NamedTuple

from data import Data
from peers import ROUNDS, Peer
from sklearn.metrics import balanced_accuracy_score
from timing import say


class Accuracy(NamedTuple):
    """As the library comes, and with its classes weighted equally; None where that is not measured."""

    plain: float | None
    weighted: float | None


def measure(data: Data, peer: Peer, threads: int) -> Accuracy:
    """From one split; not of slow libraries, whose few rounds would say nothing."""
    if peer.slow:
        return Accuracy(None, None)
    say(f"{data.name}: accuracy of {peer.name}")
    train, test = data.split()

    def score(**options: Any) -> float:
        model = peer.make(ROUNDS, threads, **options).fit(peer.read(train), train.y)
        return float(balanced_accuracy_score(test.y, model.predict(peer.read(test))))

    return Accuracy(score(), None if peer.class_weights is None else score(**peer.class_weights(train.y)))
