"""One browser for all tests of the explorer's page."""

import pytest
from explorer_page import FLAGS, Explorer, browser_path, write_page


@pytest.fixture(scope="session")
def browser():
    """A headless browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = browser_path()
    if path is None:
        pytest.skip("there is no Chromium: install it, or name one in OTSPEC_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """The page's address."""
    return write_page(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="session")
def desk(browser, address):
    """The explorer on a desk."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    return Explorer(context.new_page(), address)


@pytest.fixture(scope="session")
def phone(browser, address):
    """The explorer on a telephone, which is touched."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    return Explorer(context.new_page(), address)


@pytest.fixture(autouse=True)
def no_complaints(request):
    """Every test fails that makes the page write to the console or raise an error."""
    yield
    for name in {"desk", "phone"} & set(request.fixturenames):
        explorer = request.getfixturevalue(name)
        complaints, explorer.complaints[:] = list(explorer.complaints), []
        assert not complaints
