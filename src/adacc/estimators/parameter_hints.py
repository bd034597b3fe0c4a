"""What to do instead of parameters that other libraries have, in the errors of constructors and `set_params`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

WEIGHTS = "pass sample_weight to fit"
COSTS = "a cost matrix as decision=, such as decision={'fraud': 20, 'fine': 1}"

OF_FOREST = {
    **dict.fromkeys(
        ("class_weight", "is_unbalance", "scale_pos_weight", "sampling_strategy"),
        f"the forest balances the classes by itself; for other weights of the rows, {WEIGHTS}",
    ),
    "costs": f"the forest takes no costs in training: give {COSTS}, which decides by expected cost",
    "estimator": "the forest has its own trees; a booster such as AdaCC1Classifier takes estimator=",
    "learning_rate": "the forest needs none; n_rounds is the number of rounds of a balanced bag",
}
OF_BOOSTERS = {
    **dict.fromkeys(
        ("class_weight", "is_unbalance", "scale_pos_weight"),
        "AdaCC weighs the classes by itself, and methods such as CGAdaClassifier take costs='balanced' or "
        f"costs={{label: cost}}; for other weights of the rows, {WEIGHTS}",
    ),
    "sampling_strategy": "RUSBoostClassifier takes sampling_ratio=, SMOTEBoostClassifier n_synthetic=",
    "costs": f"this method takes none: use one with costs, such as CGAdaClassifier, or give {COSTS}",
    "base_estimator": "use estimator=",
    "algorithm": 'leave it out; multi_class="joint" is SAMME',
    "n_rounds": "use n_estimators=",
}
OF_ALL = {"num_leaves": "use max_leaf_nodes=", "seed": "use random_state="}


def hint(known: Iterable[str], names: Iterable[str]) -> str | None:
    """The first of the names that is a parameter of another library, with what to do instead; None if there is none.

    Examples
    --------
    >>> hint(["estimator", "costs"], ["costs", "base_estimator"])
    "no parameter 'base_estimator': use estimator="
    """
    allowed = list(known)
    hints = OF_ALL | (OF_FOREST if "tuning_cv" in allowed else OF_BOOSTERS)
    unknown = next((name for name in names if name not in allowed and name in hints), None)
    return None if unknown is None else f"no parameter {unknown!r}: {hints[unknown]}"


def check_constructor(cls: Any, values: Sequence[Any], parameters: Iterable[str]) -> None:
    """Raise TypeError for a parameter of another library, and for a value without a name."""
    known = cls._get_param_names()
    if (said := hint(known, parameters)) is not None:
        raise TypeError(f"{cls.__name__} has {said}")
    code = getattr(cls.__init__, "__code__", None)
    n_positional = len(values) if code is None else code.co_argcount - 1
    if len(values) > n_positional:
        value = values[n_positional]
        name = "estimator" if "estimator" in known and hasattr(value, "fit") else "n_estimators"
        raise TypeError(f"{cls.__name__} must get parameters by name, such as {name}=..., got {value!r:.80}")
