"""Docstrings of all public objects follow numpydoc."""

import importlib
import inspect

import pytest
from test_public_names import MODULES, owner_of

IGNORED = {
    "ES01",  # no extended summary
    "EX01",  # no examples: classes have them, methods need not
    "SA01",  # no See Also
    "GL01",  # the summary begins on the line of the quotes
    "GL02",
    "RT02",  # "Returns: self" names its value
    "SS06",  # a summary may take two lines
    "RT03",  # the type and the shape of a return value may say all
    "RT05",
    "YD01",
    "PR01",  # parameters of scikit-learn's constructor are checked as class parameters
}


def public_objects():
    for module_name in MODULES:
        for name in importlib.import_module(module_name).__all__:
            value = getattr(importlib.import_module(module_name), name)
            if not callable(value):
                continue
            yield f"{module_name}.{name}"
            if inspect.isclass(value):
                for member in dir(value):
                    owner = owner_of(value, member)
                    if owner is not None and callable(getattr(value, member)) and owner.__module__ != "abc":
                        yield f"{module_name}.{name}.{member}"


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_numpydoc(name):
    validate = pytest.importorskip("numpydoc.validate")
    found = [f"{code}: {text}" for code, text in validate.validate(name)["errors"] if code not in IGNORED]
    assert not found, "\n".join(found)
