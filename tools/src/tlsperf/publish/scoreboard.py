"""The scoreboard: libraries by task, each a factor to OpenSSL on one host. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from tlsperf.contract.questions import (
    Scoreboard,
    ScoreboardSource,
    Sheet,
    SheetCell,
    SheetRow,
)
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.contract.text import listed
from tlsperf.publish.reports import reference
from tlsperf.publish.sheets import (
    NOTHING,
    Source,
    by_host,
    mark_of,
    newest,
    own_sources,
    ratio_parts,
)


class Task(NamedTuple):
    """A column of the scoreboard: its head and the row that it shows."""

    title: str
    row: Identifier


TASKS: Final = (
    Task("Sending", "transfer-1-3-aes-256-gcm-sending"),
    Task("Receiving", "transfer-1-3-aes-256-gcm-receiving"),
    Task("RSA server", "full-handshake-1-3-rsa-2048-x25519-server"),
    Task("ECDSA server", "full-handshake-1-3-ecdsa-p256-x25519-server"),
    Task("Client", "full-handshake-1-3-ecdsa-p256-x25519-client"),
    Task("Resumption", "resumed-handshake-1-3-ticket-x25519-server"),
    Task("Memory per idle connection", "memory-1-3-x25519-server-data-allocated"),
    Task("ClientHello", "client-hello-1-3-x25519-client"),
)
_CONNECTIONS: Final = 6
"""Number of the first tasks, without which a host has no scoreboard."""


def scoreboard(ordered: Sequence[Results]) -> Scoreboard | None:
    """The scoreboard of the host and baseline with the most libraries in the first tasks, the newest
    of several; None without one.
    """
    groups: dict[tuple[int, Identifier], list[Source]] = {}
    for number, sources in enumerate(by_host(own_sources(ordered))):
        for source in sources:
            if source.results.baseline:
                groups.setdefault((number, source.results.baseline), []).append(source)
    found = [(_columns(of, baseline), baseline) for (_, baseline), of in groups.items()]
    whole = [of for of in found if {*TASKS[:_CONNECTIONS]} <= of[0].keys()]
    if not whole:
        return None
    columns, baseline = max(whole, key=_covers)
    board = Source.of_rows({task.row: source for task, source in columns.items()})
    titles_of: dict[Identifier, tuple[Source, list[str]]] = {}
    for task, source in columns.items():
        titles_of.setdefault(source.results.id, (source, []))[1].append(task.title)
    parts = [
        ScoreboardSource(
            report=reference(source.results),
            run=listed([run.id for run in source.results.runs]),
            host_id=source.results.hosts[0].id,
            columns=listed(titles),
        )
        for source, titles in titles_of.values()
    ]
    return Scoreboard(
        baseline=board.label(baseline),
        host=board.host,
        host_id=board.results.hosts[0].id,
        board=Sheet(
            id="scoreboard",
            caption=f"Factors to {board.label(baseline)} on {board.place}, one thread, TLS 1.3 with "
            "X25519. Each links to its row; a column is of one run.",
            corner="Library",
            host=board.host,
            columns=[task.title for task in columns],
            rows=[
                SheetRow(
                    label=shown.label,
                    colour=shown.colour,
                    cells=[_cell(source, task.row, shown.id) for task, source in columns.items()],
                )
                for shown in board.shown.values()
            ],
        ),
        sources=parts,
        withdrawn=_withdrawn([source for source, _ in titles_of.values()]),
    )


def _columns(sources: Sequence[Source], baseline: Identifier) -> dict[Task, Source]:
    """The tasks that reports of one host compare with one baseline, each in its newest report."""
    found = {
        task: newest([of for of in sources if of.cell(task.row, baseline)], [task.row])
        for task in TASKS
    }
    return {task: source for task, source in found.items() if source}


def _covers(of: tuple[Mapping[Task, Source], Identifier]) -> tuple[int, date]:
    columns, _ = of
    first = [(columns[task], task.row) for task in TASKS[:_CONNECTIONS]]
    libraries = sum(len(source.libraries([row])) for source, row in first)
    return libraries, max(source.results.date for source, _ in first)


def _withdrawn(sources: Sequence[Source]) -> list[str]:
    """What the reports say of libraries whose figures they do not show."""
    warnings = (warning for source in sources for warning in source.results.warnings)
    return list(dict.fromkeys(it.message for it in warnings if it.code == "withdrawn"))


def _cell(source: Source, row: Identifier, implementation: Identifier) -> SheetCell:
    cell = source.cell(row, implementation)
    if cell is None:
        return NOTHING
    if cell.ratio is None:
        return SheetCell(text="baseline", href=source.link(row), mark=mark_of(cell))
    text, detail = ratio_parts(cell.ratio.text)
    return SheetCell(
        text=text, href=source.link(row), mark=mark_of(cell), detail=detail, quotes="ratio"
    )
