"""Missing optional libraries: one line that names the extra to install."""

import pytest

from adacc.cli.files import check_report_libraries
from adacc.cli.main import _missing_library
from adacc.comparison.cross_validation import find_method, missing_libraries


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModuleNotFoundError("No module", name="rich.console"), 'rich is not installed: pip install "adacc[cli]"'),
        (ModuleNotFoundError("No module", name="matplotlib"), 'matplotlib is not installed: pip install "adacc[plot]"'),
        (ModuleNotFoundError("No module", name="tqdm"), 'tqdm is not installed: pip install "adacc[compare]"'),
        (ImportError("it needs onnx: pip install 'adacc[onnx]'"), "it needs onnx: pip install 'adacc[onnx]'"),
    ],
)
def test_the_extra_is_named(error, message):
    assert _missing_library(error) == message


def test_a_report_needs_libraries_before_anything_is_computed(monkeypatch):
    check_report_libraries()
    monkeypatch.setattr("adacc.cli.files.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'--report needs altair, vl_convert, jinja2: pip install "adacc\[compare\]"'):
        check_report_libraries()


def test_missing_baselines(monkeypatch):
    assert missing_libraries() == []
    monkeypatch.setitem(find_method.__globals__, "find_spec", lambda name: None if name == "xgboost" else name)
    assert missing_libraries() == ["xgboost"]
    with pytest.raises(ValueError, match=r'needs xgboost, which is not installed: pip install "adacc\[compare\]"'):
        find_method("xgboost", {})
