"""Compatibility with scikit-learn releases before 1.9, which have no callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CALLER_OF_FIT", "CallbackRounds", "CallbackSupportMixin", "with_callbacks"]

CALLER_OF_FIT = 3  # `stacklevel` of warnings in `fit`: skips the wrapper of `with_callbacks`

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Placeholder for the mixin of scikit-learn 1.9."""

    CALLER_OF_FIT = 2

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


Attributes = Callable[[], dict[str, Any]]


class CallbackRounds:
    """Calls scikit-learn's callbacks at the begin and end of a fit and of its rounds, if there are any."""

    def __init__(self, estimator: Any, X: Any, y: Any, n_rounds: int) -> None:
        self.arguments = {"estimator": estimator, "X": X, "y": y}
        self.fit_context: Any = None
        self.round_context: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self.fit_context = estimator._init_callback_context(max_subtasks=n_rounds)
            self.fit_context.call_on_fit_task_begin(**self.arguments)
            self._begin_round()

    def _begin_round(self) -> None:
        self.round_context = self.fit_context.subcontext(task_name="round")
        self.round_context.call_on_fit_task_begin(**self.arguments)

    def end_round(self, fitted_so_far: Attributes, is_last: bool) -> bool:
        """End a round, and return whether a callback asks to stop; `fitted_so_far` gives the model up to here."""
        if self.fit_context is None:
            return False
        stop = bool(self.round_context.call_on_fit_task_end(**self.arguments, reconstruction_attributes=fitted_so_far))
        self.round_context = None
        if not (stop or is_last):
            self._begin_round()
        return stop

    def end(self) -> None:
        if self.fit_context is not None:
            if self.round_context is not None:  # a round that began, but was discarded
                self.round_context.call_on_fit_task_end(**self.arguments)
            self.fit_context.call_on_fit_task_end(**self.arguments)
