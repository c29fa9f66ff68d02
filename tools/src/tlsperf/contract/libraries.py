"""The TLS libraries: their ids, names, order and colours, for every page, chart and schema.

`bench/libraries/<id>/library.toml` describes a library that has an adapter. `data/libraries.toml`
describes libraries that occur only in imported data. Labels and colours are defined nowhere else.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from tlsperf.contract.errors import UserError, mismatch
from tlsperf.contract.record import Identifier, Model, Url
from tlsperf.contract.shipped import SHIPPED
from tlsperf.contract.toml_text import read_toml

OTHER: Final = "other"
"""The colour class of every library without an adapter."""

_Hex = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]


class Colour(Model):
    """A colour for light pages and one for dark pages."""

    light: _Hex
    dark: _Hex


class LibraryColour(Colour):
    """A library's colour, and the colours of its providers that have their own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Colour]

    @property
    def of_providers(self) -> dict[str, Colour]:
        return self.__pydantic_extra__


class Need(Model):
    """A system package that a build needs, and how to check that it is installed."""

    debian: str
    command: str | None = None
    pkg_config: str | None = Field(None, alias="pkg-config")
    version: str | None = Field(None, description="the first that is new enough")


class Releases(Model):
    """A Cargo package of a library; ids name it if its versions are not the library's."""

    package: str
    own_numbers: bool = Field(False, description="its version is not the library's")
    builds: dict[str, str] = Field(
        {}, description="the library's tag or commit, by version of the package"
    )


class Reviewed(Model):
    """Who of the library's maintainers has reviewed what is measured of it."""

    by: str
    on: datetime.date
    link: Url


class Default(Model):
    """What a server gets today by the library's own instructions, and where they say so.

    `configure`, `flags` and `compiler` are what its program must report: all words of the first
    two, and code of the third.
    """

    sentence: str
    link: Url
    configure: str | None = None
    flags: str | None = None
    compiler: Literal["clang", "gcc"] | None = Field(None, description="absent: the host's cc")
    large_connection: str | None = Field(
        None, description="why a server's connection has 100 KB or more; absent: it has less"
    )
    reviewed: Reviewed | None = Field(None, description="absent: no maintainer has")


class Deviation(Model):
    """What is measured otherwise than by default, and why."""

    what: str
    reason: str
    link: Url | None = None
    build: bool = Field(False, description="about how it is built: other builds do not have it")


class Main(Model):
    """The branch that is counted every night (`scripts/count-main`)."""

    repository: Url
    branch: str
    install: str | None = Field(
        None, description="shell command that fills the folder prefix of the checkout"
    )


class Library(Model):
    """The content of `bench/libraries/<id>/library.toml`."""

    id: Identifier
    name: str
    homepage: str
    order: int
    workspace: Literal["own", "shared"]
    programs: list[str] = Field(min_length=1)
    packages: list[str]
    providers: list[str] = Field([])
    words: list[str] = Field([], description="other names of it in files of tools, in lower case")
    cryptography: list[str] = Field(
        [], description="how the names of functions of cryptography begin (docs/compare.md)"
    )
    default: Default | None = None
    deviations: list[Deviation] = Field([])
    needs: list[Need] = Field([])
    releases: Releases | None = None
    main: Main | None = None
    colour: LibraryColour


class Unmeasured(Model):
    """The content of `data/libraries.toml`: libraries without an adapter."""

    colour: Colour
    names: dict[Identifier, str]
    words: dict[Identifier, list[str]] = Field({})


_M = TypeVar("_M", bound=Model)


def _read(path: Path, model: type[_M]) -> _M:
    try:
        return model.model_validate(read_toml(path))
    except ValidationError as error:
        raise mismatch(error, str(path), model=model) from None


def read_libraries(folder: Path) -> list[Library]:
    """The libraries with an adapter in `folder`, in the order in which pages show them.

    Raises UserError, also if the id in a file is not the name of its folder.
    """
    found = []
    for path in folder.glob("*/library.toml"):
        library = _read(path, Library)
        if library.id != path.parent.name:
            raise UserError(f"{path}: found id {library.id!r}, expected {path.parent.name!r}")
        found.append(library)
    return sorted(found, key=lambda library: (library.order, library.id))


LIBRARIES: Final = read_libraries(SHIPPED / "libraries")
_UNMEASURED: Final = _read(SHIPPED / "libraries.toml", Unmeasured)

NAMES: Final[Mapping[str, str]] = {library.id: library.name for library in LIBRARIES} | {
    id: name
    for id, name in _UNMEASURED.names.items()
    if id not in {library.id for library in LIBRARIES}
}
"""Each library's name by its id, in the order in which pages show them."""

PROVIDERS: Final = tuple(name for library in LIBRARIES for name in library.providers)


WORDS: Final[Mapping[str, str]] = {
    word: id
    for id, words in {
        **{id: [id] for id in NAMES if len(id) > 2},  # `go` is a word of English
        **{name: [name] for name in PROVIDERS},
        **_UNMEASURED.words,
        **{library.id: [library.id, *library.words] for library in LIBRARIES},
    }.items()
    for word in words
}
"""The words for a library, or a provider, in names of benchmarks and programs, and its id."""


def _colours() -> dict[str, Colour]:
    colours: dict[str, Colour] = {}
    for library in LIBRARIES:
        colours[library.id] = library.colour
        for provider, colour in library.colour.of_providers.items():
            colours[f"{library.id}-{provider}"] = colour
    return {**colours, OTHER: _UNMEASURED.colour}


COLOURS: Final[Mapping[str, Colour]] = _colours()
"""Colours by colour class: a library's id, or `<library>-<provider>` if the provider has its own.
"""

LIGHT: Final[Mapping[str, str]] = {name: colour.light for name, colour in COLOURS.items()}
"""The colours of charts and pictures, by colour class."""
