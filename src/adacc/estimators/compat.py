"""What scikit-learn 1.9 has and earlier releases lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CALLER_OF_FIT", "CallbackRounds", "CallbackSupportMixin", "with_callbacks"]

CALLER_OF_FIT = 3  # how far up from fit's own frame a warning must point, past the wrapper that `with_callbacks` puts

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the mixin of scikit-learn 1.9: there are no callbacks to call."""

    CALLER_OF_FIT = 2

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


Attributes = Callable[[], dict[str, Any]]


class CallbackRounds:
    """Tells scikit-learn's callbacks of a fit and of its rounds; nothing where there are none."""

    def __init__(self, estimator: Any, X: Any, y: Any, n_rounds: int) -> None:
        self.about = {"estimator": estimator, "X": X, "y": y}
        self.whole: Any = None
        self.round: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self.whole = estimator._init_callback_context(max_subtasks=n_rounds)
            self.whole.call_on_fit_task_begin(**self.about)
            self._begin_round()

    def _begin_round(self) -> None:
        self.round = self.whole.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.about)

    def end_round(self, fitted_so_far: Attributes, is_last: bool) -> bool:
        """Whether a callback asks to stop; it may ask for the model as it would be if fit ended here."""
        if self.whole is None:
            return False
        stop = bool(self.round.call_on_fit_task_end(**self.about, reconstruction_attributes=fitted_so_far))
        self.round = None
        if not (stop or is_last):
            self._begin_round()
        return stop

    def end(self) -> None:
        if self.whole is not None:
            if self.round is not None:  # begun, but discarded
                self.round.call_on_fit_task_end(**self.about)
            self.whole.call_on_fit_task_end(**self.about)
