import os
import shutil
from contextlib import contextmanager

import pytest


@pytest.fixture(scope="package")
def chromium():
    """One headless browser for the tests of this folder; it keeps an event loop running, which others may mind."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not installed")
    with api.sync_playwright() as play:
        names = ("chromium", "chromium-browser", "google-chrome")
        found = next(filter(None, map(shutil.which, names)), play.chromium.executable_path)
        if not os.path.exists(found):
            pytest.skip("there is no Chromium to open the report with")
        # Tests may run as a user for whom the sandbox refuses to start; the pages are our own.
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def opened(chromium):
    """Open a file as a reader would; when done, see that it complained of nothing and asked for nothing."""

    @contextmanager
    def open_file(path, ready="html[data-drawn]", before=None, **options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        if before:
            page.add_init_script(before)
        page.goto(path.as_uri())
        page.wait_for_selector(ready, state="attached")
        yield page
        assert complaints == []
        assert set(requests) == {path.as_uri()}
        context.close()

    return open_file


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """The file of a result, written once for all tests that want it."""
    from adacc.report import write

    folder, known = tmp_path_factory.mktemp("reports"), {}

    def write_once(make):
        if make not in known:
            known[make] = folder / f"{make.__name__}.html"
            write(make(), known[make])
        return known[make]

    return write_once


@pytest.fixture(scope="module")
def report(opened, written):
    """An ordinary comparison, open; a test leaves it as the next may find it."""
    from made_result import result

    with opened(written(result)) as page:
        yield page


@pytest.fixture(scope="module")
def model_report(opened, written):
    """A model and one of its rows, open."""
    from made_result import explained

    with opened(written(explained)) as page:
        yield page
