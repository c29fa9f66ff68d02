"""What all tests share: one made-up project, rendered once, and the tiers in which tests run.

`pytest` runs what a change can break, on the made-up project. `pytest --nightly` also runs the tests
that are marked `nightly`, and `pytest --committed` runs the tests that are marked `any_site` on
what is committed in this repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler.loadscope import LoadScopeScheduling

from project import PROJECT_SOURCES, ROOT, kept, write_project, write_small

settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "nightly", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the tests of the nightly tier too")
    parser.addoption(
        "--committed", action="store_true", help="run tests of any site on the committed one"
    )
    parser.addoption(
        "--write-pictures", action="store_true", help="let check_pictures.py write what it compares"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def is_wanted(item: pytest.Item) -> bool:
        if config.getoption("--committed"):
            return item.get_closest_marker("any_site") is not None
        return bool(config.getoption("--nightly")) or item.get_closest_marker("nightly") is None

    left_out = [item for item in items if not is_wanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_wanted(item)]


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives each worker whole files, and one of them all tests of pages, which share a browser.

    `--dist loadgroup` would do it, but xdist 3.8 writes groups where pytest 9 does not read them.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return "pages" if path.startswith("tests/pages/") else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.fixture(scope="session")
def project() -> Path:
    """The made-up project, rendered. It must not be changed: `shutil.copytree` it."""
    return kept("project", PROJECT_SOURCES, write_project)


@pytest.fixture(scope="session")
def two_reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site of two reports with a run each, built; the second names the first as its
    predecessor. It must not be changed: `shutil.copytree` it.
    """
    root = tmp_path_factory.mktemp("two-reports")
    write_small(root, "2026-10-01")
    return root


@pytest.fixture(scope="session")
def root(request: pytest.FixtureRequest) -> Path:
    """The project on which tests of any site run."""
    if request.config.getoption("--committed"):
        return ROOT
    project: Path = request.getfixturevalue("project")
    return project
