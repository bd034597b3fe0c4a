"""What others build upon: public names and signatures, as they stand in public_names.txt."""

import difflib
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

SNAPSHOT = Path(__file__).with_name("public_names.txt")
MODULES = [
    "adacc", "adacc.metrics", "adacc.datasets", "adacc.distributed", "adacc.export", "adacc.inspect", "adacc.schemas",
    "adacc.tables",
]  # fmt: skip


def described():
    """A line for each public name, one for the members of each class, and one for each method, by who defines it."""
    methods = set()
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            value = getattr(module, name)
            yield f"{module_name}.{name}" + (signature(value) if callable(value) else "")
            if inspect.isclass(value):
                owners = {member: owner for member in dir(value) if (owner := owner_of(value, member))}
                if owners:
                    yield f"    has {', '.join(sorted(owners))}"
                methods |= {
                    f"{owner.__qualname__}.{member}{signature(getattr(value, member))}"
                    for member, owner in owners.items()
                    if callable(getattr(value, member))
                }
    yield from sorted(methods)


def owner_of(value, member):
    """The class of adacc that defines a public method or property: what scikit-learn brings changes with it."""
    owner = next((base for base in value.__mro__ if member in vars(base)), object)
    found = inspect.getattr_static(value, member, None)
    is_ours = owner.__module__.partition(".")[0] == "adacc" and not re.fullmatch(r"_.*|set_\w+_request", member)
    return owner if is_ours and (callable(getattr(value, member)) or hasattr(found, "__get__")) else None


def signature(value):
    """Without annotations, which other versions of Python and of libraries spell otherwise."""
    try:
        found = inspect.signature(value)
    except ValueError:  # some built-in exceptions do not tell
        return "(...)"
    plain = [part.replace(annotation=inspect.Parameter.empty) for part in found.parameters.values()]
    text = str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def test_public_names_are_as_they_were():
    before, now = SNAPSHOT.read_text("utf-8").splitlines(), list(described())
    changes = list(difflib.unified_diff(before, now, SNAPSHOT.name, "now", lineterm="", n=0))
    if changes:
        pytest.fail(
            "public names or signatures have changed:\n" + "\n".join(changes) + "\nIf that is meant, say so in "
            "CHANGELOG.md and write the snapshot anew: python tests/test_public_names.py",
            pytrace=False,
        )


if __name__ == "__main__":
    SNAPSHOT.write_text("".join(f"{line}\n" for line in described()), "utf-8")
    sys.stdout.write(f"{SNAPSHOT.name} is written\n")
