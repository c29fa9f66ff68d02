"""What the tools read of `config.toml`, the configuration of Zola."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from tlsperf.contract.errors import FormatError, alternatives, mismatch
from tlsperf.contract.record import Url
from tlsperf.contract.shipped import THEME
from tlsperf.contract.toml_text import read_toml

FILE: Final = "config.toml"
_STYLE: Final = Path("static", "style.css")
_PATH: Final = re.compile(r"https?://[^\s\"'<>]+|[\w.-]+(/[\w.-]+)*")
_OF_NOBODY: Final = re.compile(
    r"(?!https?://)|https?://(localhost|127\.0\.0\.1|([\w-]+\.)*example(\.(com|net|org))?)(?![\w.-])"
)
"""RFC 2606 keeps some names for examples."""
_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]+|(rgb|hsl)a?\([0-9a-z.,%/ -]+\)")


def _path(text: str) -> str:
    if not _PATH.fullmatch(text):
        raise ValueError(
            "a page of the site, such as perf, or an address that begins with https://"
        )
    return text


def _colour(text: str) -> str:
    if not _COLOUR.fullmatch(text):
        raise ValueError("a colour such as #7a2e1d, maroon or rgb(122, 46, 29)")
    return text


_Colours = Mapping[str, Annotated[str, AfterValidator(_colour)]]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True)


class Licence(_Table):
    name: str
    path: Url


class _Maker(_Table):
    """Who makes the site, and for whom they work."""

    name: str
    affiliation: str


class _Entry(_Table):
    name: str
    path: Annotated[str, AfterValidator(_path)]


class _ByScheme(_Table):
    light: _Colours
    dark: _Colours


class _Extra(_Table):
    """What the templates read."""

    repository: Url | Literal[""] = ""
    installed: bool = False
    menu: list[_Entry] = []
    footer: list[_Entry] = []
    licences: list[Licence] = []
    makers: list[_Maker] = []
    colours: _ByScheme | None = None


class Site(_Table):
    """The texts of a site that previews and downloads show; Zola knows the rest."""

    title: str
    description: str
    base_url: str = ""
    extra: _Extra = _Extra()

    @property
    def address(self) -> str | None:
        """Its address without a slash at the end; None: only this host or nobody has it."""
        return None if _OF_NOBODY.match(self.base_url) else self.base_url.rstrip("/")

    @property
    def licences(self) -> list[Licence]:
        """A reader may choose any."""
        return self.extra.licences


def read_site(root: Path) -> Site:
    """Title, description and licences of the site. Raises FormatError."""
    path = root / FILE
    try:
        site = Site.model_validate(read_toml(path))
    except ValidationError as error:
        raise mismatch(error, str(path), model=Site) from None
    if colours := site.extra.colours:
        # A style sheet of the site replaces that of its theme.
        style = next((of for of in (root / _STYLE, root / THEME / _STYLE) if of.exists()), None)
        text = style.read_text(encoding="utf-8") if style else ""
        known = re.findall(r"^\s*--([\w-]+):", text, re.MULTILINE)
        for name in (*colours.light, *colours.dark):
            if name not in known:
                expected = alternatives(name, known, str(_STYLE))
                raise FormatError(str(path), None, f"the colour {name!r}", expected)
    return site
