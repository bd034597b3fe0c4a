"""`adacc methods`: what can be trained, and what it is compared with."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar

from adacc.cli.show import say, table, width

if TYPE_CHECKING:
    from adacc.algorithms import Method
    from adacc.compare import Contestant

EXAMPLES = """\
examples:
  adacc methods                 all of them
  adacc methods adacc1          its formula, its source, its options
  adacc methods adacc-forest    what it does instead of a formula
  adacc methods lightgbm        a baseline that adacc compares with
"""

NARROW = 22
"""Signs of a source in a line of the table."""


def add_to(commands: Any) -> None:
    top: ArgumentParser = commands.add_parser(
        "methods", help="the methods, their formulas, sources and options", epilog=EXAMPLES,
        description="Methods that `adacc train` trains, and the baselines that `adacc compare`\n"
        "sets beside them.",
    )  # fmt: skip
    top.add_argument("name", nargs="?", metavar="NAME", help="all about this one")
    top.set_defaults(run=show)


@dataclass(frozen=True)
class Own:
    """A method of adacc, with what its docstrings say."""

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
        """What the rule says, and those that it only differs from."""
        from adacc.algorithms import Rule

        rules = [rule for rule in self.method.rule.__mro__ if issubclass(rule, Rule) and rule is not Rule]
        return [f"{rule.__name__}: {inspect.cleandoc(rule.__doc__ or '')}".replace("``", "") for rule in rules]

    @property
    def options(self) -> list[str]:
        from adacc.algorithms import Rule

        found = []
        for name, default in self.method.options().items():
            others = [value for value in Rule.allowed.get(name, ()) if value != default]
            found.append(f"{name} = {default!r}" + (f" (or {', '.join(map(repr, others))})" if others else ""))
        return found


@dataclass(frozen=True)
class OwnForest:
    """A forest of adacc, with what the docstring of its class says: it has no rule of its own."""

    name: str
    method: Method
    classifier: type
    costs: ClassVar = "found"
    options: ClassVar[list[str]] = []

    @property
    def about(self) -> str:
        return self.method.summary

    @property
    def source(self) -> str:
        return self.method.reference

    @property
    def python(self) -> str:
        return f"adacc.{self.classifier.__name__}()"

    @property
    def paragraphs(self) -> list[str]:
        return [_head(self.classifier).partition("\n")[2].strip()]


def _head(cls: type) -> str:
    """A docstring up to its parameters."""
    return (inspect.getdoc(cls) or "").partition("\nParameters\n")[0]


def own_methods() -> dict[str, Own | OwnForest]:
    import adacc
    from adacc.algorithms.catalog import FORESTS, METHODS

    family = {name: Own(name, method, getattr(adacc, method.estimator)) for name, method in METHODS.items()}
    return family | {name: OwnForest(name, each, getattr(adacc, each.estimator)) for name, each in FORESTS.items()}


def show(options: Namespace) -> None:
    from adacc.algorithms.catalog import unknown
    from adacc.compare import contestants

    own, everyone = own_methods(), contestants()
    others = {name: each for name, each in everyone.items() if not each.is_own}
    if options.name is None:
        say(_all(own, others))
    elif options.name in own:
        say(_of_own(own[options.name], everyone.get(options.name)))
    elif options.name in others:
        say(_of_other(others[options.name]))
    else:
        raise unknown(options.name, [*own, *others])


def _all(own: dict[str, Own | OwnForest], others: dict[str, Contestant]) -> str:
    rows = [[each.name, each.costs, each.about, each.source] for each in own.values()]
    room = width() - max(map(len, own)) - len("given") - NARROW - 6
    ours = table(["method", "costs", "what it does", "source"], rows, left=range(4), wrapped={2: room, 3: NARROW})
    rows = [[each.name, each.library.partition(" ")[0], each.about.rstrip(".")] for each in others.values()]
    room = width() - sum(max((len(row[i]) for row in rows), default=0) for i in (0, 1)) - 4
    theirs = table(["method", "library", "what it is"], rows, left=range(3), wrapped={2: room})
    return (
        f"{ours}\n\ncosts: given by you or tuned; found by the method itself; none.\n\n"
        f"`adacc compare` also tries these baselines:\n\n{theirs}\n\n`adacc methods NAME` says more."
    )


def _of_own(own: Own | OwnForest, contestant: Contestant | None) -> str:
    if contestant is None:
        compared = "left out: a library that it needs is not installed"
    else:
        compared = f"--methods {own.name}, shown as {contestant.label}"
    costs = {
        "given": "yours with --costs; otherwise those of best F1 on the training rows",
        "found": "none to give: the method finds them itself, round by round",
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
        lines += ["", _fitted(text)]
    return "\n".join(lines)


def _fitted(text: str) -> str:
    """Paragraphs of which those that are wider than the terminal are broken anew."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        fill(each.replace("\n", " "), width()) if max(map(len, each.splitlines())) > width() else each
        for each in paragraphs
    )


def _of_other(other: Contestant) -> str:
    return "\n".join(
        [
            f"{other.name}: {other.about}",
            "",
            f"compare   --methods {other.name}, shown as {other.label}",
            f"from      {other.library}",
            f"train     no: {not_trained(other.name, other.library.partition(' ')[0])}",
        ]
    )


def not_trained(name: str, library: str) -> str:
    """Why `adacc train` does not train a baseline, and what to do instead."""
    if name == "adaboost-threshold":
        return (
            "it is a baseline of `adacc compare`: AdaBoost with a tuned threshold. Train adaboost, and choose a "
            "threshold with `adacc predict --threshold`, or in Python with scikit-learn's TunedThresholdClassifierCV"
        )
    return f"it is a baseline of `adacc compare`, from {library}; `adacc methods` lists what adacc trains"
