"""All facts about a library are derived from the library.toml in its folder."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest

from extension import examples
from tlsperf.contract import libraries, shipped
from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import COLOURS, LIBRARIES, NAMES, OTHER, Library, read_libraries
from tlsperf.contract.text import colour_of
from tlsperf.load.importer import implementation_of
from tlsperf.publish.maintainers import main as write_pages
from tlsperf.publish.maintainers import page as page_of

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"

EXAMPLE = examples("add-a-library.md")["bench/libraries/newtls/library.toml"]


# --- one more library: test_extension.py adds a whole one ---------------------------------------


def test_a_folder_replaces_a_name_of_imported_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "data" / "libraries.toml", tmp_path)
    for path in BENCH.glob("libraries/*/library.toml"):
        copy = tmp_path / path.relative_to(BENCH)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    monkeypatch.setattr(shipped, "SHIPPED", tmp_path)
    folder = tmp_path / "libraries" / "mbedtls"
    folder.mkdir()
    text = EXAMPLE.replace('"newtls"', '"mbedtls"').replace("NewTLS", "Mbed")
    (folder / "library.toml").write_text(text)
    grown = runpy.run_path(str(libraries.__file__), run_name="grown")
    assert NAMES["mbedtls"] != grown["NAMES"]["mbedtls"] == "Mbed"
    assert [*grown["COLOURS"]] == [*[*COLOURS][:-1], "mbedtls", OTHER]


def test_a_page_for_maintainers_says_what_is_measured_and_who_has_reviewed_it() -> None:
    library = Library.model_validate(tomllib.loads(EXAMPLE))
    assert library.default
    text = page_of(library)
    for told in (library.default.sentence, str(library.default.link), library.deviations[0].reason):
        assert told in text
    assert "make test-libraries LIBRARY=newtls\n" in text
    assert "reviewed this page yet" in text
    review = 'reviewed = { by = "A. Nyone", on = 2026-12-01, link = "https://newtls.example/1" }'
    signed = EXAMPLE.replace("[default]\n", f"[default]\n{review}\n")
    text = page_of(Library.model_validate(tomllib.loads(signed)))
    assert "A. Nyone" in text
    assert "1 December 2026" in text
    assert "reviewed this page yet" not in text


def test_pages_for_maintainers_that_differ_from_library_toml_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_pages(["--check"]) == 1
    assert capsys.readouterr().err.count("docs/maintainers/") == len(LIBRARIES)
    assert write_pages([]) == 0
    assert write_pages(["--check"]) == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "newtls"', 'id = "other"', "found id 'other', expected 'newtls'"),
        ("order = 8", 'order = "last"', "order 'last', expected a valid integer"),
        ('dark = "#dd0c49"', 'dark = "green"', "colour.dark 'green'"),
        ("order = 8", "order = 8\nflavour = 1", "flavour"),
    ],
)
def test_a_mistake_in_library_toml_is_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "newtls"
    folder.mkdir()
    (folder / "library.toml").write_text(EXAMPLE.replace(old, new))
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
    assert colour_of(implementation_of("mbedtls-3.6.4")) == OTHER


def test_every_library_with_an_adapter_has_its_sentences() -> None:
    pages = tomllib.loads((ROOT / "data" / "library-pages.toml").read_text("utf-8"))["libraries"]
    adapters = [(of.id, of.name, of.homepage) for of in LIBRARIES]
    assert [(of["id"], of["name"], of["homepage"]) for of in pages] == adapters
    assert {len(of["text"]) for of in pages} == {3}


def test_no_other_file_has_a_colour_of_a_library() -> None:
    colours = {page for colour in COLOURS.values() for page in (colour.light, colour.dark)}
    style = (ROOT / "static" / "style.css").read_text()
    texts = [re.sub(r"/\* from library.toml.*?/\* end", "", style, flags=re.S)]
    for folder, suffix in (("tools/src", "py"), ("static/compare", "js"), ("templates", "html")):
        texts += [path.read_text() for path in (ROOT / folder).rglob(f"*.{suffix}")]
    assert texts
    assert {colour for colour in colours for text in texts if colour in text} == set()


def test_no_module_lists_the_libraries() -> None:
    """A literal with three libraries would have to change with the next library.

    Two modules are exceptions: `load/spellings.py` lists libraries that another tool can be linked
    with, and `exchange/rustls_website.py` lists the dials of another site.
    """
    words = {*NAMES, *NAMES.values()}
    found = set()
    for path in (*(ROOT / "tools/src").rglob("*.py"), *(ROOT / "tools/automation").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                parts = [*ast.iter_child_nodes(node)]
                texts = {p.value for p in parts if isinstance(p, ast.Constant)}
                if len(texts & words) >= 3:
                    found.add(f"{path.relative_to(ROOT)}:{node.lineno}")
    others = ("load/spellings.py", "exchange/rustls_website.py")
    assert {place for place in found if not any(other in place for other in others)} == set()
