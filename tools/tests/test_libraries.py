"""A library is its folder: everything else is derived from library.toml."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from new_versions import watched
from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import COLOURS, LIBRARIES, NAMES, OTHER, Library, read_libraries
from tlsperf.contract.text import colour_of
from tlsperf.load.importer import implementation_of

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"

GUIDE = (ROOT / "docs" / "add-a-library.md").read_text()
(EXAMPLE,) = re.findall(r"^ +```toml\n(.*?)^ +```", GUIDE, re.DOTALL | re.MULTILINE)


def copied(to: Path, *parts: str) -> Path:
    """A copy of the repository's files, without what is built or installed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *parts]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
    return to


def python(root: Path, *arguments: str) -> str:
    """What a program of the copy prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "tools" / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def differing(root: Path) -> set[str]:
    """The files of a copy that are not as in the repository."""
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    names = {path.relative_to(root) for path in files}
    return {
        str(name)
        for name in names
        if not (ROOT / name).is_file() or (ROOT / name).read_bytes() != (root / name).read_bytes()
    }


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with one more library, the guide's, after `make generate`."""
    root = copied(tmp_path_factory.mktemp("grown"))
    folder = root / "bench" / "libraries" / "newtls"
    folder.mkdir()
    (folder / "library.toml").write_text(textwrap.dedent(EXAMPLE))
    for module in ("schema", "style"):
        python(root, "-m", f"tlsperf.publish.{module}")
    return root


# --- one more library ----------------------------------------------------------------------------


def test_a_library_is_added_by_its_folder_alone(grown: Path) -> None:
    generated = {"data/schema/run.schema.json", "data/schema/results.schema.json"}
    assert differing(grown) == {
        "bench/libraries/newtls/library.toml",
        "static/style.css",
        *generated,
    }
    for name in generated:
        assert '"newtls"' in (grown / name).read_text()


def test_a_new_library_changes_no_report_chart_or_picture(grown: Path) -> None:
    python(grown, "-m", "tlsperf.cli", "render", "--check")


def test_a_new_library_has_its_label_and_colours(grown: Path) -> None:
    program = """
from tlsperf.contract.text import shown
from tlsperf.load.importer import implementation_of
from tlsperf.report.charts.theme import CLASSES, colour_channel
new = shown(implementation_of("newtls-2.1.0"))
print(new.library, new.label, new.colour, sep="|")
print(CLASSES["#3b7a00"], *colour_channel([new.colour])["scale"]["range"])
"""
    assert python(grown, "-c", program).splitlines() == [
        "newtls|NewTLS 2.1.0|newtls",
        "library-newtls #3b7a00",
    ]
    style = (grown / "static" / "style.css").read_text()
    assert style.count("--newtls: #3b7a00;") == 1
    assert style.count("--newtls: #b7e38a;") == 1
    assert ".library-newtls { --library: var(--newtls); }" in style


def test_a_new_library_is_built_tested_and_watched(grown: Path) -> None:
    def printed(*arguments: str) -> list[str]:
        return python(grown, "scripts/libraries", *arguments).split()

    assert printed("id")[-1] == "newtls"
    assert "newtls" in printed("id", "own")
    assert "newtls" not in printed("id", "shared")
    assert "tls-newtls" in printed("programs")
    assert "libnewtls-dev" in printed("debian", "own")
    assert "newtls-sys" in watched(grown / "bench" / "libraries")
    doctor = subprocess.run(
        [grown / "scripts" / "doctor", "--quiet", "more-libraries"], capture_output=True, text=True
    )
    assert doctor.returncode == 1
    assert re.search(r"NewTLS +missing: newtls-headers 2.1 or later", doctor.stderr)
    assert "apt-get install libnewtls-dev" in doctor.stderr


def test_a_folder_replaces_a_name_of_imported_data(tmp_path: Path) -> None:
    root = copied(tmp_path, "bench/libraries/*/library.toml", "data/libraries.toml", "tools/src")
    folder = root / "bench" / "libraries" / "mbedtls"
    folder.mkdir()
    text = textwrap.dedent(EXAMPLE).replace('"newtls"', '"mbedtls"').replace("NewTLS", "Mbed")
    (folder / "library.toml").write_text(text)
    program = "from tlsperf.contract.libraries import *; print(NAMES['mbedtls'], *COLOURS)"
    assert python(root, "-c", program).split() == ["Mbed", *list(COLOURS)[:-1], "mbedtls", OTHER]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "newtls"', 'id = "other"', "found id 'other', expected 'newtls'"),
        ("order = 7", 'order = "last"', "order 'last', expected a valid integer"),
        ('dark = "#b7e38a"', 'dark = "green"', "colour.dark 'green'"),
        ("order = 7", "order = 7\nflavour = 1", "flavour 1"),
    ],
)
def test_a_mistake_in_library_toml_is_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "bench" / "libraries" / "newtls"
    folder.mkdir(parents=True)
    (folder / "library.toml").write_text(textwrap.dedent(EXAMPLE).replace(old, new))
    with pytest.raises(UserError, match=re.escape(message)):
        read_libraries(tmp_path)


# --- the libraries that are there ----------------------------------------------------------------


def test_every_adapter_has_a_library_toml() -> None:
    adapters = {path.parent.name for path in (BENCH / "libraries").glob("*/Cargo.toml")}
    assert {library.id for library in LIBRARIES} >= adapters
    assert len({library.order for library in LIBRARIES}) == len(LIBRARIES)
    assert [library.id for library in LIBRARIES] == list(NAMES)[: len(LIBRARIES)]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.id)
def test_library_toml_and_the_manifest_agree(library: Library) -> None:
    folder = BENCH / "libraries" / library.id
    manifest = tomllib.loads((folder / "Cargo.toml").read_text())
    members = tomllib.loads((BENCH / "Cargo.toml").read_text())["workspace"]["members"]
    assert (f"libraries/{library.id}" in members) is (library.workspace == "shared")
    assert ("workspace" in manifest) is (library.workspace == "own")
    programs = [program["name"] for program in manifest.get("bin", [])]
    assert sorted(library.programs) == sorted(programs or [manifest["package"]["name"]])
    lock = (folder if library.workspace == "own" else BENCH) / "Cargo.lock"
    locked = {package["name"] for package in tomllib.loads(lock.read_text())["package"]}
    assert set(library.packages) <= locked
    assert {*library.colour.of_providers} <= {*library.providers}


def test_colours_of_libraries_differ() -> None:
    for page in ("light", "dark"):
        colours = [getattr(colour, page) for colour in COLOURS.values()]
        assert len(set(colours)) == len(colours)


def test_a_library_without_an_adapter_has_the_colour_of_all_others() -> None:
    assert colour_of(implementation_of("wolfssl-5.7.0")) == OTHER


def test_no_other_file_has_a_colour_of_a_library() -> None:
    colours = {page for colour in COLOURS.values() for page in (colour.light, colour.dark)}
    style = (ROOT / "static" / "style.css").read_text()
    texts = [
        re.sub(r"/\* --- colours of libraries.*?end of what is written", "", style, flags=re.S)
    ]
    for folder, suffix in (("tools/src", "py"), ("explore", "mjs"), ("templates", "html")):
        texts += [path.read_text() for path in (ROOT / folder).rglob(f"*.{suffix}")]
    assert len(texts) > 50
    assert {colour for colour in colours for text in texts if colour in text} == set()


def test_no_module_lists_the_libraries() -> None:
    """A literal with three libraries in it would have to grow with the next one."""
    words = {*NAMES, *NAMES.values()}
    found = set()
    for path in (*(ROOT / "tools/src").rglob("*.py"), *(ROOT / "tools/automation").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                parts = [*ast.iter_child_nodes(node)]
                texts = {p.value for p in parts if isinstance(p, ast.Constant)}
                if len(texts & words) >= 3:
                    found.add(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == set()
