"""A report as a page of rustls.dev, whose source is the folder `website` of rustls/rustls.

docs/export.md describes the front matter that its templates read. The page has the order of the reports
there. An address is recorded, or follows from a version that is recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import LIBRARIES as MEASURED
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Results, ShownImplementation, Table
from tlsperf.contract.text import counted, listed, markdown, markdown_table
from tlsperf.load.config import read_site
from tlsperf.publish.exchange.publication import Publication
from tlsperf.publish.exchange.series import version_of
from tlsperf.report.charts.dots import picture_files
from tlsperf.report.picture import picture

LIBRARIES: Final = ("rustls", "openssl", "boringssl")
"""The libraries of the dials, in the order of the front matter."""

_Fields = Mapping[str, tuple[object, ...]]
"""Fields of a scenario, with the values that each may have."""

_ALL: Final = {"protocol": ("1.3",), "threads": (1, None), "variant": (None,)}
_TRANSFER: Final = _ALL | {"operation": ("transfer",), "cipher_suite": ("TLS_AES_256_GCM_SHA384",)}
_SERVER: Final = _ALL | {
    "operation": ("handshake",),
    "side": ("server",),
    "authentication": ("server", None),
}
_DIALS: Final[Mapping[str, Mapping[str, _Fields]]] = {
    "transfer": {
        "recv": _TRANSFER | {"side": ("receiver",)},
        "send": _TRANSFER | {"side": ("sender",)},
    },
    "handshake": {
        "full": _SERVER | {"resumption": ("none",), "certificate": ("rsa-2048",)},
        "resume": _SERVER | {"resumption": ("ticket", "resumed")},
    },
}
"""The dials of each section of the front matter, and the row that each shows."""

_GROUPS: Final = ("X25519MLKEM768", None)
"""Of the handshakes on the dials. A transfer has none, nor have reports from before hybrid groups."""

_CHARTS: Final = ("transfer", "full-handshakes", "resumed-handshakes")
"""The tables of the page, each with a picture."""

_GITHUB: Final = "https://github.com"
_RELEASES: Final = {
    "rustls": (r"[0-9]+\.[0-9]+\.[0-9]+", f"{_GITHUB}/rustls/rustls/releases/tag/v%2F"),
    "openssl": (r"[3-9]\.[0-9]+\.[0-9]+", f"{_GITHUB}/openssl/openssl/releases/tag/openssl-"),
    "boringssl": (r"[0-9a-f]{7,40}|0\.[0-9]{8}\.[0-9]+", f"{_GITHUB}/google/boringssl/tree/"),
}
"""What a version that is a release, tag or commit of the library looks like, and its address."""

_PACKAGES: Final = {package for library in MEASURED for package in library.packages}
_ABOUT: Final = "export rustls-website: "


def rustls_website(publication: Publication) -> dict[str, str]:
    """The page and its three pictures, by their paths in the site. Raises UserError."""
    results = publication.results
    shown = _shown(results)
    tables = {table.anchor: table for table in results.tables if not table.by_phase}
    if missing := [anchor for anchor in _CHARTS if anchor not in tables]:
        raise UserError(
            f"{_ABOUT}{results.id} has no table {listed(missing)}: expected a report of the main "
            "series"
        )
    if len(results.hosts) != 1:
        raise UserError(f"{_ABOUT}{results.id} has {len(results.hosts)} hosts: expected one")
    lines = [*_front_matter(publication, shown), *_prose(publication, shown, tables)]
    files = {f"content/perf/{_name_of(results)}.md": "\n".join(lines) + "\n"}
    for anchor in _CHARTS:
        if dots := picture([results], [anchor], anchor=anchor):
            svg = picture_files(dots)[f"{anchor}.svg"]
            files[f"static/{_name_of(results)}-{anchor}.svg"] = _on_white(svg)
    return files


def headlines(publication: Publication, site: Path) -> Iterator[str]:
    """How the site shows the dials of one page; it shows those of all with `headlines = true`."""
    own = f"{_name_of(publication.results)}.md"
    names = {path.name for path in site.iterdir()}
    if "config.toml" not in names and names > {"content", "static"}:
        yield f"{site}: found no config.toml, expected the folder website of rustls/rustls"
    when = f"if {own} is the newest page"
    if publication.results.hosts[0].virtual:
        when = f"{own}: headlines = false, because its host is virtual; if you set it to true"
    yield (
        f"{when}, run in the website: find content/perf -name '*.md' ! -name {own} "
        "-exec perl -pi -e 's/^headlines = true/headlines = false/' {} +"
    )


def _date(results: Results) -> str:
    """When it was measured. The report itself keeps its date when runs are added."""
    return max(run.date for run in results.runs).isoformat()


def _name_of(results: Results) -> str:
    """The name of the page: that of the report, because a day may have several."""
    return f"{_date(results)}-{re.sub('^[0-9]{4}-[0-9]{2}-[0-9]{2}-', '', results.id)}"


def _on_white(svg: str) -> str:
    """A chart with a white margin, because the site's background is dark."""

    def opened(found: re.Match[str]) -> str:
        width, height = (int(size) + 32 for size in found.groups())
        box = f'viewBox="-16 -16 {width} {height}"'
        return f'style="background:#fff" width="{width}" height="{height}" {box}'

    return re.sub(r'width="([0-9]+)" height="([0-9]+)" viewBox="0 0 \1 \2"', opened, svg, count=1)


def _shown(results: Results) -> dict[str, ShownImplementation]:
    """The only implementation of each library on the dials. Raises UserError."""
    found = {}
    for library in LIBRARIES:
        of_it = [i for i in results.implementations if i.library == library]
        if len(of_it) != 1:
            raise UserError(
                f"{_ABOUT}{results.id} has {len(of_it)} implementations of {NAMES[library]}: "
                "expected one each of rustls, OpenSSL and BoringSSL"
            )
        found[library] = of_it[0]
    return found


def _front_matter(publication: Publication, shown: dict[str, ShownImplementation]) -> Iterator[str]:
    host = publication.results.hosts[0]
    names = {library: _name(i) for library, i in shown.items()}
    machine = "ARM64" if host.architecture == "aarch64" else host.architecture
    title = f"Benchmarking {names['rustls']} vs {names['openssl']} vs BoringSSL on {machine}"
    yield "+++"
    title += " (virtual machine)" if host.virtual else ""
    # A text of TOML has the escapes of JSON.
    yield f"title = {json.dumps(title, ensure_ascii=False)}"
    yield f"date = {_date(publication.results)}"
    yield '\n[taxonomies]\ntags = ["performance"]'
    yield f"\n[extra]\nheadlines = {'false' if host.virtual else 'true'}"
    yield "\n[extra.version]"
    yield from (
        f"{library} = {json.dumps(text, ensure_ascii=False)}" for library, text in names.items()
    )
    for section, dials in _DIALS.items():
        yield f"\n[extra.{section}]"
        for dial, fields in dials.items():
            for library, implementation in shown.items():
                value = _dial(publication, f"{section}.{dial}", fields, implementation)
                yield f"{dial}.{library} = {round(value, 2)!r}"
    yield "+++\n"


def _dial(
    publication: Publication, key: str, fields: _Fields, implementation: ShownImplementation
) -> float:
    for group in _GROUPS:
        wanted = {**fields, "key_exchange": (group,)}
        found = [
            figure.value
            for figure in publication.figures
            if figure.table.anchor in _CHARTS
            and figure.row.phase == "total"
            and METRICS[figure.row.metric].primary
            and figure.cell.implementation == implementation.id
            and all(getattr(figure.row.scenario, of) in allowed for of, allowed in wanted.items())
        ]
        if len(found) == 1:
            return found[0]
    raise UserError(
        f"{_ABOUT}{publication.results.id} has no single figure of {implementation.label} for the "
        f"dial {key}: docs/export.md names its row"
    )


def _prose(
    publication: Publication, shown: dict[str, ShownImplementation], tables: dict[str, Table]
) -> Iterator[str]:
    results = publication.results
    by_name = sorted(shown.values(), key=lambda i: NAMES[i.library].lower())
    yield "### System configuration\n"
    yield from _system(results, by_name)
    yield "\n### Versions\n"
    for run in results.runs:
        tool, *others = run.tool.name.split(", ")
        ours = read_site(publication.root).extra.repository if tool == "tlsbench" else None
        version = run.tool.version or (run.tool.commit or "")[:10]
        tools = [_linked(f"{tool} {version}".strip(), run.tool.url or ours), *map(markdown, others)]
        yield f"The benchmarking {'tools were' if others else 'tool was'} {listed(tools)}."
    for implementation in by_name:
        name = NAMES[implementation.library]
        yield f"\n#### {name[0].upper()}{name[1:]}\n"
        yield from _version(implementation)
    yield "\n### Measurements\n"
    yield from _measurements(publication)
    yield "## Results\n"
    if any(figure.cell.interval for figure in publication.figures):
        yield "The interval after a figure predicts the figure of another run."
    if all(row.scenario.threads in (1, None) for of in _CHARTS for row in tables[of].rows):
        yield "Each figure is of one thread."
    for anchor in _CHARTS:
        title = markdown(tables[anchor].title)
        yield f"\n### {title}\n"
        yield _table(tables[anchor], by_name)
        yield f"![{title}, compared](/{_name_of(results)}-{anchor}.svg)"


def _system(results: Results, shown: list[ShownImplementation]) -> Iterator[str]:
    host = results.hosts[0]
    kind = {True: "a virtual machine", False: "a bare-metal server", None: "a machine"}
    yield f"We ran the benchmarks on {kind[host.virtual]} with the following characteristics:\n"
    if host.os:
        yield f"- OS: {markdown(host.os)}."
    compilers = [i.c_compiler for i in shown if i.c_compiler]
    compilers = compilers or [of for name, of in host.compilers.items() if name in ("gcc", "clang")]
    if compilers:
        names = {_compiler(part) for text in compilers for part in text.split(";")}
        yield f"- C/C++ toolchains: {markdown(listed(sorted(names, reverse=True)))}."
    rust = next((i.rust_compiler for i in shown if i.rust_compiler), host.compilers.get("rustc"))
    if found := re.search(r"[0-9]+\.[0-9.]+\S*", rust or ""):
        yield f"- Rust toolchain: {markdown(found[0])}."
    model = f", {markdown(host.cpu_model)}" if host.cpu_model else ""
    yield f"- CPU: {_linked(host.cpu, host.url)}{model}."
    if host.memory_bytes:
        yield f"- Memory: {host.memory_bytes / (1 << 30):.0f} GiB."
    users: dict[str, list[str]] = {}
    for i in shown:
        users.setdefault(i.allocator or "", []).append(NAMES[i.library])
    if allocators := [f"{name} in {listed(of)}" for name, of in users.items() if name]:
        yield f"- Allocators: {markdown(listed(allocators))}."
    switches = {"SMT": host.smt, "turbo": host.turbo}
    extra = [f"{of} {'en' if on else 'dis'}abled" for of, on in switches.items() if on is not None]
    if host.governor:
        extra.append(f"CPU scaling governor set to {host.governor}")
    if extra:
        yield f"- Extra configuration: {markdown(listed(extra))}."


def _compiler(text: str) -> str:
    """A compiler as people name it: GCC 12.2.0 for "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"."""
    known = (name for name in ("GCC", "Clang") if name.lower() in text.lower())
    return next((f"{name} {text.split()[-1]}" for name in known), text)


def _version(i: ShownImplementation) -> Iterator[str]:
    version, source = version_of(i), i.source or "not recorded"
    crate = _crate(source.removeprefix("cargo package "))
    pattern, address = _RELEASES[i.library]
    is_release = re.fullmatch(pattern, version) and (crate or i.source is None)
    url = address + version if is_release else source
    commit = f", commit {markdown(i.commit)}" if i.commit and version not in i.commit else ""
    linked = _linked(version, url)
    yield f"The tested version of {NAMES[i.library]} is {linked}{commit}."
    built = [f"from the crate {crate}"] if crate else []
    if i.flags:
        built.append(f"with {_code(i.flags)}")
    if built:
        yield f"It was built {' '.join(built)}."
    if linked == markdown(version):
        yield "Its commit is not recorded." if crate else f"Source: {markdown(source)}."
    noted = _crate(i.note or "")
    if i.provider:
        provider = f"{i.provider} {i.provider_version or ''}".strip()
        used = [_crate(provider) or markdown(provider), *([noted] if noted else [])]
        yield f"This was used with {' / '.join(used)}."
    if i.note and not noted:
        yield f"Note: {markdown(i.note.removesuffix('.'))}."


def _name(implementation: ShownImplementation) -> str:
    return f"{NAMES[implementation.library]} {version_of(implementation)}"


def _crate(text: str) -> str | None:
    """A link to a crate, from its name and version, if it is one of the libraries here."""
    name, _, version = text.partition(" ")
    if name not in _PACKAGES or not re.fullmatch(r"[0-9][\w.+-]*", version):
        return None
    return _linked(text, f"https://docs.rs/crate/{name}/{version}")


def _measurements(publication: Publication) -> Iterator[str]:
    results, address = publication.results, read_site(publication.root).address
    report = f"{address}/perf/{results.of}/"
    for run in results.runs:
        if run.rounds:
            took = f" The run took {run.took}." if run.took else ""
            yield f"Each figure is the median of {counted(run.rounds, 'round')}.{took}\n"
        if commands := run.tool.commands:
            again = f" ([how to repeat it]({report}#reproduce))" if address else ""
            yield f"The libraries were tested with{'' if run.source else again}:\n"
            yield from (f"- {_code(command)}" for command in commands)
            yield ""
        if run.source:
            source = _linked(run.source.title, run.source.url)
            yield f"The figures were first published as {source}.\n"
        if address:
            paths = ["run.toml", *(file.stored or file.path for file in run.files)]
            data = f"{address}/data/runs/{run.id}/"
            raw = [_linked(path.removeprefix("raw/"), data + path) for path in paths]
            yield f"Raw data: {', '.join(raw)}.\n"
    if address:
        yield f"Full report: {_linked(results.title, report)}.\n"
    caveats = [w.message for run in results.runs for w in (*results.warnings, *run.warnings)]
    if caveats:
        yield "What to know about these measurements:\n"
        yield from (f"- {markdown(text)}" for text in dict.fromkeys(caveats))
        yield ""


def _table(table: Table, shown: list[ShownImplementation]) -> str:
    """A table with a column for each library, in the site's order."""
    rows = []
    for row in table.rows:
        if row.phase == "total" and METRICS[row.metric].primary:
            texts = {
                cell.implementation: cell.text + (f" ({cell.interval})" if cell.interval else "")
                for cell in row.cells
                if cell.valid and cell.value is not None
            }
            rows.append([row.name, *(texts.get(i.id, "") for i in shown)])
    names = [_name(i) for i in shown]
    return markdown_table([table.unit, *names], rows, right=names)


def _linked(text: str, url: str | None) -> str:
    """The text, as a link if `url` is an address and not the name of a package."""
    is_address = url is not None and re.fullmatch(r"https?://[^\s\"'<>\\^`{|}()]+", url)
    return f"[{markdown(text)}]({url})" if is_address else markdown(text)


def _code(text: str) -> str:
    """Code, unless Zola searches it for shortcodes or it has no end."""
    return markdown(text) if re.search(r"[{`\n]", text) else f"`{text}`"
