import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def nothing_is_left_changed():
    """Every test here draws without a display, and leaves matplotlib as it was."""
    mpl.use("Agg")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
