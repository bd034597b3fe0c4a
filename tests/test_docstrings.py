"""Docstrings of all public objects follow numpydoc."""

import importlib
import inspect

import pytest
from test_public_names import MODULES, owner_of

from adacc.docstrings import described

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
    "PR03",  # constructors take keywords only, so that their order has no meaning
    "YD01",
}


def public_objects():
    for module_name in MODULES:
        for name in importlib.import_module(module_name).__all__:
            value = getattr(importlib.import_module(module_name), name)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue  # aliases of types
            yield f"{module_name}.{name}"
            if inspect.isclass(value):
                for member in dir(value):
                    owner = owner_of(value, member)
                    if owner is not None and callable(getattr(value, member)) and owner.__module__ != "abc":
                        yield f"{module_name}.{name}.{member}"


@pytest.mark.parametrize("name", sorted(public_objects()))
def test_numpydoc(name):
    validate = pytest.importorskip("numpydoc.validate")
    checked = validate.validate(name)
    # Records and errors, which users read and do not construct, describe their attributes.
    ignored = IGNORED | ({"PR01"} if "Attributes\n" in checked["docstring"] or name.endswith("Error") else set())
    found = [f"{code}: {text}" for code, text in checked["errors"] if code not in ignored]
    assert not found, "\n".join(found)


def test_shared_sections_stand_before_the_examples():
    @described({"x": "float\n    A number.", "unit": "str\n    Its unit.", "other": "int"}, returns="str")
    def shown(x, unit="m"):
        """A number with its unit.

        Examples
        --------
        >>> shown(1.0)
        '1.0 m'
        """

    assert (
        shown.__doc__
        == """A number with its unit.

Parameters
----------
x : float
    A number.
unit : str, default="m"
    Its unit.

Returns
-------
str

Examples
--------
>>> shown(1.0)
'1.0 m'"""
    )


def test_a_parameter_without_description_is_an_error():
    with pytest.raises(KeyError, match="y"):
        described({"x": "float"})(lambda x, y: x)
