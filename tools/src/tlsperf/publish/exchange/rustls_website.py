"""A report as a page of rustls.dev, whose source is the folder `website` of rustls/rustls.

docs/export.md describes the front matter that its templates read. Figures have two decimals, as on
that site. The page has the order of the reports there: system configuration, versions,
measurements, results, and one picture of ratios each for transfers, full and resumed handshakes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results, ShownImplementation, Table
from tlsperf.contract.text import listed, markdown
from tlsperf.publish.exchange.publication import Publication
from tlsperf.report.charts.dots import picture_files
from tlsperf.report.picture import picture

LIBRARIES: Final = ("rustls", "openssl", "boringssl")
"""The libraries of the dials, in the order of the front matter."""

_DIALS: Final = {
    "transfer": {"recv": "receiver", "send": "sender"},
    "handshake": {"full": "none", "resume": "ticket"},
}
"""The dials of each section of the front matter, with their side or resumption."""

_GROUPS: Final = ("X25519MLKEM768", None)
"""The group of the handshakes on the dials; the page's title names it. Older reports of ours have
no hybrid group.
"""

_CHARTS: Final = {
    "transfer": ("transfer", "ratios of transfer speeds"),
    "full-handshakes": ("full-handshake", "ratios of full handshakes"),
    "resumed-handshakes": ("resumed-handshake", "ratios of resumed handshakes"),
}
"""By table: the end of the picture's file name, and its text alternative."""

_HEADINGS: Final = {"rustls": "Rustls"}

_MARGIN: Final = 16
"""White margin around a chart, in pixels."""


def rustls_website(publication: Publication) -> dict[str, str]:
    """The page and its three pictures, by their paths in the site. Raises UserError."""
    results = publication.results
    shown = _shown(results)
    tables = {table.anchor: table for table in results.tables if not table.by_phase}
    if missing := [anchor for anchor in _CHARTS if anchor not in tables]:
        raise UserError(
            f"export rustls-website: {results.id} has no table {listed(missing)}: expected a "
            "report of the main series"
        )
    if len(results.hosts) != 1:
        raise UserError(
            f"export rustls-website: {results.id} has {len(results.hosts)} hosts: expected one, "
            "which the page describes"
        )
    text = "\n".join([*_front_matter(results, shown), *_prose(results, shown, tables)]) + "\n"
    files = {f"content/perf/{results.date}-report.md": text}
    for anchor, (name, _) in _CHARTS.items():
        files[f"static/{results.date}-{name}.svg"] = on_white(_drawn(results, anchor))
    return files


def _drawn(results: Results, table: str) -> str:
    """The ratios of a table, as wide screens show them. Raises UserError if it has none."""
    dots = picture([results], [table], anchor=table)
    if dots is None:
        raise AssertionError("rows that were chosen have ratios, or picture raises")
    return picture_files(dots)[f"{table}.svg"]


def on_white(svg: str) -> str:
    """A chart on a white background with a margin, because the site's background is dark."""

    def opened(found: re.Match[str]) -> str:
        width, height = int(found[1]) + 2 * _MARGIN, int(found[2]) + 2 * _MARGIN
        box = f"{-_MARGIN} {-_MARGIN} {width} {height}"
        return f'width="{width}" height="{height}" viewBox="{box}"'

    size = r'width="([0-9]+)" height="([0-9]+)" viewBox="0 0 \1 \2"'
    drawn, found = re.subn(size, opened, svg, count=1)
    if not found:
        raise AssertionError("a chart without its size")
    ground = f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="100%" height="100%" fill="#ffffff"/>'
    return drawn.replace("</desc>", f"</desc>{ground}", 1)


def _shown(results: Results) -> dict[str, ShownImplementation]:
    """The only implementation of each library on the dials. Raises UserError."""
    found = {}
    for library in LIBRARIES:
        of_it = [i for i in results.implementations if i.library == library]
        if len(of_it) != 1:
            raise UserError(
                f"export rustls-website: {results.id} has {len(of_it)} implementations of "
                f"{NAMES[library]}: expected one each of rustls, OpenSSL and BoringSSL"
            )
        found[library] = of_it[0]
    return found


def _front_matter(results: Results, shown: dict[str, ShownImplementation]) -> Iterator[str]:
    versions = {library: f"{NAMES[library]} {i.version}" for library, i in shown.items()}
    host = results.hosts[0]
    machine = f"{host.architecture}, a virtual machine" if host.virtual else host.architecture
    yield "+++"
    title = f"Benchmarking {' vs '.join(versions.values())} on {machine}"
    yield f"title = {_toml(title)}"
    yield f"date = {results.date}"
    yield '\n[taxonomies]\ntags = ["performance"]'
    yield f"\n[extra]\nheadlines = {'false' if host.virtual else 'true'}"
    yield "\n[extra.version]"
    yield from (f"{library} = {_toml(text)}" for library, text in versions.items())
    for section, dials in _DIALS.items():
        yield f"\n[extra.{section}]"
        for number, (dial, kind) in enumerate(dials.items()):
            if number:
                yield ""
            for library in LIBRARIES:
                value = _dial(results, section, kind, shown[library])
                yield f"{dial}.{library} = {round(value, 2)!r}"
    yield "+++\n"


def _dial(
    results: Results, operation: str, kind: str, implementation: ShownImplementation
) -> float:
    """The figure of a dial, of TLS 1.3: AES-256-GCM, or a server with an RSA key."""

    def belongs(s: Scenario, group: str | None) -> bool:
        if s.operation != operation or s.protocol != "1.3" or (s.threads or 1) != 1 or s.variant:
            return False
        if operation == "transfer":
            return s.side == kind and s.cipher_suite == "TLS_AES_256_GCM_SHA384"
        resumed = kind == "ticket" and s.resumption in ("ticket", "resumed")
        full = kind == s.resumption == "none" and s.certificate == "rsa-2048"
        return (
            (full or resumed)
            and s.side == "server"
            and s.key_exchange == group
            and s.authentication != "mutual"
        )

    groups = _GROUPS if operation == "handshake" else (None,)
    for group in groups:
        found = [
            cell.value
            for table in results.tables
            if table.anchor in _CHARTS and not table.by_phase
            for row in table.rows
            if METRICS[row.metric].primary and row.phase == "total" and belongs(row.scenario, group)
            for cell in row.cells
            if cell.implementation == implementation.id and cell.valid and cell.value is not None
        ]
        if len(found) == 1:
            return found[0]
    what = {
        "receiver": "TLS 1.3 transfer, AES-256-GCM, receiving",
        "sender": "TLS 1.3 transfer, AES-256-GCM, sending",
        "none": "TLS 1.3 full handshake, RSA-2048, X25519MLKEM768, server",
        "ticket": "TLS 1.3 resumed handshake, X25519MLKEM768, server",
    }[kind]
    raise UserError(
        f"export rustls-website: {results.id} has no single figure of {implementation.label} in "
        f"{what}, which a dial shows"
    )


def _prose(
    results: Results, shown: dict[str, ShownImplementation], tables: dict[str, Table]
) -> Iterator[str]:
    yield "### System configuration\n"
    yield from _system(results)
    yield "\n### Versions\n"
    for run in results.runs:
        tool = " ".join(part for part in (run.tool.name, run.tool.version) if part)
        yield f"The benchmarking tool was {_linked(tool, run.tool.url)}."
    for library in sorted(LIBRARIES, key=lambda name: NAMES[name].lower()):
        yield f"\n#### {_HEADINGS.get(library, NAMES[library])}\n"
        yield from _version(shown[library])
    yield "\n### Measurements\n"
    if commands := [command for run in results.runs for command in run.tool.commands]:
        if all(map(_is_code, commands)):
            yield from ("```shell", *(f"$ {command}" for command in commands), "```")
        else:
            yield from (f"- {markdown(command)}" for command in commands)
        yield ""
    caveats = [w.message for run in results.runs for w in (*results.warnings, *run.warnings)]
    if caveats:
        yield "What to know about these measurements:\n"
        yield from (f"- {markdown(text)}" for text in dict.fromkeys(caveats))
        yield ""
    yield "## Results\n"
    yield "Transfer measurements are in mebibytes per second."
    yield "Handshake units are handshakes per second."
    for anchor in _CHARTS:
        yield ""
        yield from _table(tables[anchor], shown)
    for name, text in _CHARTS.values():
        yield f"\n![{text}](/{results.date}-{name}.svg)"


def _system(results: Results) -> Iterator[str]:
    host = results.hosts[0]
    kind = {True: "a virtual machine", False: "a bare-metal server", None: "a machine"}
    yield f"We ran the benchmarks on {kind[host.virtual]} with the following characteristics:\n"
    if host.os:
        yield f"- OS: {markdown(host.os)}."
    compilers = [text for name, text in host.compilers.items() if name in ("gcc", "clang", "cc")]
    if compilers:
        yield f"- C/C++ toolchains: {markdown(listed(compilers))}."
    if rust := host.compilers.get("rustc"):
        yield f"- Rust toolchain: {markdown(rust.removeprefix('rustc '))}."
    yield f"- CPU: {_linked(host.cpu, host.url)}."
    if host.memory_bytes:
        yield f"- Memory: {host.memory_bytes / (1 << 30):.0f} GiB."
    extra = [
        *({True: ["SMT enabled"], False: ["SMT disabled"], None: []}[host.smt]),
        *([f"cpu scaling governor {host.governor}"] if host.governor else []),
        *({True: ["turbo enabled"], False: ["turbo disabled"], None: []}[host.turbo]),
    ]
    if extra:
        yield f"- Extra configuration: {markdown(listed(extra))}."


def _version(implementation: ShownImplementation) -> Iterator[str]:
    name = NAMES[implementation.library]
    linked = _linked(implementation.version, implementation.source)
    yield f"The tested version of {name} is {linked}."
    if implementation.provider:
        provider = f"{implementation.provider} {implementation.provider_version or ''}".strip()
        yield f"This was used with {markdown(provider)}."
    if implementation.flags:
        flags = implementation.flags
        yield f"It was built with {f'`{flags}`' if _is_code(flags) else markdown(flags)}."
    if implementation.allocator:
        yield f"Its allocator is {markdown(implementation.allocator)}."


def _table(table: Table, shown: dict[str, ShownImplementation]) -> Iterator[str]:
    """A table with a column for each library, in the site's order."""
    order = [shown[library] for library in sorted(LIBRARIES)]
    heads = [markdown(f"{NAMES[i.library]} {i.version}") for i in order]
    yield f"| {markdown(table.unit)} | {' | '.join(heads)} |"
    yield f"| -- |{' -- |' * len(order)}"
    for row in table.rows:
        if row.phase != "total" or not METRICS[row.metric].primary:
            continue
        cells = {cell.implementation: cell for cell in row.cells}
        texts = []
        for implementation in order:
            cell = cells.get(implementation.id)
            counts = cell is not None and cell.value is not None and cell.valid
            between = f" ({cell.interval})" if cell and counts and cell.interval else ""
            texts.append(markdown(f"{cell.text}{between}") if cell and counts else "")
        yield f"| {markdown(row.name)} | {' | '.join(texts)} |"


def _linked(text: str, url: str | None) -> str:
    """The text, as a link if `url` is an address and not the name of a package."""
    is_address = url is not None and re.fullmatch(r"https?://[^\s\"'<>\\^`{|}()]+", url)
    return f"[{markdown(text)}]({url})" if is_address else markdown(text)


def _is_code(text: str) -> bool:
    """Whether the text can be code in Markdown: Zola searches for shortcodes in code too."""
    return "{" not in text and "`" not in text and "\n" not in text


def _toml(text: str) -> str:
    """A basic string of TOML, which has the same escapes as JSON."""
    return json.dumps(text, ensure_ascii=False)
