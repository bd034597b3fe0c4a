"""`adacc methods`: list the methods and the baselines."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from adacc.cli.terminal import echo, format_table, terminal_width

if TYPE_CHECKING:
    from adacc.algorithms import Method
    from adacc.comparison import MethodInfo

EXAMPLES = """\
examples:
  adacc methods                 list all methods
  adacc methods adacc1          formula, source and options of a method
  adacc methods adacc-forest    description of the forest
  adacc methods lightgbm        description of a baseline
"""

SOURCE_WIDTH = 22
"""Characters of the column of sources."""


def add_parser_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "methods", help="List methods with their formulas, sources and options.", epilog=EXAMPLES,
        description="List the methods of `adacc train` and the baselines of `adacc compare`.",
    )  # fmt: skip
    top.add_argument("name", nargs="?", metavar="NAME", help="Describe this method.")
    top.set_defaults(run=show)


@dataclass(frozen=True)
class Own:
    """A boosting method of adacc, described by its docstrings."""

    name: str
    method: Method
    classifier: type

    @property
    def about(self) -> str:
        return self.method.summary

    @property
    def source(self) -> str:
        return self.method.reference

    @property
    def costs(self) -> str:
        return self.method.costs

    @property
    def call(self) -> str:
        given = f'calibration="{self.method.calibration}"' if self.method.calibration else ""
        return f"adacc.{self.classifier.__name__}({given})"

    @property
    def python(self) -> str:
        return f'{self.call} or adacc.BoostingClassifier("{self.name}")'

    @property
    def paragraphs(self) -> list[str]:
        """Docstrings of the rule and its base rules."""
        from adacc.algorithms import Rule

        rules = [rule for rule in self.method.rule.__mro__ if issubclass(rule, Rule) and rule is not Rule]
        return [f"{rule.__name__}: {inspect.cleandoc(rule.__doc__ or '')}".replace("``", "") for rule in rules]

    @property
    def options(self) -> list[str]:
        from adacc.algorithms import Rule

        lines = []
        for name, default in self.method.options().items():
            others = [value for value in Rule.allowed.get(name, ()) if value != default]
            lines.append(f"{name} = {default!r}" + (f" (or {', '.join(map(repr, others))})" if others else ""))
        return lines


class OwnForest(Own):
    """A forest of adacc, described by the docstring of its class."""

    @property
    def python(self) -> str:
        return self.call

    @property
    def options(self) -> list[str]:
        return []

    @property
    def paragraphs(self) -> list[str]:
        """The docstring of the class between its first line and its parameters."""
        head, _, _ = (inspect.getdoc(self.classifier) or "").partition("\nParameters\n")
        return [head.partition("\n")[2].strip()]


def own_methods() -> dict[str, Own]:
    import adacc
    from adacc.algorithms.catalog import FORESTS, METHODS

    kinds = {Own: METHODS, OwnForest: FORESTS}
    return {
        name: kind(name, method, getattr(adacc, method.estimator))
        for kind, methods in kinds.items()
        for name, method in methods.items()
    }


def show(options: Namespace) -> None:
    from adacc.comparison import available_methods
    from adacc.comparison.cross_validation import find_method

    own, available = own_methods(), available_methods()
    others = {name: each for name, each in available.items() if not each.is_own}
    if options.name is None:
        echo(_format_all(own, others))
    elif options.name in own:
        echo(_format_own(own[options.name], available.get(options.name)))
    else:
        echo(_format_baseline(others[find_method(options.name, available)]))


def _format_all(own: dict[str, Own], others: dict[str, MethodInfo]) -> str:
    rows = [[each.name, each.costs, each.about, each.source] for each in own.values()]
    room = terminal_width() - max(map(len, own)) - len("learned") - SOURCE_WIDTH - 6
    own_table = format_table(
        ["method", "costs", "description", "source"], rows, left=range(4), wrapped={2: room, 3: SOURCE_WIDTH}
    )
    rows = [[each.name, each.library.partition(" ")[0], each.about.rstrip(".")] for each in others.values()]
    room = terminal_width() - sum(max((len(row[i]) for row in rows), default=0) for i in (0, 1)) - 4
    baseline_table = format_table(["method", "library", "description"], rows, left=range(3), wrapped={2: room})
    return (
        f"{own_table}\n\ncosts: given (or tuned), learned by the method, or none.\n\n"
        f"Baselines of `adacc compare`:\n\n{baseline_table}\n\n`adacc methods NAME` describes one method."
    )


def _format_own(own: Own, info: MethodInfo | None) -> str:
    if info is None:
        compared = 'imbalanced-learn is not installed: pip install "adacc[compare]"'
    else:
        compared = f"--methods {own.name}, shown as {info.label}"
    costs = {
        "given": "given by --costs; by default the costs of best F1 on the training rows",
        "learned": "learned by the method in each round",
        "none": "none",
    }
    facts = {
        "train": f"--method {own.name}",
        "compare": compared,
        "Python": own.python,
        "costs": costs[own.costs],
        "source": own.source,
        "options": "\n          ".join(own.options),
    }
    lines = [f"{own.name}: {own.about}", "", *(f"{name:<8}  {text}" for name, text in facts.items() if text)]
    for text in own.paragraphs:
        lines += ["", _wrap_paragraphs(text)]
    return "\n".join(lines)


def _wrap_paragraphs(text: str) -> str:
    """Wrap the paragraphs that are wider than the terminal."""
    width, paragraphs = terminal_width(), text.split("\n\n")
    for i, each in enumerate(paragraphs):
        if max(map(len, each.splitlines())) > width:
            paragraphs[i] = fill(each.replace("\n", " "), width, break_on_hyphens=False)
    return "\n\n".join(paragraphs)


def _format_baseline(other: MethodInfo) -> str:
    return "\n".join(
        [
            f"{other.name}: {other.about}",
            "",
            f"compare   --methods {other.name}, shown as {other.label}",
            f"library   {other.library}",
            f"train     no: {not_trained(other.name, other.library.partition(' ')[0])}",
        ]
    )


def not_trained(name: str, library: str) -> str:
    """Why `adacc train` does not train a baseline, and the alternative."""
    if name == "adaboost-threshold":
        return (
            "it is a baseline of `adacc compare`: AdaBoost with a tuned threshold. Train adaboost and set the "
            "threshold with `adacc predict --threshold`, or in Python with scikit-learn's TunedThresholdClassifierCV"
        )
    return f"it is a baseline of `adacc compare` from {library}; `adacc methods` lists the methods of adacc"
